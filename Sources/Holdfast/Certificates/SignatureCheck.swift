/// The result of verifying a signature.
///
/// A signature that cannot be verified proves neither that the content is authentic nor that it was altered. Callers
/// refuse both cases, but with different messages, because the remedies differ.
package enum SignatureCheck: Sendable, Equatable {
    /// The signature verifies.
    case valid
    /// The signature does not verify: the content was altered, or another key signed it.
    case invalid
    /// The signature was not verified, because its algorithm, digest or kind of key is not supported.
    case unsupported(String)
}
