import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel

@Suite("Canonical content")
struct ContentTests {
    static func content(end: Int64 = Story.end) throws -> Content {
        try Content(
            app: AppName("bank"),
            hosts: [
                ContentHost(
                    name: "api.example.com",
                    certificates: [
                        .init(fingerprint: Digest(of: "issuer".utf8), depth: 1, expires: 1_900_000_000),
                        .init(fingerprint: Digest(of: "leaf".utf8), expires: 1_800_000_000),
                    ],
                    keys: [
                        .init(pin: Digest(of: "key".utf8)), .init(pin: Digest(of: "backup".utf8), state: .backup),
                        .init(pin: Digest(of: "ca".utf8), role: .issuer, state: .retiring),
                    ]),
                ContentHost(name: "*.example.com", port: 8443), ContentHost(name: "*.example.com", port: 443),
            ],
            formats: [
                ContentFormat(.trustServer, refresh: 300, customer: "gcx"), ContentFormat(.challenge, refresh: 60),
                ContentFormat(.list, refresh: 86_400),
                ContentFormat(
                    .repository, refresh: 21_600, root: Digest(of: "the first root".utf8),
                    application: "com.example.bank"),
            ],
            domains: ContentDomains(
                unlistedNeedPins: true,
                domains: [
                    .init(name: "cdn.example.com", needsPins: false), .init(name: "api.example.com", needsPins: true),
                ]),
            end: end)
    }

    @Test("The same content has the same bytes, in whatever order it was put together, and reads as itself")
    func canonical() throws {
        let content = try Self.content()
        let again = try Content(
            app: content.app, hosts: content.hosts.reversed(), formats: content.formats.reversed(),
            domains: content.domains, end: content.end)
        #expect(again.bytes == content.bytes)
        #expect(again.digest == content.digest)
        #expect(try Content(content.bytes) == content)
        #expect(
            content.hosts.map { "\($0.name):\($0.port)" } == [
                "*.example.com:443", "*.example.com:8443", "api.example.com:443",
            ])
        let other = try Self.content(end: Story.end + 1)
        #expect(other.digest != content.digest)
    }

    @Test("A content with anything else in it, or in another order, is refused")
    func refused() throws {
        let text = String(decoding: try Self.content().bytes, as: UTF8.self)
        let replacements = [
            ("holdfast-content-v1", "holdfast-content-v2"), ("{\"app\"", "{\"_\":1,\"app\""),
            ("\"port\":443", "\"port\":0"),
            ("\"port\":443", "\"port\":65536"), (",\"port\":443", ""),
            ("\"state\":\"backup\"", "\"state\":\"unknown\""),
            ("\"role\":\"issuer\"", "\"role\":\"root\""), ("\"kind\":\"list\"", "\"kind\":\"lists\""),
            ("\"depth\":1,", "\"depth\":0,"),
            ("\"customer\":\"gcx\",", ""), ("\"kind\":\"list\"", "\"customer\":\"x\",\"kind\":\"list\""),
            ("\"refresh\":60", "\"refresh\":59"), ("api.example.com", "API.example.com"),
            ("api.example.com", "api..example.com"), ("api.example.com", "a*i.example.com"),
            ("\"unlistedNeedPins\":true", "\"unlistedNeedPins\":1"),
            ("\"port\":8443", "\"port\":443"),
            (",\"root\":\"", ",\"root\":\"0"),
            ("\"refresh\":86400", "\"refresh\":86400,\"root\":\"\(Digest(of: []))\""),
        ]
        for (part, other) in replacements {
            let damaged = text.replacing(part, with: other)
            #expect(damaged != text, "\(part)")
            #expect(throws: ServerError.self, "\(part) → \(other)") { try Content(Array(damaged.utf8)) }
        }
        // Sorted otherwise.
        let first = "{\"kind\":\"challenge\",\"refresh\":60}"
        let second = "{\"kind\":\"list\",\"refresh\":86400}"
        #expect(text.contains("\(first),\(second)"))
        expectError(.malformed) {
            try Content(Array(text.replacing("\(first),\(second)", with: "\(second),\(first)").utf8))
        }
    }

    @Test("What is there twice is refused")
    func twice() throws {
        let host = try ContentHost(name: "a.example")
        expectError(.invalidValue) { try Content(app: AppName("bank"), hosts: [host, host], formats: [], end: 0) }
        let fingerprint = try ContentHost.Certificate(fingerprint: Digest(of: []), expires: 1)
        let later = try ContentHost.Certificate(fingerprint: Digest(of: []), expires: 2)
        expectError(.invalidValue) { try ContentHost(name: "a.example", certificates: [fingerprint, later]) }
    }

    @Test("A damaged content is refused, or is another content in its one spelling")
    func campaign() throws {
        let bytes = try Self.content().bytes
        var generator = SeededGenerator(seed: 4)
        defer { noteCampaign(of: mutants(inPartsOf: 2)) }
        for _ in 0..<mutants(inPartsOf: 2) {
            let damaged = mutated(bytes, &generator)
            guard let read = try? Content(damaged) else { continue }
            #expect(read.bytes == damaged)
        }
    }
}
