import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Subtrees of name constraints, RFC 5280 4.2.1.10")
struct SubtreeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let base: TestGeneralName
        let name: TestGeneralName
        let permits: Bool?
        let reaches: Bool?
        var testDescription: String { "\(name) under \(base)" }

        init(_ base: TestGeneralName, _ name: TestGeneralName, _ both: Bool?) { self.init(base, name, both, both) }
        init(_ base: TestGeneralName, _ name: TestGeneralName, _ permits: Bool?, _ reaches: Bool?) {
            (self.base, self.name, self.permits, self.reaches) = (base, name, permits, reaches)
        }
    }

    private static func read(_ name: TestGeneralName, sizes: [Int]) throws -> GeneralNameSlice {
        var reader = DERReader(name.der)
        return try GeneralNameSlice(try reader.next(), of: name.der, addressSizes: sizes)
    }

    private func expect(_ row: Row) throws {
        var work = 0
        let subtree = Subtree(try Self.read(row.base, sizes: [8, 32]), work: &work)
        let name = ConstrainedName(try Self.read(row.name, sizes: [4, 16]), work: &work)
        #expect(subtree.permits(name) == row.permits, "permits")
        #expect(subtree.reaches(name) == row.reaches, "reaches")
    }

    @Test(
        "DNS names",
        arguments: [
            Row(.dns("example.com"), .dns("example.com"), true),
            Row(.dns("example.com"), .dns("www.example.com"), true),
            Row(.dns("example.com"), .dns("a.b.EXAMPLE.com"), true),
            Row(.dns("EXAMPLE.COM"), .dns("www.example.com"), true),
            Row(.dns("example.com"), .dns("wwwexample.com"), false),
            Row(.dns("example.com"), .dns("example.com.evil.org"), false),
            Row(.dns("example.com"), .dns("com"), false), Row(.dns("www.example.com"), .dns("example.com"), false),
            Row(.dns(""), .dns("example.com"), true), Row(.dns(""), .dns("com"), true),
            // with a leading period: what is below, not the domain itself
            Row(.dns(".example.com"), .dns("www.example.com"), true),
            Row(.dns(".example.com"), .dns("example.com"), false),
            Row(.dns(".example.com"), .dns("wwwexample.com"), false), Row(.dns("."), .dns("example.com"), true),
            // a malformed name is in no permitted subtree
            Row(.dns("example.com"), .dns(".example.com"), false, true),
            // no bases at all
            Row(.dns("*.example.com"), .dns("www.example.com"), nil), Row(.dns("*"), .dns("www.example.com"), nil),
            Row(.dns("example.com."), .dns("www.example.com"), nil),
            Row(.dns("example..com"), .dns("www.example.com"), nil),
            Row(.dns("..example.com"), .dns("www.example.com"), nil),
            Row(.dns(" example.com"), .dns("www.example.com"), nil),
            Row(.dns("example.com\u{0}"), .dns("www.example.com"), nil),
        ])
    func dns(row: Row) throws { try expect(row) }

    @Test(
        "A wildcard is permitted when all it stands for is, and reaches where any of it does",
        arguments: [
            Row(.dns("example.com"), .dns("*.example.com"), true),
            Row(.dns("example.com"), .dns("*.www.example.com"), true),
            Row(.dns("EXAMPLE.com"), .dns("*.example.COM"), true),
            Row(.dns("www.example.com"), .dns("*.example.com"), false, true),
            Row(.dns("a.www.example.com"), .dns("*.example.com"), false),
            Row(.dns("WWW.example.com"), .dns("*.EXAMPLE.com"), false, true),
            Row(.dns("www.example.com"), .dns("*.example.org"), false),
            Row(.dns(".example.com"), .dns("*.example.com"), true),
            Row(.dns(".www.example.com"), .dns("*.example.com"), false),
            Row(.dns("example.com"), .dns("*.com"), false, true), Row(.dns("example.com"), .dns("*.org"), false),
            Row(.dns("com"), .dns("*.com"), true), Row(.dns(""), .dns("*.example.com"), true),
            Row(.dns("."), .dns("*.example.com"), true),
            Row(.dns(""), .dns("*.com"), true), Row(.dns("com"), .dns("*.example.com"), true),
        ])
    func wildcards(row: Row) throws { try expect(row) }

    @Test(
        "Addresses",
        arguments: [
            Row(.address([10, 0, 0, 0, 255, 0, 0, 0]), "10.1.2.3", true),
            Row(.address([10, 0, 0, 0, 255, 0, 0, 0]), "11.1.2.3", false),
            Row(.address([10, 1, 2, 3, 255, 0, 0, 0]), "10.9.9.9", true),
            Row(.address([192, 0, 2, 128, 255, 255, 255, 128]), "192.0.2.127", false),
            Row(.address([192, 0, 2, 128, 255, 255, 255, 128]), "192.0.2.255", true),
            Row(.address([0, 0, 0, 0, 0, 0, 0, 0]), "203.0.113.9", true),
            Row(.address([1, 2, 3, 4, 255, 255, 255, 255]), "1.2.3.4", true),
            Row(.address([1, 2, 3, 4, 255, 255, 255, 255]), "1.2.3.5", false),
            Row(.address([UInt8](repeating: 0, count: 8)), "::1", false),
            Row(.address([UInt8](repeating: 0, count: 32)), "192.0.2.1", false),
            Row(.address([UInt8](repeating: 0, count: 32)), "::1", true),
            Row(
                .address(
                    [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 12) + [255, 255, 255, 255]
                        + [UInt8](repeating: 0, count: 12)), "2001:db8::1", true),
            Row(
                .address(
                    [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 12) + [255, 255, 255, 255]
                        + [UInt8](repeating: 0, count: 12)), "2001:db9::1", false),
            // masks with holes
            Row(.address([10, 0, 0, 0, 255, 0, 255, 0]), "10.0.0.1", nil),
            Row(.address([10, 0, 0, 0, 254, 255, 0, 0]), "10.0.0.1", nil),
            Row(.address([10, 0, 0, 0, 0, 0, 0, 1]), "10.0.0.1", nil),
            Row(.address([10, 0, 0, 0, 0xFD, 0, 0, 0]), "10.0.0.1", nil),
            Row(.address([10, 0, 0, 0, 255, 0, 255, 0]), "::1", nil),
        ])
    func addresses(row: Row) throws { try expect(row) }

    @Test(
        "Mailboxes",
        arguments: [
            Row(.email("example.com"), .email("a@example.com"), true),
            Row(.email("example.com"), .email("a@EXAMPLE.com"), true),
            Row(.email("example.com"), .email("a@www.example.com"), false),
            Row(.email(".example.com"), .email("a@www.example.com"), true),
            Row(.email(".example.com"), .email("a@example.com"), false),
            Row(.email("a@example.com"), .email("a@Example.com"), true),
            Row(.email("a@example.com"), .email("A@example.com"), false),
            Row(.email("a@example.com"), .email("b@example.com"), false),
            Row(.email(""), .email("a@example.com"), true), Row(.email("example.com"), .email("example.com"), nil),
            Row(.email("example.com"), .email("a@b@example.com"), nil),
            Row(.email("example.com"), .email("@example.com"), nil),
            Row(.email("example.com"), .email("a@"), nil), Row(.email("@example.com"), .email("a@example.com"), nil),
            Row(.email("a@"), .email("a@example.com"), nil), Row(.email("example.com"), .email(""), nil),
        ])
    func mailboxes(row: Row) throws { try expect(row) }

    @Test(
        "URIs go by their host",
        arguments: [
            Row(.uri("example.com"), .uri("https://example.com/x"), true),
            Row(.uri("example.com"), .uri("https://EXAMPLE.com:8443"), true),
            Row(.uri("example.com"), .uri("https://www.example.com"), false),
            Row(.uri(".example.com"), .uri("https://www.example.com?q"), true),
            Row(.uri(".example.com"), .uri("https://example.com"), false),
            Row(.uri("example.com"), .uri("https://evil.org/example.com"), false),
            Row(.uri("example.com"), .uri("https://example.com@evil.org"), false),
            Row(.uri("evil.org"), .uri("https://example.com@evil.org#x"), true),
            Row(.uri("evil.org"), .uri("https://a@b@evil.org:1/"), true),
            Row(.uri("example.com"), .uri("urn:example:com"), nil),
            Row(.uri("example.com"), .uri("https:/example.com"), nil), Row(.uri("example.com"), .uri("https://"), nil),
            Row(.uri("example.com"), .uri(""), nil), Row(.uri("example.com"), .uri(":"), nil),
            Row(.uri("example.com"), .uri("https:///x"), nil),
            Row(.uri("example.com"), .uri("https://192.0.2.1/"), nil),
            Row(.uri("example.com"), .uri("https://[::1]/"), nil),
        ])
    func uris(row: Row) throws { try expect(row) }

    @Test(
        "Directory names",
        arguments: [
            Row(.directory("a"), .directory("A"), true), Row(.directory("a"), .directory("b"), false),
            Row(.directory(.empty), .directory("b"), true),
            Row(
                .directory("a"),
                .directory(TestName([.init(.commonName, "a", as: .printable), .init(.organization, "b")])), true),
            Row(.directory("a"), .raw(0xA4, [0x30, 2, 5, 0]), nil),
            Row(.raw(0xA4, [0x30, 2, 5, 0]), .directory("a"), nil),
        ])
    func directoryNames(row: Row) throws { try expect(row) }

    @Test("Forms that are not processed are never said to be inside or outside")
    func others() throws {
        for tag in [0xA0, 0xA3, 0xA5, 0x88] as [UInt8] { try expect(Row(.raw(tag, [1]), .raw(tag, [1]), nil)) }
        try expect(Row(.dns("a"), .email("a@a"), nil))
    }
}
