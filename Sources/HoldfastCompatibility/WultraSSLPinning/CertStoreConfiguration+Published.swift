public import Foundation
public import Holdfast

/// WultraSSLPinning's spellings, with times in seconds. A number that is not a valid duration is treated as negative,
/// which the store refuses.
extension CertStoreConfiguration {
    /// Sets up a store in the published way; everything after `publicKey` has a default.
    public init(
        serviceUrl: URL, publicKey: String, useChallenge: Bool = false, expectedCommonNames: [String]? = nil,
        identifier: String? = nil, fallbackCertificateData: Data? = nil, fallbackCertificatesData: Data? = nil,
        periodicUpdateInterval: TimeInterval = 7 * 86_400, expirationUpdateTreshold: TimeInterval = 14 * 86_400,
        sslValidationStrategy: SSLValidationStrategy = .default
    ) {
        self.init(
            serviceURL: serviceUrl, publicKey: publicKey, useChallenge: useChallenge,
            expectedCommonNames: expectedCommonNames, identifier: identifier,
            fallbackCertificateData: fallbackCertificateData, fallbackCertificatesData: fallbackCertificatesData,
            schedule: UpdateSchedule(
                updateInterval: Duration(published: periodicUpdateInterval),
                expirationThreshold: Duration(published: expirationUpdateTreshold)))
        self.sslValidationStrategy = sslValidationStrategy
    }

    /// The identifier, or `default`. Two stores without an identifier share only this name.
    public var instanceIdentifier: String { identifier ?? "default" }

    /// The published spelling of `serviceURL`, with the same advice: use a domain that is not pinned.
    public var serviceUrl: URL {
        get { serviceURL }
        set { serviceURL = newValue }
    }

    /// The published spelling of `UpdateSchedule.updateInterval`.
    public var periodicUpdateInterval: TimeInterval {
        get { schedule.updateInterval.inSeconds }
        set { schedule.updateInterval = Duration(published: newValue) }
    }

    /// The published spelling of `UpdateSchedule.expirationThreshold`, corrected.
    public var expirationUpdateThreshold: TimeInterval {
        get { schedule.expirationThreshold.inSeconds }
        set { schedule.expirationThreshold = Duration(published: newValue) }
    }

    /// The published spelling of `UpdateSchedule.expirationThreshold`.
    @available(*, deprecated, renamed: "expirationUpdateThreshold")
    public var expirationUpdateTreshold: TimeInterval {
        get { expirationUpdateThreshold }
        set { expirationUpdateThreshold = newValue }
    }
}

extension Duration {
    fileprivate init(published seconds: TimeInterval) { self = Duration(exactSeconds: seconds) ?? .seconds(-1) }
}
