import Foundation
import Holdfast

/// Reads the pins of `NSPinnedDomains`, alone, in `NSAppTransportSecurity` or in an Info.plist.
enum TransportSecurityReading {
    private static let hash = "SPKI-SHA256-BASE64"

    static func domains(
        in data: Data, _ notes: inout [PinExport.Loss]
    ) throws(PublishingError) -> [PinImport.Domain] {
        let list = try PropertyListDictionary(data)
        var security = list
        if let value = list["NSAppTransportSecurity"] {
            security = try PropertyListDictionary(value, "NSAppTransportSecurity")
            for (key, _) in security.entries where !key.hasSameOctets(as: "NSPinnedDomains") {
                notes.append(
                    PinExport.Loss(
                        field: PinImport.field(key, in: "NSAppTransportSecurity"),
                        what: "is not about pins, and stays where it is"))
            }
        }
        var domains: [PinImport.Domain] = []
        for (name, content) in try security.dictionaries("NSPinnedDomains") {
            try content.refuseKeys(except: ["NSIncludesSubdomains", "NSPinnedLeafIdentities", "NSPinnedCAIdentities"])
            var domain = PinImport.Domain(
                field: PinImport.field(name, in: "NSPinnedDomains"), line: content.element.line, name: name,
                includesSubdomains: try content.truth("NSIncludesSubdomains", default: false) { _ in nil },
                isOneLabelOnly: true)
            domain.leaves = try hashes(content, "NSPinnedLeafIdentities")
            domain.issuers = try hashes(content, "NSPinnedCAIdentities")
            domains.append(domain)
        }
        return domains
    }

    /// Reads a list of identities. An empty list is an error, because reading it as missing would drop one of two
    /// conditions.
    private static func hashes(
        _ content: PropertyListDictionary, _ key: String
    ) throws(PublishingError) -> [(text: String, line: Int)] {
        guard let array = try content.array(key) else { return [] }
        if array.isEmpty, let value = content[key] { throw value.failure("has \(key) without an identity") }
        var hashes: [(text: String, line: Int)] = []
        for element in array {
            let identity = try PropertyListDictionary(element, "an identity of \(key)")
            try identity.refuseKeys(except: [hash])
            guard let value = identity[hash], value.isNamed("string") else {
                throw element.failure("has an identity of \(key) without the text \(hash)")
            }
            hashes.append((try value.plainText(), value.line))
        }
        return hashes
    }
}
