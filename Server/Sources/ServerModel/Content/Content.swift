package import ServerFoundation

/// The published data of an app in one canonical form (`holdfast-content-v1`): the same content has the same bytes, so
/// people approve its digest. `docs/vectors` describes every field.
///
/// Documents are made from it repeatedly, for a new time or challenge, without another approval: it contains all their
/// data except times and signatures.
package struct Content: Sendable, Hashable {
    /// The app.
    package let app: AppName
    /// The hosts, sorted by name and port.
    package let hosts: [ContentHost]
    /// The published formats, sorted.
    package let formats: [ContentFormat]
    /// The domains of challenge answers, for hosts without pins; nil for none.
    package let domains: ContentDomains?
    /// The last second at which documents of this content may be signed, in seconds since 1970.
    package let end: Int64

    /// The canonical bytes.
    package let bytes: [UInt8]

    /// The digest that approvals name.
    package let digest: Digest

    /// Maximum size, that of the largest list that a client reads.
    package static let maximumSize = 8 << 20
    private static let name = "holdfast-content-v1"

    /// Makes a content.
    /// - Throws: ``ServerError`` `invalidValue` for a duplicate host or format.
    package init(
        app: AppName, hosts: [ContentHost], formats: [ContentFormat], domains: ContentDomains? = nil,
        end: Int64
    ) throws(ServerError) {
        self.app = app
        self.hosts = try Self.sorted(hosts, "hosts", \.sortingKey)
        self.formats = try Self.sorted(formats, "formats", \.sortingKey)
        self.domains = domains
        guard let until = UTCText.encode(end) else {
            throw ServerError(.invalidValue, of: "end", expected: "a time from 1970 to 9999", found: "\(end)")
        }
        self.end = end
        var members: [String: CanonicalJSON] = [
            "format": .text(Self.name), "app": .text("\(app)"), "end": .text(until),
            "hosts": .array(self.hosts.map(\.json)), "formats": .array(self.formats.map(\.json)),
        ]
        if let domains { members["domains"] = domains.json }
        bytes = CanonicalJSON.object(members).bytes
        digest = Digest(of: bytes)
        guard bytes.count <= Self.maximumSize else {
            throw ServerError(
                .invalidValue, of: "content", expected: "at most \(Self.maximumSize) bytes",
                found: "\(bytes.count)")
        }
    }

    /// Reads a content.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, for any spelling but the canonical one.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        let value = try CanonicalJSONReader.read(bytes, "content", limit: Self.maximumSize)
        var fields = try JSONFields(value, "")
        try fields.text("format", Self.name) { $0.elementsEqual(Self.name.utf8) ? () : nil }
        let app = try fields.text("app", "the name of an app") { AppName(bytes: $0) }
        let end = try fields.text("end", "a time such as 2026-11-24T12:00:00Z") { UTCText.decode($0) }
        let hosts = try fields.array("hosts", atMost: 10_000, ContentHost.init(reading:_:))
        let formats = try fields.array("formats", atMost: 64, ContentFormat.init(reading:_:))
        let domains = try fields.optional("domains").map { value throws(ServerError) in
            try ContentDomains(reading: value, "domains")
        }
        try fields.finish()
        try self.init(app: app, hosts: hosts, formats: formats, domains: domains, end: end)
        // Rejects unsorted lists.
        guard self.bytes == bytes else {
            throw ServerError(.malformed, of: "content", expected: "the one spelling", found: "another")
        }
    }

    /// Sorts a list of a content, and rejects duplicates.
    package static func sorted<Element>(
        _ elements: [Element], _ field: String, _ key: (Element) -> [UInt8]
    ) throws(ServerError) -> [Element] {
        guard elements.count > 1 else { return elements }
        let keyed = elements.map { (key: key($0), element: $0) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        for (first, second) in zip(keyed, keyed.dropFirst()) where first.key == second.key {
            throw ServerError(.invalidValue, of: field, expected: "each of them once", found: "one twice")
        }
        return keyed.map(\.element)
    }
}
