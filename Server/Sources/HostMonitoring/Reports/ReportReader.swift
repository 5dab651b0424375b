package import ServerFoundation
import ServerModel

/// Reads the formats that clients send to a collector: Network Error Logging, the reports of RFC 7469 section 3,
/// TrustKit's superset of these, and Holdfast's daily summaries. Unknown fields are ignored, since most of them could
/// identify a client.
package struct ReportReader {
    /// Maximum size of a body in bytes. Three certificates in PEM have 6,000.
    package static let maximumSize = 64 << 10
    /// Maximum number of reports in a body. Browsers combine their reports in one body.
    package static let maximumCount = 64

    package let fields: [String: CanonicalJSON]

    /// Reads a body.
    /// - Returns: the reports; those that are not about TLS are omitted.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue` if any part of the body is invalid.
    package static func read(_ bytes: [UInt8]) throws(ServerError) -> [ClientReport] {
        switch try JSONReader.read(bytes, "report", limit: maximumSize, ofStrangers: true) {
        case .array(let elements):
            guard elements.count <= maximumCount else { throw invalid("report", "at most \(maximumCount) reports") }
            var reports: [ClientReport] = []
            for element in elements {
                if let report = try ReportReader(element).networkError() { reports.append(report) }
            }
            return reports
        case let value:
            let reader = try ReportReader(value)
            // The Reporting API uses arrays; tools may send a single report.
            if reader.fields["body"] != nil { return try reader.networkError().map { [$0] } ?? [] }
            if reader.fields["policies"] != nil { return try reader.summary() }
            return [try reader.pinFailure()]
        }
    }

    package init(_ value: CanonicalJSON) throws(ServerError) {
        guard case .object(let fields) = value else { throw Self.invalid("report", "an object") }
        self.fields = fields
    }

    package static func invalid(_ field: String, _ expected: String) -> ServerError {
        ServerError(.invalidValue, of: field, expected: expected, found: "another value")
    }

    // MARK: Network Error Logging

    /// Reads `{"type": "network-error", "url", "body": {"type", "sampling_fraction", …}}`; nil if it is not about TLS.
    private func networkError() throws(ServerError) -> ClientReport? {
        guard try text("type").elementsEqual("network-error".utf8) else { return nil }
        guard case .object(let members)? = fields["body"] else { throw Self.invalid("body", "an object") }
        let body = try ReportReader(.object(members))
        guard let code = Self.code(try body.text("type")) else { return nil }
        let (host, port) = try Self.place(try text("url"))
        var report = try body.report(
            code, host: host, port: port, weight: Self.weight(of: 1, at: body.fraction("sampling_fraction")))
        // The age is in milliseconds.
        if case .integer(let age)? = fields["age"] { report.begins = .before(max(0, age) / 1_000) }
        return report
    }

    /// Converts the types of Network Error Logging section 6.
    private static func code(_ type: [UInt8]) -> ClientReport.Code? {
        if type.elementsEqual("ok".utf8) { return .ok }
        if type.elementsEqual("tls.cert.pinned_key_not_in_cert_chain".utf8) { return .pins }
        if type.starts(with: "tls.cert.".utf8) { return .chain }
        return type.starts(with: "tls.".utf8) ? .other : nil
    }

    /// The host and port of a URL; its path is ignored.
    private static func place(_ url: [UInt8]) throws(ServerError) -> (host: String, port: Int64?) {
        let scheme = Array("https://".utf8)
        guard url.count <= 4_096, url.starts(with: scheme) else { throw invalid("url", "an address with https") }
        let authority = url.dropFirst(scheme.count).prefix { !"/?#".utf8.contains($0) }
        // IPv6 addresses contain colons in brackets.
        let end = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        let colon = authority[end...].firstIndex(of: UInt8(ascii: ":"))
        guard let colon else { return (try name(authority, "url"), 443) }
        guard let port = LineReader.number(authority[(colon + 1)...]), (1...65_535).contains(port) else {
            throw invalid("url", "a port of 1 to 65535")
        }
        return (try name(authority[..<colon], "url"), port)
    }

    // MARK: RFC 7469 section 3, and TrustKit

    private func pinFailure() throws(ServerError) -> ClientReport {
        guard fields["known-pins"] != nil || fields["validation-result"] != nil else {
            throw Self.invalid("report", "known-pins, as in RFC 7469 section 3, or an array of the Reporting API")
        }
        let port: Int64?
        switch fields["port"] {
        case nil: port = nil
        case .integer(let number)? where (0...65_535).contains(number): port = number
        default: throw Self.invalid("port", "0 to 65535")
        }
        var report = try report(
            try code(), host: try Self.name(try text("hostname"), "hostname"), port: port,
            weight: Self.weight(of: 1, at: fraction("sampling-fraction")))
        report.begins = Self.time(fields["date-time"])
        return report
    }

    /// Converts the results of TrustKit; a report of RFC 7469 is always about pins.
    private func code() throws(ServerError) -> ClientReport.Code {
        switch fields["validation-result"] {
        case nil, .integer(1)?: return .pins
        case .integer(0)?: return .ok
        case .integer(2)?: return .chain
        case .integer(3)?, .integer(4)?, .integer(5)?: return .other
        default: throw Self.invalid("validation-result", "0 to 5")
        }
    }

    // MARK: Common fields

    /// A time in UTC; nil for other formats of other programs.
    package static func time(_ value: CanonicalJSON?) -> ClientReport.Beginning? {
        guard case .text(let text)? = value else { return nil }
        return UTCText.decode(text).map { .time($0) }
    }

    private func report(
        _ code: ClientReport.Code, host: String, port: Int64?, weight: Int64
    ) throws(ServerError) -> ClientReport {
        ClientReport(
            // The code of Holdfast's own clients is more precise than these formats.
            code: try optionalText("failure").map(ClientReport.Code.init(failure:)) ?? code, host: host,
            notedHost: try optionalText("noted-hostname").map { text throws(ServerError) in
                try Self.name(text, "noted-hostname")
            },
            port: port, platform: ClientReport.Platform(try optionalText("app-platform") ?? []),
            appVersion: ClientReport.version(try optionalText("app-version") ?? []),
            documentVersion: try documentVersion(), weight: weight, isRated: fields["failure"] == nil,
            chain: try chain(), pins: try pins())
    }

    package func documentVersion() throws(ServerError) -> String {
        switch fields["document-version"] {
        case .integer(let number)?: return ClientReport.version("\(number)".utf8)
        default: return ClientReport.version(try optionalText("document-version") ?? [])
        }
    }

    /// The fraction of connections that are reported; 1 if missing in the report.
    package func fraction(_ field: String) throws(ServerError) -> Double {
        switch fields[field] {
        case nil: return 1
        case .integer(1)?: return 1
        case .text(let text)?:
            guard text.count <= 16, let fraction = Double(String(decoding: text, as: UTF8.self)), fraction > 0,
                fraction <= 1
            else { throw Self.invalid(field, "more than 0, at most 1") }
            return fraction
        default: throw Self.invalid(field, "more than 0, at most 1")
        }
    }

    /// The number of connections that a number of sampled reports represents.
    package static func weight(of count: Int64, at fraction: Double) -> Int64 {
        Int64(min(Double(ClientReport.maximumWeight), (Double(count) / fraction).rounded()))
    }

    /// The served chain takes precedence: a client may have built its path from other certificates. An unreadable chain
    /// may be the reason for the report, which counts without it.
    private func chain() throws(ServerError) -> CertificateChain? {
        let served = try certificates("served-certificate-chain")
        let validated = try certificates("validated-certificate-chain")
        return (served ?? validated).flatMap { try? CertificateChain($0) }
    }

    /// Certificates in PEM; nil if there are none or one is invalid.
    private func certificates(_ field: String) throws(ServerError) -> [[UInt8]]? {
        var certificates: [[UInt8]] = []
        for element in try elements(field, atMost: 16) {
            guard case .text(let text) = element, let blocks = PEMText.blocks("CERTIFICATE", of: text),
                blocks.count == 1
            else { return nil }
            certificates += blocks
        }
        return certificates.isEmpty ? nil : certificates
    }

    /// The pins with their roles and states, or only the pins if the report has no more.
    private func pins() throws(ServerError) -> [ClientReport.Pin] {
        guard fields["pins"] != nil else {
            return try elements("known-pins", atMost: Self.maximumCount).map { element throws(ServerError) in
                guard case .text(let text) = element else { throw Self.invalid("known-pins", "texts") }
                return ClientReport.Pin(text: try Self.word(text, "known-pins"))
            }
        }
        return try elements("pins", atMost: Self.maximumCount).map { element throws(ServerError) in
            let pin = try ReportReader(element)
            func word(_ field: String) throws(ServerError) -> String? {
                try pin.optionalText(field).map { text throws(ServerError) in try Self.word(text, field) }
            }
            guard let text = try word("pin") else { throw Self.invalid("pins", "objects with pin, role and state") }
            return ClientReport.Pin(text: text, role: try word("role"), state: try word("state"))
        }
    }

    private static func word(_ bytes: [UInt8], _ field: String) throws(ServerError) -> String {
        guard ASCIIText.isPrintable(bytes, 1...128) else { throw invalid(field, "1 to 128 printable characters") }
        return String(decoding: bytes, as: UTF8.self)
    }

    package func elements(_ field: String, atMost limit: Int) throws(ServerError) -> [CanonicalJSON] {
        guard let value = fields[field] else { return [] }
        guard case .array(let elements) = value, elements.count <= limit else {
            throw Self.invalid(field, "at most \(limit) elements")
        }
        return elements
    }

    package func text(_ field: String) throws(ServerError) -> [UInt8] {
        guard let text = try optionalText(field) else { throw Self.invalid(field, "a text") }
        return text
    }

    package func optionalText(_ field: String) throws(ServerError) -> [UInt8]? {
        guard let value = fields[field] else { return nil }
        guard case .text(let text) = value else { throw Self.invalid(field, "a text") }
        return text
    }

    /// A host name or pattern in lower case. It stays bytes until it is known to be short and ASCII.
    package static func name(_ bytes: some Collection<UInt8>, _ field: String) throws(ServerError) -> String {
        let lower = bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        guard ASCIIText.isName(lower, 1...255, others: ".-_*:[]") else { throw invalid(field, "the name of a host") }
        return String(decoding: lower, as: UTF8.self)
    }
}
