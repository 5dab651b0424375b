public import Holdfast

/// An error of this module, which could not do what a test requested.
public struct TestKitError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<TestKitError>

    /// The error code.
    public let code: Code
    /// The expected value, the found value, and the remedy.
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
    /// A required program is missing on this machine.
    public static var programMissing: Self { Self() }
    /// A program failed.
    public static var programFailed: Self { Self() }
    /// The awaited event did not happen in time.
    public static var timedOut: Self { Self() }
}
