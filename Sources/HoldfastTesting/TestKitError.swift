public import Holdfast

/// Why the test kit could not make what was asked for.
public struct TestKitError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable {
        /// No key of the kind asked for can be made.
        case keyGenerationFailed
        /// The key cannot make a signature of the kind asked for.
        case signatureDoesNotFitKey
        /// The signature failed inside the cryptographic library.
        case signingFailed
        /// A certificate or key was refused by the TLS library.
        case credentialsRefused
        /// A server did not start or did not stop.
        case serverFailed
        /// A program that the kit needs is not on this machine.
        case programMissing
        /// A program that the kit ran failed.
        case programFailed
        /// What was waited for did not happen in time.
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
