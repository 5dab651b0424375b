import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

@Suite("The host that was dialed", .timeLimit(.minutes(15)))
struct ServerIdentityTests {
    @Test("is what the certificate must name: one for the socket's address alone is refused")
    func goodForTheAddressOnly() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["127.0.0.1"])
        try await withLoopbackTLSServer(serving: leaf) { server in
            let attempt = try await ClientAttempt.make(try setting.client(for: "wrong.example"), at: server)
            try await expectRefusal(attempt, .hostNameMismatch, at: server)
            #expect(server.statistics.lastServerName == "wrong.example")
        }
    }

    @Test("when it is an IPv4 address, is not named in the handshake and is found as an iPAddress")
    func address() async throws {
        let setting = try ClientSetting()
        try await withLoopbackTLSServer(serving: try setting.issuing.leaf(names: ["127.0.0.1"])) { server in
            expectTrust(try await ClientAttempt.make(try setting.client(for: "127.0.0.1"), at: server))
            #expect(server.statistics.lastServerName == nil)
        }
        let textual = try setting.issuing.leaf(names: [.dns("127.0.0.1")])
        try await withLoopbackTLSServer(serving: textual) { server in
            let attempt = try await ClientAttempt.make(try setting.client(for: "127.0.0.1"), at: server)
            try await expectRefusal(attempt, .hostNameMismatch, at: server)
        }
    }

    @Test("when it is an address, is not the socket's: another one is refused")
    func otherAddress() async throws {
        let setting = try ClientSetting()
        try await withLoopbackTLSServer(serving: try setting.issuing.leaf(names: ["127.0.0.1"])) { server in
            let attempt = try await ClientAttempt.make(try setting.client(for: "192.0.2.1"), at: server)
            try await expectRefusal(attempt, .hostNameMismatch, at: server)
        }
    }

    @Test("when it is an IPv6 address, is found as its sixteen octets")
    func addressOfVersion6() async throws {
        let setting = try ClientSetting()
        try await withLoopbackTLSServer(serving: try setting.issuing.leaf(names: ["2001:db8::1"])) { server in
            expectTrust(try await ClientAttempt.make(try setting.client(for: "[2001:DB8:0::1]"), at: server))
            #expect(server.statistics.lastServerName == nil)
        }
    }

    @Test(
        "is one name however it is written",
        arguments: [
            ("www.example.com.", "www.example.com"), ("WWW.Example.COM", "www.example.com"),
            ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.example.", "xn--bcher-kva.example"),
        ])
    func spellings(host: (String, String)) async throws {
        let setting = try ClientSetting()
        try await withLoopbackTLSServer(serving: try setting.issuing.leaf(names: [.dns(host.1)])) { server in
            expectTrust(try await ClientAttempt.make(try setting.client(for: host.0), at: server))
            #expect(server.statistics.lastServerName == host.1)
        }
    }

    @Test("in Unicode is not one that merely looks like it")
    func lookalike() async throws {
        let setting = try ClientSetting()
        try await withLoopbackTLSServer(serving: try setting.issuing.leaf(names: ["bucher.example"])) { server in
            let attempt = try await ClientAttempt.make(try setting.client(for: "bücher.example"), at: server)
            try await expectRefusal(attempt, .hostNameMismatch, at: server)
        }
    }

    @Test("is not identified by a common name")
    func commonName() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: [], subject: .commonName("www.example.com"))
        try await withLoopbackTLSServer(serving: leaf) { server in
            let attempt = try await ClientAttempt.make(try setting.client(for: "www.example.com"), at: server)
            try await expectRefusal(attempt, .noSubjectAlternativeName, at: server)
        }
    }
}
