import Foundation
import Holdfast

/// Reads the pins of `TSKConfiguration`, alone or in an Info.plist.
enum TrustKitReading {
    private static let domains = "TSKPinnedDomains"
    /// The first is the value of the constant. People also write the second, which TrustKit does not know.
    private static let exceptions = ["kSKExcludeSubdomainFromParentPolicy", "TSKExcludeSubdomainFromParentPolicy"]
    private static let keys =
        exceptions + [
            "TSKIncludeSubdomains", "TSKPublicKeyHashes", "TSKExpirationDate", "TSKEnforcePinning", "TSKReportUris",
            "TSKDisableDefaultReportUri", "TSKPublicKeyAlgorithms", "TSKAdditionalTrustAnchors",
        ]

    static func domains(
        in data: Data, _ losses: inout [PinExport.Loss], _ notes: inout [PinExport.Loss]
    ) throws(PublishingError) -> [PinImport.Domain] {
        let list = try PropertyListDictionary(data)
        var configuration = list
        if let value = list["TSKConfiguration"] {
            configuration = try PropertyListDictionary(value, "TSKConfiguration")
            try configuration.refuseKeys(except: [
                domains, "TSKSwizzleNetworkDelegates", "TSKIgnorePinningForUserDefinedTrustAnchors",
            ])
        }
        if try truth(configuration, "TSKSwizzleNetworkDelegates", default: false) {
            losses.append(
                PinExport.Loss(field: "TSKSwizzleNetworkDelegates", what: "a pin file does not hook into other code"))
        }
        let ignoring = "TSKIgnorePinningForUserDefinedTrustAnchors"
        if configuration[ignoring] != nil, try truth(configuration, ignoring, default: true) {
            notes.append(
                PinExport.Loss(field: ignoring, what: "pins of a pin file count whatever anchors the user has added"))
        }
        var read: [PinImport.Domain] = []
        for (name, content) in try configuration.dictionaries(domains) {
            read.append(try domain(name, content, &losses))
        }
        return read
    }

    private static func domain(
        _ name: String, _ content: PropertyListDictionary, _ losses: inout [PinExport.Loss]
    ) throws(PublishingError) -> PinImport.Domain {
        let field = PinImport.field(name, in: domains)
        try content.refuseKeys(except: keys)
        var domain = PinImport.Domain(
            field: field, line: content.element.line, name: name,
            includesSubdomains: try truth(content, "TSKIncludeSubdomains", default: false))
        for key in exceptions where try truth(content, key, default: false) {
            domain.isException = true
            // TrustKit pins the domain if it does not know the key; otherwise it stops the app.
            guard let other = content.entries.first(where: { !$0.key.hasSameOctets(as: key) }) else { continue }
            throw (content[key] ?? content.element).failure(
                "has \(key) beside \(other.key.quotedAddress), and TrustKit takes it only alone")
        }
        domain.hashes = try content.texts("TSKPublicKeyHashes") ?? []
        domain.end = try end(content["TSKExpirationDate"])
        domain.isEnforced = try truth(content, "TSKEnforcePinning", default: true)
        let urls = try content.texts("TSKReportUris") ?? []
        domain.reportURL = urls.first?.text
        for url in urls.dropFirst() {
            losses.append(
                PinExport.Loss(
                    field: "\(field).TSKReportUris",
                    what: "a host reports to one address, not to \(url.text.quotedAddress)"))
        }
        if content["TSKAdditionalTrustAnchors"] != nil {
            losses.append(
                PinExport.Loss(
                    field: "\(field).TSKAdditionalTrustAnchors",
                    what: "a pin file has no anchors of a host; debug anchors need their DER"))
        }
        if try !truth(content, "TSKDisableDefaultReportUri", default: false), !domain.isException {
            losses.append(
                PinExport.Loss(
                    field: "\(field).TSKDisableDefaultReportUri", what: "reports to TrustKit's makers are not made"))
        }
        return domain
    }

    /// Reads a day, from the beginning of which nothing is pinned, or an instant, until which the pins are valid.
    private static func end(_ value: ConfigurationElement?) throws(PublishingError) -> Date? {
        guard let value else { return nil }
        let text = try value.plainText()
        if value.isNamed("string") { return try PinImport.lastSecond(before: text, line: value.line) }
        // Foundation reads 29 February of a common year as 1 March, and a second 60 as 59.
        guard value.isNamed("date"), text.isASCII(atMost: 32), let date = try? Date(text, strategy: .iso8601),
            date.formatted(.iso8601) == text
        else {
            throw value.failure(
                "has the expiry \(text.quotedAddress), which is neither a day like 2030-01-31 nor a date like "
                    + "2030-01-31T00:00:00Z")
        }
        return date.addingTimeInterval(-1)
    }

    /// TrustKit calls `boolValue`, which numbers and texts have as well.
    private static func truth(
        _ content: PropertyListDictionary, _ key: String, default standard: Bool
    ) throws(PublishingError) -> Bool {
        try content.truth(key, default: standard) { value throws(PublishingError) in
            let text = try value.plainText()
            guard value.isNamed("string") || value.isNamed("integer"), text.isASCII(atMost: 5) else { return nil }
            switch text.lowercased() {
            case "yes", "true", "1": return true
            case "no", "false", "0": return false
            default: return nil
            }
        }
    }
}
