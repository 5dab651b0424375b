import Foundation
import Holdfast
import HoldfastPublishing
import Testing

@Suite("The list of hosts of a trust server")
struct TrustServerHostListTests {
    private static func hosts(_ text: String, limits: DocumentLimits = DocumentLimits()) throws -> [DialedHost] {
        try TrustServerHostList(Data(text.utf8), named: "acme.domains", limits: limits).hosts
    }

    @Test("Each host is there once, in its order, with 443 where no port is stated; comments and empty lines are none")
    func reading() throws {
        let text = """
            # the shop
            www.example.com
            \t[2001:db8::1]:8443  # a spare
            WWW.example.com:443\r

            b\u{FC}cher.example:8443\r
            192.0.2.1
            """
        let expected = try [
            DialedHost("www.example.com", port: 443), DialedHost("2001:db8::1", port: 8_443),
            DialedHost("xn--bcher-kva.example", port: 8_443), DialedHost("192.0.2.1", port: 443),
        ]
        #expect(try Self.hosts(text) == expected)
    }

    @Test(
        "What is no host is refused with its line, which is not repeated",
        arguments: [
            "a.example.com:99999", "127.1:443", "a b", "a.example.com:x", "https://",
            String(repeating: "a", count: 3_000),
            // The Base64 of a private key, as `export-private` writes it, where it has neither + nor /.
            "AIkppYS5N2mQ7yHzb3EP5QUwTGPY23SfVaoGpSAZZDfN",
        ])
    func refused(line: String) throws {
        let error = #expect(throws: PublishingError.self) { try Self.hosts("a.example.com\n\(line)\n") }
        #expect(error?.code == .unreadable && error?.subject == "acme.domains, line 2")
        #expect(error.map { !$0.description.contains(line) } == true)
    }

    @Test("A list of no host, and one of more than clients take, is refused")
    func amounts() throws {
        for text in ["", "# nothing\n\n", " \r\n"] {
            #expect(throws: PublishingError.self) { try Self.hosts(text) }
        }
        var limits = DocumentLimits()
        limits.entries = 2
        let two = "a.example.com\nb.example.com\na.example.com\n"
        #expect(try Self.hosts(two, limits: limits).count == 2)
        #expect(throws: PublishingError.self) { try Self.hosts(two + "c.example.com\n", limits: limits) }
    }
}
