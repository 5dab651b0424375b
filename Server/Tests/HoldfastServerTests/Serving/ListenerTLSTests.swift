import Foundation
import HoldfastProbe
import HoldfastTesting
import Testing

@testable import HoldfastServer

@Suite("TLS and addresses of listeners", .timeLimit(.minutes(5)))
struct ListenerTLSTests {
    @Test(
        "curl talks to it, a renewed certificate is taken without a stop, and a broken one changes nothing",
        .enabled(if: ForeignProgram.isTested("curl")))
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
