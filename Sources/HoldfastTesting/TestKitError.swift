public import Holdfast

/// Why this module could not do what a test asked for.
public struct TestKitError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<TestKitError>

    /// What went wrong.
    public let code: Code
    /// What would have been right, what was there instead, and what to do.
    public let facts: ErrorFacts

    package init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}

extension TestKitError.Code {
    /// A key of the requested kind cannot be made.
    public static var keyGenerationFailed: Self { Self() }
    /// The key cannot make a signature of the requested kind.
    public static var signatureDoesNotFitKey: Self { Self() }
    /// The signature failed inside the cryptographic library.
    public static var signingFailed: Self { Self() }
    /// The TLS library refused a certificate or a key.
    public static var credentialsRefused: Self { Self() }
    /// A server did not start or did not stop.
    public static var serverFailed: Self { Self() }
    /// A program that is needed is not on this machine.
    public static var programMissing: Self { Self() }
    /// A program failed.
    public static var programFailed: Self { Self() }
    /// What a test waited for did not happen in time.
    public static var timedOut: Self { Self() }
}
