public import Holdfast

/// Why this module could not do what a test asked for.
public struct TestKitError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable {
        /// A key of the requested kind cannot be made.
        case keyGenerationFailed
        /// The key cannot make a signature of the requested kind.
        case signatureDoesNotFitKey
        /// The signature failed inside the cryptographic library.
        case signingFailed
        /// The TLS library refused a certificate or a key.
        case credentialsRefused
        /// A server did not start or did not stop.
        case serverFailed
        /// A program that is needed is not on this machine.
        case programMissing
        /// A program failed.
        case programFailed
        /// What a test waited for did not happen in time.
        case timedOut
    }

    /// What went wrong.
    public let code: Code
    /// What would have been right, what was there instead, and what to do.
    public let facts: ErrorFacts

    package init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}
