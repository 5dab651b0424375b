import Foundation
import HoldfastProbe
import HoldfastTesting
import Testing

@testable import ServerFoundation
@testable import ServerHTTP

@Suite("TLS and addresses of listeners", .timeLimit(.minutes(5)))
struct ListenerTLSTests {
    @Test(
        "curl talks to it, a renewed certificate is taken without a stop, and a broken one changes nothing",
        .needs(.program("curl")))
    func renewal() async throws {
        let site = try ServingSite()
        let list = [UInt8](repeating: 0x61, count: 300_000)
        site.publish(documents: ["lists/bank.json": ServingSite.document(list)])
        let (old, new) = (try TestAuthority.root(name: "Old Root"), try TestAuthority.root(name: "New Root"))
        try await withFolder { folder in
            let (chain, key) = (folder.appending(path: "chain.pem"), folder.appending(path: "key.pem"))
            func install(_ authority: TestAuthority) throws {
                let leaf = try authority.leaf(names: [.dns("localhost")])
                try Data(leaf.pem.utf8).write(to: chain)
                let base64 = Data(leaf.key.privateKeyDER).base64EncodedString(options: .lineLength64Characters)
                let pem = "-----BEGIN PRIVATE KEY-----\n\(base64)\n-----END PRIVATE KEY-----\n"
                try Data(pem.utf8).write(to: key)
                try Data(authority.certificate.pem.utf8).write(to: folder.appending(path: "root.pem"))
            }
            try install(old)
            let identity = try TLSIdentity(certificates: chain, key: key)
            let settings = try ListenerSettings(host: "127.0.0.1", port: 0, identity: identity)
            try await site.listening(settings) { port in
                func fetch() async throws -> (status: Int32, output: Data) {
                    try await ForeignProgram.run(
                        "curl",
                        [
                            "-sS", "--cacert", "root.pem", "--connect-to", "localhost:443:127.0.0.1:\(port)",
                            "https://localhost/lists/bank.json",
                        ], in: folder)
                }
                let first = try await fetch()
                #expect(first.status == 0 && Array(first.output) == list)
                let head = try await ForeignProgram.run(
                    "curl",
                    [
                        "-sS", "-D", "-", "-o", "/dev/null", "--cacert", "root.pem", "--connect-to",
                        "localhost:443:127.0.0.1:\(port)", "https://localhost/lists/bank.json",
                    ], in: folder)
                // RFC 6797 7.2: over TLS, and never without.
                #expect(String(decoding: head.output, as: UTF8.self).contains("Strict-Transport-Security: max-age="))
                try install(new)
                #expect(try await fetch().status == 60)
                try identity.reload()
                let second = try await fetch()
                #expect(second.status == 0 && Array(second.output) == list)
                try Data("nothing".utf8).write(to: chain)
                let error = expectError(.file) { try identity.reload() }
                #expect(error?.subject == chain.path)
                #expect(try await fetch().status == 0)
            }
        }
    }

    private static func prefix(_ text: String) throws -> SourcePrefix { SourcePrefix(try IPAddress(text)) }

