import Foundation
import Holdfast

#if canImport(FoundationXML)
import FoundationXML
#endif

/// Reads the pins of a network security configuration. Nested domains inherit the pins of the outer ones.
enum AndroidReading {
    static func domains(
        in data: Data, _ losses: inout [PinExport.Loss], _ notes: inout [PinExport.Loss]
    ) throws(CommandFailure) -> [PinImport.Domain] {
        let builder = AndroidReader()
        let parser = XMLParser(data: data)
        parser.delegate = builder
        guard parser.parse(), builder.problem == nil, builder.isConfiguration else {
            let reason = builder.problem ?? "is not a network security configuration, or ends early"
            throw PinImport.failure("\(reason) (line \(parser.lineNumber))")
        }
        losses += builder.losses
        if builder.domains.contains(where: { $0.expiration != nil }) {
            notes.append(
                PinExport.Loss(field: "expiration", what: "is midnight on the device for Android, and in UTC here"))
        }
        return builder.domains
    }
}

private final class AndroidReader: NSObject, XMLParserDelegate {
    /// A `domain-config` whose end was not read yet.
    private struct Config {
        var names: [(name: String, includesSubdomains: Bool)] = []
        /// Its own set, which may be empty; nil if it inherits the one above.
        var pins: PinSetElement?
        var children: [Config] = []
    }

    private struct PinSetElement {
        var hashes: [String] = []
        var expiration: String?
    }

    /// The deepest nesting. Anything deeper is not a configuration but an attack on this program.
    private static let deepest = 32

    private(set) var domains: [PinImport.Domain] = []
    private(set) var losses: [PinExport.Loss] = []
    private(set) var problem: String?
    private(set) var isConfiguration = false
    private var elements: [String] = []
    private var open: [Config] = []
    private var text = ""

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard elements.count < Self.deepest else { return fail("nests too deep", parser) }
        if elements.isEmpty { isConfiguration = name == "network-security-config" }
        elements.append(name)
        text = ""
        switch name {
        case "domain-config":
            open.append(Config())
        case "domain" where !open.isEmpty:
            open[open.count - 1].names.append(("", attributes["includeSubdomains"] == "true"))
        case "pin-set" where !open.isEmpty:
            open[open.count - 1].pins = PinSetElement(expiration: attributes["expiration"])
        case "pin":
            if attributes["digest"] != "SHA-256" { fail("has a pin whose digest is not SHA-256", parser) }
        case "certificates":
            lose("\(path) \(attributes["src"] ?? "")", "a pin file has no anchors; debug anchors need their DER")
        case "certificateTransparency": lose(path, "a pin file does not ask for certificate transparency")
        default: break
        }
        if attributes["cleartextTrafficPermitted"] == "true" {
            lose("\(path) cleartextTrafficPermitted", "a pin file says nothing about connections without TLS")
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        text += string
        if text.utf8.count > 1_024 { fail("has a text of more than 1024 octets", parser) }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
        text = ""
        switch name {
        case "domain" where !open.isEmpty && !open[open.count - 1].names.isEmpty:
            open[open.count - 1].names[open[open.count - 1].names.count - 1].name = value
        case "pin" where !open.isEmpty: open[open.count - 1].pins?.hashes.append(value)
        case "domain-config":
            guard let config = open.popLast() else { break }
            // The outer configuration's set may come after the inner configuration.
            if open.isEmpty {
                close(config, inheriting: PinSetElement())
            } else {
                open[open.count - 1].children.append(config)
            }
        default: break
        }
        if !elements.isEmpty { elements.removeLast() }
    }

    private func close(_ config: Config, inheriting above: PinSetElement) {
        let pins = config.pins ?? above
        for (name, includesSubdomains) in config.names {
            var domain = PinImport.Domain(
                field: "domain \(name.quotedAddress)", name: name, includesSubdomains: includesSubdomains)
            domain.hashes = pins.hashes
            domain.expiration = pins.hashes.isEmpty ? nil : pins.expiration
            // A more specific configuration without pins is not pinned, whatever the outer one says.
            domain.isException = pins.hashes.isEmpty
            domains.append(domain)
        }
        for child in config.children { close(child, inheriting: pins) }
    }

    private var path: String { elements.joined(separator: " ") }

    private func lose(_ field: String, _ what: String) { losses.append(PinExport.Loss(field: field, what: what)) }

    private func fail(_ what: String, _ parser: XMLParser) {
        if problem == nil { problem = what }
        parser.abortParsing()
    }
}
