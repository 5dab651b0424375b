import Foundation
import HoldfastCompatibility

/// The two generations of GCXTrustPolicy. A test sets one property in both, by the name that each has for it.
enum PublishedGeneration: String, Sendable, CaseIterable {
    case older, newer

    /// The properties that a test sets; nil leaves the published default.
    struct Properties {
        var validatesHostName: Bool?
        var bundle: Bundle?
        var pinsAlone: Bool?
        var customValidation: CustomValidationClosure?
        var trustServer: URL?
        var trustServerCertificate: Data?
        var customer: String?
        var onlinePinning: OnlinePinningSettings?
    }

    func policy(
        _ type: ValidationType, for host: String, _ properties: Properties = Properties()
    ) -> any TrustPolicy {
        switch self {
        case .older: older(type, host, properties).create()
        case .newer: TrustManager().create(type: type, hostName: host, settings: newer(properties))
        }
    }

    private func older(_ type: ValidationType, _ host: String, _ properties: Properties) -> ComposePolicy {
        let composer = ComposePolicy(withValidation: type, forHost: host)
        if let value = properties.validatesHostName { composer.validateHostName = value }
        if let value = properties.bundle { composer.certificateBundle = value }
        if let value = properties.pinsAlone { composer.allowInsecureServerTrust = value }
        if let value = properties.customValidation { composer.customValidation = value }
        if let value = properties.trustServer { composer.trustServer = value }
        if let value = properties.trustServerCertificate { composer.trustServerCertificate = value }
        if let value = properties.customer { composer.customer = value }
        if let value = properties.onlinePinning { composer.onlinePinning = value }
        return composer
    }

    private func newer(_ properties: Properties) -> ValidationSettings {
        let settings = ValidationSettings()
        if let value = properties.validatesHostName { settings.sslValidateHostName = value }
        if let value = properties.bundle { settings.certificateBundle = value }
        if let value = properties.pinsAlone { settings.certificatePinOnly = value }
        if let value = properties.customValidation { settings.customValidation = value }
        if let value = properties.trustServer { settings.trustServer = value }
        if let value = properties.trustServerCertificate { settings.trustServerCertificate = value }
        if let value = properties.customer { settings.customer = value }
        if let value = properties.onlinePinning { settings.onlinePinning = value }
        return settings
    }
}
