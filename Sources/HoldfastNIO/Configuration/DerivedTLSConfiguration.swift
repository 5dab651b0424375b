import Holdfast
import NIOSSL

/// The common part of the configurations of clients and servers: Holdfast verifies the peer.
enum DerivedTLSConfiguration {
    /// The default signature algorithms for handshakes: BoringSSL's own list without SHA-1 (RFC 9155), and with Ed25519
    /// and P-521, which the validator supports and BoringSSL offers only if configured.
    static let signatureAlgorithms: [SignatureAlgorithm] = [
        .ecdsaSecp256R1Sha256, .ed25519, .rsaPssRsaeSha256, .rsaPkcs1Sha256, .ecdsaSecp384R1Sha384,
        .rsaPssRsaeSha384, .rsaPkcs1Sha384, .ecdsaSecp521R1Sha512, .rsaPssRsaeSha512, .rsaPkcs1Sha512,
    ]

    /// - Parameters:
    ///   - start: the beginning of a valid configuration, for remedies.
    static func derived(
        from given: TLSConfiguration, oldestTLSVersion: TLSVersion, start: String
    ) throws(TLSAdapterConfigurationError) -> TLSConfiguration {
        try refuseWeakVerification(given, start: start)
        try refuseForeignTrust(given)
        var derived = given
        // Under `.fullVerification` NIOSSL would check the name as well, and take the socket's address for the host.
        derived.certificateVerification = .noHostnameVerification
        // An explicit empty list: the default reads the system's roots from disk, and on Apple's platforms installs
        // another verification.
        derived.trustRoots = .certificates([])
        derived.additionalTrustRoots = []
        derived.renegotiationSupport = .none
        derived.pskClientProvider = nil
        derived.pskServerProvider = nil
        if derived.verifySignatureAlgorithms == nil { derived.verifySignatureAlgorithms = signatureAlgorithms }
        if given.minimumTLSVersion.age < oldestTLSVersion.age { derived.minimumTLSVersion = oldestTLSVersion }
        if let newest = derived.maximumTLSVersion, newest.age < derived.minimumTLSVersion.age {
            throw TLSAdapterConfigurationError(
                .noVersionLeft, expected: "a newest version of at least \(derived.minimumTLSVersion)",
                found: "\(newest)",
                remedy: "Raise maximumTLSVersion, or say oldestTLSVersion: \(newest) if the peer knows nothing newer.")
        }
        return derived
    }

    /// Makes a context, in the error type of the adapters.
    static func context(_ configuration: TLSConfiguration) throws(TLSAdapterConfigurationError) -> NIOSSLContext {
        try Result { try NIOSSLContext(configuration: configuration) }.mapError(refused).get()
    }

    /// The configuration with the content of its files, so that making a context reads no file.
    static func readingFiles(
        of configuration: TLSConfiguration
    ) throws(TLSAdapterConfigurationError) -> TLSConfiguration {
        try Result { try (configuration as any DeprecatedSettings).readingFiles() }.mapError(refused).get()
    }

    private static func refused(by error: any Error) -> TLSAdapterConfigurationError {
        TLSAdapterConfigurationError(
            .refusedByNIOSSL, expected: "settings that NIOSSL can use", found: ForeignErrorText.found(error),
            remedy: "Check that certificate and private key can be read and belong together.")
    }

    private static func refuseWeakVerification(
        _ given: TLSConfiguration, start: String
    ) throws(TLSAdapterConfigurationError) {
        guard case .none(let options) = given.certificateVerification else { return }
        let isOptional = options.validatePresentedCertificates
        throw TLSAdapterConfigurationError(
            isOptional ? .verificationOptional : .verificationDisabled,
            expected: "certificateVerification .fullVerification",
            found: isOptional ? ".optionalVerification" : ".none",
            remedy: "Start from \(start); to accept every peer, give a policy that says so.")
    }

    private static func refuseForeignTrust(_ given: TLSConfiguration) throws(TLSAdapterConfigurationError) {
        func refuse(_ expected: String, _ found: String) throws(TLSAdapterConfigurationError) {
            throw TLSAdapterConfigurationError(
                .trustRootsGiven, expected: expected, found: found,
                remedy: "Put the certificates into the TrustAnchors of the validator.")
        }
        switch given.trustRoots {
        case nil, .default: break
        case .certificates(let certificates): try refuse("trustRoots .default", "\(certificates.count) certificates")
        case .file(let path): try refuse("trustRoots .default", "the file \(path)")
        }
        let additional = given.additionalTrustRoots.count
        if additional > 0 { try refuse("no additionalTrustRoots", "\(additional)") }
        let hasSharedKey =
            given.pskClientProvider != nil || given.pskServerProvider != nil || given.pskHint != nil
            || (given as any DeprecatedSettings).hasPreSharedKeyCallback
        guard !hasSharedKey else {
            throw TLSAdapterConfigurationError(
                .preSharedKey, expected: "no provider, callback or hint of pre-shared keys", found: "one",
                remedy: "Use certificates on both sides, or NIOSSL without Holdfast.")
        }
    }
}

extension TLSVersion {
    var age: Int {
        switch self {
        case .tlsv1: 0
        case .tlsv11: 1
        case .tlsv12: 2
        case .tlsv13: 3
        }
    }
}

/// The current spelling does not show what a deprecated one has set; a protocol reads it without a warning.
private protocol DeprecatedSettings {
    var hasPreSharedKeyCallback: Bool { get }
    func readingFiles() throws -> TLSConfiguration
}

extension TLSConfiguration: DeprecatedSettings {
    @available(*, deprecated, message: "reads deprecated settings")
    fileprivate var hasPreSharedKeyCallback: Bool { pskClientCallback != nil || pskServerCallback != nil }

    @available(*, deprecated, message: "reads deprecated settings")
    fileprivate func readingFiles() throws -> TLSConfiguration {
        var configuration = self
        configuration.certificateChain = try certificateChain.flatMap { source in
            guard case .file(let path) = source else { return [source] }
            return try NIOSSLCertificate.fromPEMFile(path).map { .certificate($0) }
        }
        guard case .file(let path)? = privateKey else { return configuration }
        // NIOSSL also decides by the file extension, and reports any other itself.
        switch path.split(separator: ".").last?.lowercased() {
        case "pem": configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: path, format: .pem))
        case "der", "key": configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: path, format: .der))
        default: break
        }
        return configuration
    }
}
