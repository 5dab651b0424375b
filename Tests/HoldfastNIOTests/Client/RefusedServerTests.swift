import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

@Suite("A server that is refused", .timeLimit(.minutes(15)))
struct RefusedServerTests {
    @Test(
        "as a machine in the middle with a certificate of the same authority, under pinning and only then",
        arguments: [TLSVersion.tlsv12, .tlsv13])
    func machineInTheMiddle(version: TLSVersion) async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let impostor = try setting.issuing.impersonate(leaf)
        try await withLoopbackTLSServer(serving: impostor, options: .only(version)) { server in
            let pinned = try setting.client(for: "www.example.com", pins: [try leaf.publicKeyPin()])
            try await expectRefusal(try await ClientAttempt.make(pinned, at: server), .pinMismatch, at: server)
            let unpinned = try setting.client(for: "www.example.com")
            expectTrust(try await ClientAttempt.make(unpinned, at: server))
        }
    }

    @Test("although a pinned certificate is appended to its chain")
    func appendedPin() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let impostor = try setting.issuing.impersonate(leaf)
        try await withLoopbackTLSServer(chain: impostor.chain + [leaf.der], key: impostor.key) { server in
            let client = try setting.client(for: "www.example.com", pins: [try leaf.publicKeyPin()])
            try await expectRefusal(try await ClientAttempt.make(client, at: server), .pinMismatch, at: server)
        }
    }

    @Test(
        "because it is expired, self-signed, of another authority or for another name",
        arguments: [
            ("expired", TrustFailure.Code.expired), ("self-signed", .unknownIssuer), ("stranger", .unknownIssuer),
            ("other name", .hostNameMismatch),
        ], [TLSVersion.tlsv12, .tlsv13])
    func plainFaults(fault: (String, TrustFailure.Code), version: TLSVersion) async throws {
        let setting = try ClientSetting()
        let names: [TestGeneralName] = ["www.example.com"]
        let certificate =
            switch fault.0 {
            case "expired": try setting.issuing.leaf(names: names) { $0.notAfter = .hours(-1) }
            case "self-signed": try TestAuthority.selfSigned(names: names)
            case "stranger": try TestAuthority.root(name: "Stranger").leaf(names: names)
            default: try setting.issuing.leaf(names: ["www.example.net"])
            }
        try await withLoopbackTLSServer(serving: certificate, options: .only(version)) { server in
            let attempt = try await ClientAttempt.make(try setting.client(for: "www.example.com"), at: server)
            try await expectRefusal(attempt, fault.1, at: server)
            let description = attempt.failures.first?.description ?? ""
            #expect(description.contains("www.example.com"))
            #expect(description.contains(try certificate.publicKeyPin().description))
        }
    }

    @Test(
        "learns nothing of what was written, and what it says is not delivered",
        arguments: [TLSVersion.tlsv12, .tlsv13])
    func greetingIsHeldBack(version: TLSVersion) async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.net"])
        var options = LoopbackTLSServer.Options.only(version)
        options.behavior = .greeting(Array("not for you".utf8))
        try await withLoopbackTLSServer(serving: leaf, options: options) { server in
            let attempt = try await ClientAttempt.make(try setting.client(for: "www.example.com"), at: server)
            try await expectRefusal(attempt, .hostNameMismatch, at: server)
        }
    }

    @Test("does not decide for another connection of the same client")
    func independence() async throws {
        let setting = try ClientSetting()
        let good = try setting.issuing.leaf(names: ["www.example.com"])
        let bad = try setting.issuing.leaf(names: ["www.example.net"])
        try await withLoopbackTLSServer(serving: good) { first in
            try await withLoopbackTLSServer(serving: bad) { second in
                let client = try setting.client(for: "www.example.com")
                async let trusted = ClientAttempt.make(client, at: first)
                async let refused = ClientAttempt.make(client, at: second)
                expectTrust(try await trusted)
                try await expectRefusal(try await refused, .hostNameMismatch, at: second)
            }
        }
    }
}
