import class Foundation.Bundle

/// What both published interfaces make a policy from: the one implementation behind their spellings.
struct PublishedPolicy {
    let type: ValidationType
    let hostName: String
    let validatesHostName: Bool
    let bundle: Bundle
    let certificatePinOnly: Bool
    let customValidation: CustomValidationClosure?
    var clock: any WallClock = SystemWallClock()
    var log = PolicyLog.shared

    func make() throws(PolicyConfigurationError) -> any TrustPolicy {
        let host: HostPattern
        do throws(HostPatternError) {
            host = try HostPattern(publishedName: hostName)
        } catch {
            throw PolicyConfigurationError(error, hostName: hostName)
        }
        switch type {
        case .disabled:
            return DisabledPolicy(host: host, clock: clock, log: log)
        case .standard:
            return StandardPolicy(host: host, validatesHostName: validatesHostName, clock: clock)
        case .custom:
            return try custom(host)
        case .pinCertificate:
            return try pinned(.certificate, host)
        case .pinPublicKey:
            return try pinned(.publicKey, host)
        case .pinCertificateOnline, .pinPublicKeyOnline:
            let failure = TrustFailure(
                .notYetSupported, expected: "a validation type of this version", found: "\(type)")
            return RejectingPolicy(scope: .hosts(host), validationType: type, failure: failure, clock: clock)
        }
    }

    func create() -> any TrustPolicy {
        do throws(PolicyConfigurationError) {
            return try make()
        } catch {
            let scope = (try? HostPattern(publishedName: hostName)).map(PolicyScope.hosts) ?? .nothing(hostName)
            return RejectingPolicy(scope: scope, validationType: type, failure: error.failure, clock: clock)
        }
    }

    private func custom(_ host: HostPattern) throws(PolicyConfigurationError) -> any TrustPolicy {
        guard let customValidation else {
            throw PolicyConfigurationError(
                .missingCustomValidation, hostName: host.description, expected: "a closure that validates",
                found: "none", remedy: "Set customValidation before the policy is made.")
        }
        return CustomPolicy(host: host, clock: clock, validation: customValidation)
    }

    private func pinned(
        _ subject: Pin.Subject, _ host: HostPattern
    ) throws(PolicyConfigurationError) -> any TrustPolicy {
        let source = CertificateSource.bundle(bundle)
        let certificates: [X509Certificate]
        do throws(CertificateFileError) {
            certificates = try source.read(log: log)
        } catch {
            throw PolicyConfigurationError(error, hostName: host.description)
        }
        log.bundle(bundle.bundlePath, pins: host.description)
        return try PinnedPolicy(
            scope: .hosts(host), pinning: subject, of: certificates, from: source.description,
            validatesHostName: validatesHostName, certificatePinOnly: certificatePinOnly, clock: clock, log: log)
    }
}
