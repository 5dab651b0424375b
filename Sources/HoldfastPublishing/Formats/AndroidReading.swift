import Foundation
import Holdfast

/// Reads the pins of a network security configuration. Nested domains inherit the pins of the outer ones.
struct AndroidReading {
    /// The allowed children of an element; others could change the pinning.
    private static let children: [String: [String]] = [
        "network-security-config": ["base-config", "domain-config", "debug-overrides"],
        "base-config": ["trust-anchors", "certificateTransparency"],
        "domain-config": ["domain", "pin-set", "trust-anchors", "certificateTransparency", "domain-config"],
        "debug-overrides": ["trust-anchors"], "trust-anchors": ["certificates"], "pin-set": ["pin"],
    ]
    private static let attributes: [String: [String]] = [
        "base-config": ["cleartextTrafficPermitted"], "domain-config": ["cleartextTrafficPermitted"],
        "debug-overrides": ["cleartextTrafficPermitted"], "domain": ["includeSubdomains"], "pin-set": ["expiration"],
        "pin": ["digest"], "certificates": ["src", "overridePins"], "certificateTransparency": ["enabled"],
    ]

    private struct PinSetElement {
        var hashes: [(text: String, line: Int)] = []
        /// The last second at which they are valid.
        var end: Date?
    }

    private var domains: [PinImport.Domain] = []
    private var losses: [PinExport.Loss] = []

    static func domains(
        in data: Data, _ losses: inout [PinExport.Loss], _ notes: inout [PinExport.Loss]
    ) throws(PublishingError) -> [PinImport.Domain] {
        let document = try ConfigurationElement.document(data, wanted: "a network security configuration")
        guard document.isNamed("network-security-config") else {
            throw document.failure("is not a network security configuration")
        }
        var reading = AndroidReading()
        try reading.check(document, "")
        for config in document.children where config.isNamed("domain-config") {
            try reading.read(config, inheriting: PinSetElement())
        }
        losses += reading.losses
        if reading.domains.contains(where: { $0.end != nil }) {
            notes.append(
                PinExport.Loss(field: "expiration", what: "is midnight on the device for Android, and in UTC here"))
        }
        return reading.domains
    }

    /// Refuses elements that are not understood, and lists settings that a pin file cannot express.
    private mutating func check(_ element: ConfigurationElement, _ above: String) throws(PublishingError) {
        let path = above.isEmpty ? "network-security-config" : "\(above) \(element.name)"
        try checkAttributes(of: element, path)
        let known = Self.children[element.name] ?? []
        guard !known.isEmpty else { return _ = try element.plainText() }
        if let text = element.text.utf8.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) {
            throw element.failure("has text (\(String(decoding: [text], as: UTF8.self).quoted)…) in \(element.name)")
        }
        for child in element.children {
            guard known.contains(where: child.isNamed) else {
                throw child.unknown("\(child.name.quotedAddress) in <\(element.name)>")
            }
            try check(child, path)
        }
    }

    private mutating func checkAttributes(of element: ConfigurationElement, _ path: String) throws(PublishingError) {
        let known = Self.attributes[element.name] ?? []
        for name in element.attributes.keys where !known.contains(where: name.hasSameOctets(as:)) {
            // Namespaces, and attributes for other tools.
            guard name.after(octets: "xmlns") != nil || name.after(octets: "tools:") != nil else {
                throw element.unknown("the attribute \(name.quotedAddress) of <\(element.name)>")
            }
        }
        if try truth("cleartextTrafficPermitted", of: element) {
            lose("\(path) cleartextTrafficPermitted", "a pin file says nothing about connections without TLS")
        }
        if element.isNamed("certificates") {
            let overrides = try truth("overridePins", of: element)
            lose(
                "\(path) \((element.attributes["src"] ?? "").quoted)",
                "a pin file has no anchors; debug anchors need their DER"
                    + (overrides ? ", and pins count for chains to this anchor as well (overridePins)" : ""))
        }
        if element.isNamed("certificateTransparency") {
            lose(path, "a pin file does not ask for certificate transparency")
        }
    }

    private mutating func read(
        _ config: ConfigurationElement, inheriting above: PinSetElement
    ) throws(PublishingError) {
        let sets = config.children.filter { $0.isNamed("pin-set") }
        if sets.count > 1 { throw sets[1].failure("has a second <pin-set> in one <domain-config>") }
        let pins = try sets.first.map { set throws(PublishingError) in try Self.pins(set) } ?? above
        let names = config.children.filter { $0.isNamed("domain") }
        guard !names.isEmpty else { throw config.failure("has a <domain-config> without a <domain>") }
        for element in names {
            let name = try element.plainText().trimmingCharacters(in: .whitespacesAndNewlines)
            var domain = PinImport.Domain(
                field: "domain \(name.quotedAddress)", line: element.line, name: name,
                includesSubdomains: try truth("includeSubdomains", of: element))
            domain.hashes = pins.hashes
            domain.end = pins.hashes.isEmpty ? nil : pins.end
            // A more specific configuration without pins is not pinned, even if the outer one is.
            domain.isException = pins.hashes.isEmpty
            domains.append(domain)
        }
        for child in config.children where child.isNamed("domain-config") { try read(child, inheriting: pins) }
    }

    private static func pins(_ set: ConfigurationElement) throws(PublishingError) -> PinSetElement {
        var pins = PinSetElement()
        var seen: Set<[UInt8]> = []
        for pin in set.children {
            guard pin.attributes["digest"]?.hasSameOctets(as: "SHA-256") == true else {
                throw pin.failure("has a pin whose digest is not SHA-256")
            }
            let hash = try pin.plainText().trimmingCharacters(in: .whitespacesAndNewlines)
            // A repeated hash is one pin, and each domain of the configuration gets all of them.
            if seen.insert(Array(hash.utf8)).inserted { pins.hashes.append((hash, pin.line)) }
        }
        pins.end = try set.attributes["expiration"].map { day throws(PublishingError) in
            try PinImport.lastSecond(before: day, line: set.line)
        }
        return pins
    }

    /// Reads a Boolean in the spellings of Android's build tools.
    private func truth(_ name: String, of element: ConfigurationElement) throws(PublishingError) -> Bool {
        guard let value = element.attributes[name] else { return false }
        if ["true", "TRUE", "True"].contains(where: value.hasSameOctets(as:)) { return true }
        guard ["false", "FALSE", "False"].contains(where: value.hasSameOctets(as:)) else {
            throw element.failure("has \(name) \(value.quotedAddress), which is neither true nor false")
        }
        return false
    }

    private mutating func lose(_ field: String, _ what: String) {
        losses.append(PinExport.Loss(field: field, what: what))
    }
}
