/// The result of verifying a signature.
///
/// A signature that cannot be verified proves nothing: not that the content is authentic, and not that it was altered.
/// Callers refuse both, but with different messages, because the remedies differ.
package enum SignatureCheck: Sendable, Equatable {
    /// It verifies.
    case valid
    /// It does not verify: the content was altered, or the signer is another one.
    case invalid
    /// It was not verified, because this signature algorithm, digest or kind of key is not supported.
    case unsupported(String)
}
