/// The reason why a policy cannot be made.
///
/// Thrown by initializers. The published `create` cannot throw, so it makes a policy that rejects everything with
/// `invalidConfiguration` and the same text.
public struct PolicyConfigurationError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<PolicyConfigurationError>

    /// The reason.
    public let code: Code
    /// The name of the policy: its host or pattern.
    public let hostName: String
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts

    package init(_ code: Code, hostName: String, expected: String, found: String, remedy: String) {
        self.code = code
        self.hostName = hostName
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}

extension PolicyConfigurationError.Code {
    /// The name is neither a host nor a pattern of hosts.
    public static var invalidHostName: Self { Self() }
    /// Custom validation without a closure that validates.
    public static var missingCustomValidation: Self { Self() }
    /// Online pinning without its server, its certificate or its customer; ``PolicyConfigurationError/expected`` names
    /// the missing parameter.
    public static var missingParameter: Self { Self() }
    /// Online pinning with a certificate that cannot sign, or settings that make no sense.
    public static var invalidParameter: Self { Self() }
    /// Pinning without anything to pin: an empty bundle or folder, or an empty list.
    public static var noPins: Self { Self() }
    /// A file of certificates to pin cannot be read; ``PolicyConfigurationError/found`` names it.
    public static var unreadableCertificates: Self { Self() }
    /// A whole certificate to pin that servers present in several forms: a Merkle Tree Certificate.
    public static var unstableCertificate: Self { Self() }
    /// The host is not checked and every pin is an issuer's: anyone with a certificate of that issuer would pass as
    /// the host.
    public static var issuerPinWithoutHostCheck: Self { Self() }
    /// Pins are the only proof and are not enforced, so the policy would enforce nothing.
    public static var reportOnlyWithPinsOnly: Self { Self() }
    /// Pins are only reported on and the host is not checked, so any certificate of any host would pass.
    public static var reportOnlyWithoutHostCheck: Self { Self() }
    /// Expired pins would leave standard validation without a host, so any certificate of any host would pass.
    public static var standardValidationWithoutHostCheck: Self { Self() }
    /// A composite without members.
    public static var noMembers: Self { Self() }
    /// A composite member that is not allowed.
    public static var unacceptableMember: Self { Self() }
}

extension PolicyConfigurationError {
    /// `code for host: expected …, found …. Remedy.`
    public var description: String {
        "\(code.rawValue) for \(hostName.quotedAddress): expected \(expected), found \(found). \(remedy)"
    }

    package init(_ error: HostPatternError, hostName: String) {
        self.init(
            .invalidHostName, hostName: hostName, expected: error.expected, found: error.found, remedy: error.remedy)
    }

    package init(_ error: CertificateFileError, hostName: String) {
        self.init(
            .unreadableCertificates, hostName: hostName, expected: error.expected,
            found: "\(error.found) in \(error.file) (\(error.code.rawValue))", remedy: error.remedy)
    }

    static func noPins(hostName: String, found: String) -> PolicyConfigurationError {
        PolicyConfigurationError(
            .noPins, hostName: hostName, expected: "at least one certificate or pin", found: found,
            remedy: "Add a certificate to pin; `holdfastctl pin HOST` prints the pins of a server.")
    }

    /// The failure of a policy that could not be made, with the same text.
    package var failure: TrustFailure {
        TrustFailure(.invalidConfiguration, expected: expected, found: "\(found) (\(code.rawValue))", remedy: remedy)
    }
}
