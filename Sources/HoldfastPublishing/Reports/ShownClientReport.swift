package import Foundation
import Holdfast
import HoldfastSigning

/// A client's report: the certificates that a server presented to it, and the pins that it knew. It reads reports of
/// RFC 7469 section 3 with the additions of TrustKit and Holdfast, alone or in the Reporting API, and reports that the
/// pin server stored.
package struct ShownClientReport {
    private let data: Data
    private let name: String
    private let now: Date

    /// The same maximum as for one request to the pin server.
    private static let greatestReports = 64

    /// - Parameters:
    ///   - data: the report.
    ///   - name: its name for messages.
    ///   - now: the time from which days are counted.
    package init(_ data: Data, name: String, now: Date) {
        self.data = data
        self.name = name
        self.now = now
    }

    /// - Throws: ``PublishingError`` `invalidDocument` if it is not a report, or has no chain and no pins.
    package func items() throws(PublishingError) -> [ShownItem] {
        var reports: [Content] = []
        do throws(DocumentError) {
            var reader = try StrictJSONReader([UInt8](data), maximumBytes: DocumentLimits().bytes)
            if reader.nextKind == .array {
                try reader.beginArray()
                while try reader.nextElement() {
                    guard reports.count < Self.greatestReports else {
                        throw reader.error(.tooManyEntries, "at most \(Self.greatestReports) reports", "more")
                    }
                    var content = Content()
                    try content.read(&reader)
                    reports.append(content)
                }
            } else {
                var content = Content()
                try content.read(&reader)
                reports.append(content)
            }
            try reader.finish()
        } catch {
            throw invalid("one that cannot be read: \(error)")
        }
        reports = reports.filter { !$0.certificates.isEmpty || !$0.pins.isEmpty }
        guard !reports.isEmpty else { throw invalid("one without certificates and pins") }
        var items: [ShownItem] = []
        for report in reports { items += try self.items(of: report) }
        return items
    }

    private func invalid(_ found: String) -> PublishingError {
        PublishingError(
            .invalidDocument, of: name, expected: "a client's report with a chain", found: found,
            remedy: "Give a report as it was sent, or the report of a sample of the pin server.")
    }

    private func items(of report: Content) throws(PublishingError) -> [ShownItem] {
        var chain: [[UInt8]] = []
        for text in report.certificates {
            guard let block = PEMBlocks.read(Data(text)).first, block.kind == .certificate,
                case .success(let der) = block.content
            else { throw invalid("one with a certificate that is not in PEM") }
            chain.append(der)
        }
        var item = ShownItem("report of a client", signature: .init(state: .unsigned, text: "anybody can forge it"))
        for fact in report.facts { item.add(fact.name, fact.value) }
        for pin in report.pins {
            let places = chain.indices.filter { pin.matches(chain[$0]) }.map(String.init)
            let match = places.isEmpty ? "of no certificate here" : "of certificate \(places.joined(separator: ", "))"
            item.add("pin", [pin.text, pin.role, pin.state, match].compactMap(\.self).joined(separator: ", "))
        }
        return [item]
            + chain.enumerated().map { position, der in
                var item = ShownItem("certificate \(position) that the client was shown")
                item.certificate = CertificateReport(der: der, position: position, now: now)
                item.add("pinned", report.pins.contains { $0.matches(der) } ? "yes" : "NO")
                return item
            }
    }
}

/// The content of one report.
private struct Content {
    var facts: [(name: String, value: String)] = []
    var served: [[UInt8]] = []
    var validated: [[UInt8]] = []
    var known: [ReportedPin] = []
    var named: [ReportedPin] = []

    /// The served certificates take precedence: a client may have built its path from others.
    var certificates: [[UInt8]] { served.isEmpty ? validated : served }
    /// The pins with roles and states, if there are any.
    var pins: [ReportedPin] { named.isEmpty ? known : named }

    /// Longer than any chain that a server presents; a pin file has as many pins for a host.
    private static let greatestCount = 32
    private static let greatestText = 64 << 10
    /// Fields that are printed unchanged.
    private static let names = [
        "url", "hostname", "port", "noted-hostname", "date-time", "failure", "outcome", "code", "app-platform",
        "app-version", "document-version", "sampling-fraction",
    ]

    mutating func read(_ reader: inout StrictJSONReader) throws(DocumentError) {
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "body": try read(&reader)
            case "served-certificate-chain": served = try texts(&reader)
            case "validated-certificate-chain": validated = try texts(&reader)
            case "known-pins": known = try texts(&reader).map { ReportedPin(text: String(decoding: $0, as: UTF8.self)) }
            case "pins": named = try pins(&reader)
            case let name where Self.names.contains(name):
                let isText = reader.nextKind == .text
                let value = isText ? try reader.octets(atMost: 1_024) : try reader.valueOctets()
                facts.append((name, String(decoding: value.prefix(1_024), as: UTF8.self)))
            default: try reader.skipValue()
            }
        }
    }

    private func texts(_ reader: inout StrictJSONReader) throws(DocumentError) -> [[UInt8]] {
        try elements(&reader) { reader throws(DocumentError) in
            Array(try reader.octets(atMost: Self.greatestText))
        }
    }

    private func pins(_ reader: inout StrictJSONReader) throws(DocumentError) -> [ReportedPin] {
        try elements(&reader) { reader throws(DocumentError) in
            var pin = ReportedPin(text: "")
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "pin": pin.text = String(decoding: try reader.octets(atMost: 1_024), as: UTF8.self)
                case "role": pin.role = String(decoding: try reader.octets(atMost: 1_024), as: UTF8.self)
                case "state": pin.state = String(decoding: try reader.octets(atMost: 1_024), as: UTF8.self)
                default: try reader.skipValue()
                }
            }
            return pin
        }
    }

    private func elements<Element>(
        _ reader: inout StrictJSONReader, _ read: (inout StrictJSONReader) throws(DocumentError) -> Element
    ) throws(DocumentError) -> [Element] {
        var elements: [Element] = []
        try reader.beginArray()
        while try reader.nextElement() {
            guard elements.count < Self.greatestCount else {
                throw reader.error(.tooManyEntries, "at most \(Self.greatestCount) elements", "more")
            }
            elements.append(try read(&reader))
        }
        return elements
    }
}

/// A pin in the form of a report.
private struct ReportedPin {
    var text: String
    var role: String?
    var state: String?

    /// `sha256/BASE64` and `cert-sha256/HEX`, and `pin-sha256="BASE64"` of RFC 7469; nil for any other text.
    private var pin: Pin? {
        let (start, end) = ("pin-sha256=\"", "\"")
        guard text.utf8.starts(with: start.utf8), text.utf8.last == end.utf8.first else { return try? Pin(text) }
        return try? Pin("sha256/" + String(decoding: text.utf8.dropFirst(start.utf8.count).dropLast(), as: UTF8.self))
    }

    func matches(_ der: [UInt8]) -> Bool {
        guard let pin else { return false }
        return pin == Pin.certificate(der) || (try? X509Certificate(der: der))?.publicKeyPin == pin
    }
}
