import Holdfast

import class Foundation.Bundle
import struct Foundation.Data
import struct Foundation.URL

/// The settings of a policy in both published interfaces: the one implementation behind their spellings.
struct PublishedPolicy {
    let type: ValidationType
    let hostName: String
    let validatesHostName: Bool
    let bundle: Bundle
    let certificatePinOnly: Bool
    let customValidation: CustomValidationClosure?
    var online = OnlinePinning()
    var clock: any WallClock = SystemWallClock()
    var log = PolicyLog.shared

    /// The additional settings of the online types.
    struct OnlinePinning {
        var trustServer: URL?
        var trustServerCertificate: Data?
        var customer: String?
        var settings = OnlinePinningSettings()
    }

    func make() throws(PolicyConfigurationError) -> any TrustPolicy {
        let host: HostPattern
        do throws(HostPatternError) {
            host = try HostPattern(publishedName: hostName)
        } catch {
            throw PolicyConfigurationError(error, hostName: hostName)
        }
        switch type {
        case .disabled:
            return DisabledPolicy(host: host, log: log)
        case .standard:
            return StandardPolicy(host: host, validatesHostName: validatesHostName)
        case .custom:
            return try custom(host)
        case .pinCertificate:
            return try pinned(.certificate, host)
        case .pinPublicKey:
            return try pinned(.publicKey, host)
        case .pinCertificateOnline:
            return try online(.certificate, host)
        case .pinPublicKeyOnline:
            return try online(.publicKey, host)
        }
    }

    func create() -> any TrustPolicy {
        do throws(PolicyConfigurationError) {
            return try make()
        } catch {
            let scope = (try? HostPattern(publishedName: hostName)).map(PolicyScope.hosts) ?? .nothing(hostName)
            return RejectingPolicy(scope: scope, failure: error.failure)
        }
    }

    private func custom(_ host: HostPattern) throws(PolicyConfigurationError) -> any TrustPolicy {
        guard let customValidation else {
            throw PolicyConfigurationError(
                .missingCustomValidation, hostName: host.description, expected: "a closure that validates",
                found: "none", remedy: "Set customValidation before the policy is made.")
        }
        #if canImport(Security)
        // A chain that the system cannot read is not treated as a missing trust: it is rejected without a call of the
        // closure.
        return CustomPolicy(host: host) { trust in
            guard let trust else { return customValidation(nil) }
            guard let secTrust = trust.secTrust else { return false }
            return customValidation(secTrust)
        }
        #else
        return CustomPolicy(host: host, validation: customValidation)
        #endif
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
            validatesHostName: validatesHostName, certificatePinOnly: certificatePinOnly, log: log)
    }

    private func online(
        _ subject: Pin.Subject, _ host: HostPattern
    ) throws(PolicyConfigurationError) -> any TrustPolicy {
        guard let url = online.trustServer, let certificate = online.trustServerCertificate,
            let customer = online.customer, !customer.isEmpty
        else { throw missingParameter(host) }
        let store: TrustServerStore
        do {
            store = try TrustServerStore.shared(
                configuration: TrustServerConfiguration(
                    url: url, signer: TrustServerSigner(certificate: certificate), customer: customer,
                    settings: online.settings), clock: clock, logger: log.storeLogger)
        } catch let error as DocumentError {
            throw invalid("trustServerCertificate: \(error.expected)", error.found, error.remedy, host)
        } catch let error as StoreError {
            throw invalid(error.expected, error.found, error.remedy, host)
        } catch {
            throw invalid("parameters of a trust server", ForeignErrorText.found(error), "Correct them.", host)
        }
        return store.policy(
            for: host, pinning: subject, validatesHostName: validatesHostName, certificatePinOnly: certificatePinOnly)
    }

    private func missingParameter(_ host: HostPattern) -> PolicyConfigurationError {
        let missing = [
            online.trustServer == nil ? "trustServer" : nil,
            online.trustServerCertificate == nil ? "trustServerCertificate" : nil,
            online.customer?.isEmpty ?? true ? "customer" : nil,
        ].compactMap(\.self)
        return PolicyConfigurationError(
            .missingParameter, hostName: host.description, expected: missing.joined(separator: ", "), found: "none",
            remedy: "Set \(missing.joined(separator: " and ")) before the policy is made.")
    }

    private func invalid(
        _ expected: String, _ found: String, _ remedy: String, _ host: HostPattern
    ) -> PolicyConfigurationError {
        PolicyConfigurationError(
            .invalidParameter, hostName: host.description, expected: expected, found: found, remedy: remedy)
    }
}
