/// Everything that a change publishes for an app, in one canonical form (`holdfast-content-v1`): the same content has the
/// same bytes, so its digest is what people approve. `docs/vectors` has every field.
///
/// Documents are made from it again and again, for a new time or challenge, without another approval: it has all that
/// they say except times and signatures.
public struct Content: Sendable, Hashable {
    /// The app.
    public let app: AppName
    /// The hosts, sorted by name and port.
    public let hosts: [ContentHost]
    /// The formats that are published, sorted.
    public let formats: [ContentFormat]
    /// What challenge answers say about hosts without pins; nil to say nothing.
    public let domains: ContentDomains?
    /// The last second at which documents of this content may be signed, in seconds since 1970.
    public let end: Int64

    /// The canonical bytes.
    public let bytes: [UInt8]

    /// What approvals name.
    public let digest: Digest

    /// As large as the largest list that a client reads.
    public static let maximumSize = 8 << 20
    private static let name = "holdfast-content-v1"

    /// Puts a content together.
    /// - Throws: ``ServerError`` `invalidValue` for a host or a format that is there twice.
    public init(
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
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, for everything that is not spelled as it is written.
    public init(_ bytes: [UInt8]) throws(ServerError) {
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
        // Refuses lists that are not sorted.
        guard self.bytes == bytes else {
            throw ServerError(.malformed, of: "content", expected: "the one spelling", found: "another")
        }
    }

    /// Sorts what a content lists, and refuses what is there twice.
    static func sorted<Element>(
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
