import AsyncHTTPClient
import Holdfast
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("A request goes out", .timeLimit(.minutes(15)))
struct DecisionTests {
    @Test(
        "to a server that standard validation trusts; the first sight of it costs a second connection, later ones none")
    func handshakes() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(
            try setting.leaf(), answer: { .init(headers: $0.uri == "/close" ? ["connection": "close"] : [:]) }
        ) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                try await origin.expectHandshakes(1)
                #expect(origin.counters.accepted == 2)
                #expect(origin.counters.serverName == "www.example.com")
                try await client.expectAnswer(origin.url("/close"))
                try await origin.waitForDisconnection()
                try await client.expectAnswer(origin.url())
                try await origin.expectHandshakes(2)
                #expect(origin.counters.accepted == 3)
            }
            try await origin.waitForDisconnection()
        }
    }

    @Test("under pins: of the leaf, and of an issuer that the pool's connection does not show")
    func pins() async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        try await withOrigin(leaf) { origin in
            for pinned in [leaf, setting.issuing.certificate, setting.root.certificate] {
                try setting.trust("www.example.com", pins: [try pinned.publicKeyPin()])
                let text = try await setting.withClient { try await $0.text(origin.url()) }
                #expect(text == "ok")
            }
        }
    }

    @Test("never to a machine in the middle with a certificate of the same authority")
    func machineInTheMiddle() async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        try setting.trust("www.example.com", pins: [try leaf.publicKeyPin()])
        try await withOrigin(try setting.issuing.impersonate(leaf)) { origin in
            try await setting.withClient { client in
                let failure = await client.refusal(origin.url())
                #expect(failure?.code == .pinMismatch)
                #expect(failure?.chain?.certificates.count == 2)
                try await expectNoRequest(origin)
            }
        }
    }

    @Test(
        "never to a server that is expired, self-signed, of a stranger, or for another name, and the reason is told",
        arguments: [
            ("expired", TrustFailure.Code.expired), ("self-signed", .unknownIssuer), ("stranger", .unknownIssuer),
            ("other name", .hostNameMismatch), ("address of the socket", .hostNameMismatch),
        ])
    func plainFaults(fault: String, code: TrustFailure.Code) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let names: [TestGeneralName] = ["www.example.com"]
        let certificate =
            switch fault {
            case "expired": try setting.leaf { $0.notAfter = .hours(-1) }
            case "self-signed": try TestAuthority.selfSigned(names: names)
            case "stranger": try TestAuthority.root(name: "Stranger").leaf(names: names)
            // NIOSSL takes the address of the socket for the host.
            case "address of the socket": try setting.leaf("127.0.0.1")
            default: try setting.leaf("www.example.net")
            }
        try await withOrigin(certificate) { origin in
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url())?.code == code)
                try await expectNoRequest(origin)
            }
        }
    }

    @Test("never to a host without a policy, which is not even connected to, unless standard validation may decide")
    func unknownHost() async throws {
        let setting = try HTTPSetting()
        try setting.trust("api.example.com")
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url())?.code == .noPolicyForHost)
                #expect(origin.counters.accepted == 0)
            }
            let text = try await setting.withClient(unknownHosts: .standardValidation) {
                try await $0.text(origin.url())
            }
            #expect(text == "ok")
        }
    }

    @Test("never without TLS to a host whose policy asks for a certificate")
    func plaintext() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        setting.manager.add(policy: CustomPolicy(host: try HostPattern("api.example.com")) { _ in true })
        var options = TestOrigin.Options()
        options.isPlain = true
        try await withOrigin(nil, options: options) { origin in
            try await setting.withClient(unknownHosts: .standardValidation) { client in
                #expect(await client.refusal(origin.url(scheme: "http"))?.code == .noTrust)
                #expect(await client.refusal(origin.url(host: "other.example.net", scheme: "http")) != nil)
                #expect(origin.counters.accepted == 0)
                try await client.expectAnswer(origin.url(host: "api.example.com", scheme: "http"))
            }
        }
    }

    @Test(
        "to the host that was dialed, however it is spelled",
        arguments: ["WWW.Example.COM", "www.example.com.", "user:secret@www.example.com"])
    func spelling(host: String) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url("/a%20b?c=%2F", host: host))
                #expect(origin.counters.serverName == "www.example.com")
                #expect(origin.counters.requests.map(\.uri) == ["/a%20b?c=%2F"])
            }
        }
    }

    @Test("to a name in Unicode, as its A-label")
    func unicode() async throws {
        let setting = try HTTPSetting()
        try setting.trust("münchen.example.com")
        try await withOrigin(try setting.leaf("xn--mnchen-3ya.example.com")) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url(host: "münchen.example.com"))
                #expect(origin.counters.serverName == "xn--mnchen-3ya.example.com")
            }
        }
    }

    @Test("to an address, which sends no name and must be in the certificate")
    func address() async throws {
        let setting = try HTTPSetting()
        try setting.trust("127.0.0.1")
        try await withOrigin(try setting.leaf("127.0.0.1")) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url(host: "127.0.0.1"))
                #expect(origin.counters.serverName == nil)
            }
        }
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url(host: "127.0.0.1"))?.code == .hostNameMismatch)
                try await expectNoRequest(origin)
            }
        }
    }

    @Test("A URL that is refused is named without its user, password, path and query, and quoted")
    func namedURL() throws {
        for text in [
            "ftp://user:hunter2@www.example.com/hunter2", "ftp://www.example.com/\nhunter2",
            "wss:hunter2@www.example.com",
            "https://user:hunter2@/", "https://user:hunter2@www.ex ample.com/?hunter2",
            "https://www.example.com:hunter2/",
            "https://user:hunter2@%77ww.example.com/\u{1B}", "/hunter2", "//user:hunter2@www.example.com",
        ] {
            do {
                _ = try RequestTarget(text, origins: KnownOrigins(capacity: 1))
                Issue.record("\(text) is no URL to ask")
            } catch {
                #expect(!"\(error)".contains("hunter2") && !"\(error)".utf8.contains { $0 < 0x20 }, "\(error)")
            }
        }
    }

    @Test("not for a URL without a host or of another scheme", arguments: ["/path", "ftp://www.example.com/", ""])
    func badURL(url: String) async throws {
        let setting = try HTTPSetting()
        try await setting.withClient { client in
            #expect(await client.clientError(url) == .urlRefused)
        }
    }
}