    @Test(
        "A source begins handshakes at a rate of its own: what a flood costs is counted, and nobody else waits for it")
    func handshakes() throws {
        var limits = ListenerLimits()
        limits.handshakesPerSecond = 50
        limits.handshakesAtOnce = 256
        let counters = ListenerCounters()
        let table = ConnectionTable(limits, speaksTLS: true, counters)
        let (flood, other) = (try Self.prefix("192.0.2.1"), try Self.prefix("198.51.100.1"))
        /// Connects so often within a second, and says how many handshakes could begin.
        func begun(_ count: Int, from source: SourcePrefix, in second: UInt64, isProxy: Bool = false) -> Int {
            (0..<count).count { number in
                let now = second * 1_000_000_000 + UInt64(number) * 1_000_000_000 / UInt64(count)
                guard let ticket = table.open(source, isProxy: isProxy, at: now) else { return false }
                table.close(ticket)
                return true
            }
        }
        #expect((256...306).contains(begun(100_000, from: flood, in: 1)))
        #expect((49...51).contains(begun(100_000, from: flood, in: 2)))
        // The same network, and another.
        let neighbor = try Self.prefix("192.0.2.200")
        #expect((0..<10).count { _ in table.open(neighbor, isProxy: false, at: 2_999_999_999) != nil } <= 1)
        #expect(begun(200, from: other, in: 2) == 200)
        // A proxy carries many clients.
        #expect(begun(10_000, from: flood, in: 3, isProxy: true) == 10_000)
        #expect(
            MetricsText(families: counters.families).text.contains("# TYPE holdfast_handshakes_refused_total counter"))
        // Without TLS a connection costs no signature.
        let plain = ConnectionTable(limits, speaksTLS: false, counters)
        for _ in 0..<10_000 {
            let ticket = try #require(plain.open(flood, isProxy: false, at: 0))
            plain.close(ticket)
        }
    }

    @Test(
        "Over sockets: connections beyond the rate are closed before a signature, and another source gets in",
        .needs(.program("curl")))
    func handshakesOverSockets() async throws {
        let site = try ServingSite()
        site.publish(documents: ["lists/bank.json": ServingSite.document(Array("list".utf8))])
        let authority = try TestAuthority.root()
        try await withFolder { folder in
            let (chain, key) = (folder.appending(path: "chain.pem"), folder.appending(path: "key.pem"))
            let leaf = try authority.leaf(names: [.dns("localhost")])
            try Data(leaf.pem.utf8).write(to: chain)
            let base64 = Data(leaf.key.privateKeyDER).base64EncodedString(options: .lineLength64Characters)
            try Data("-----BEGIN PRIVATE KEY-----\n\(base64)\n-----END PRIVATE KEY-----\n".utf8).write(to: key)
            try Data(authority.certificate.pem.utf8).write(to: folder.appending(path: "root.pem"))
            var limits = ListenerLimits()
            (limits.handshakesPerSecond, limits.handshakesAtOnce) = (1e-6, 3)
            let settings = try ListenerSettings(
                port: 0, identity: TLSIdentity(certificates: chain, key: key), limits: limits)
            let counters = ListenerCounters()
            try await site.listening(settings, counters: counters) { port in
                func status(from source: String) async throws -> Int32 {
                    try await ForeignProgram.run(
                        "curl",
                        [
                            "-sS", "--interface", source, "--cacert", "root.pem", "--connect-to",
                            "localhost:443:127.0.0.1:\(port)", "https://localhost/lists/bank.json",
                        ], in: folder
                    ).status
                }
                var answers: [Bool] = []
                for _ in 0..<5 { answers.append(try await status(from: "127.0.0.1") == 0) }
                #expect(answers == [true, true, true, false, false])
                #expect(try await status(from: "127.0.9.1") == 0)
            }
            let text = MetricsText(families: counters.families).text
            #expect(text.contains("holdfast_handshakes_total 4\n"), "\(text)")
            #expect(text.contains("holdfast_handshakes_refused_total 2\n"), "\(text)")
        }
    }

    @Test("Beyond loopback it listens only with TLS or behind a proxy that is named")
    func addresses() throws {
        for good in ["127.0.0.1", "127.1.2.3", "::1"] { _ = try ListenerSettings(host: good, port: 0) }
        for bad in ["0.0.0.0", "192.0.2.1", "::", "localhost", "", "pins.example.net"] {
            let error = expectError(.invalidValue) { try ListenerSettings(host: bad, port: 0) }
            #expect(error?.subject == "listen")
        }
        _ = try ListenerSettings(host: "0.0.0.0", port: 0, proxies: TrustedProxies([try AddressBlock("10.0.0.0/8")]))
        expectError(.invalidValue) { try ListenerSettings(port: 65_536) }
    }
}
