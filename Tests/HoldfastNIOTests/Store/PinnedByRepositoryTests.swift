import Foundation
import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

/// From the keyholder to the socket: a repository that HoldfastSigning publishes into a folder, which an HTTP server
/// serves, downloaded over that, enforced on TLS connections.
@Suite("A client whose pins come from a repository", .timeLimit(.minutes(15)))
struct PinnedByRepositoryTests {
    private static let day: TimeInterval = 86_400

    /// The folder, and who signs for it.
    private struct Site {
        let repository: TUFRepositoryFolder
        let offline = TUFSigningKey(.ed25519)
        let online = TUFSigningKey(.p256)

        func publish(_ active: TestCertificate, backup: TestCertificate, state begun: TUFRepositoryState?) async throws
        {
            let now = SystemWallClock().now
            let host = try PinFile.Host(
                try HostPattern("www.example.com"),
                pins: [
                    try PinFile.KeyPin(Pin.publicKey(of: active.der)),
                    try PinFile.KeyPin(Pin.publicKey(of: backup.der), state: .backup),
                ])
            let pins = try PinFile(
                issuedAt: now, notAfter: now.addingTimeInterval(30 * PinnedByRepositoryTests.day),
                refresh: PinFile.Refresh(after: 21_600, grace: 86_400), hosts: [host])
            var state = begun
            if state == nil { state = try await repository.state() }
            guard var state else { return }
            _ = try state.prepare(pins: pins.json, at: now)
            _ = try state.sign(by: offline)
            let publication = try await TUFPublication.make(
                of: state, in: repository, onlineKeys: [online], at: now)
            try await repository.write(publication)
        }

        func begun() throws -> TUFRepositoryState {
            let (offline, online) = (TUFRoleKeys([offline.publicKey]), TUFRoleKeys([online.publicKey]))
            return try TUFRepositoryState(
                roles: [.root: offline, .targets: offline, .snapshot: online, .timestamp: online],
                at: SystemWallClock().now)
        }
    }

    /// A web server of files.
    private static func answer(_ path: String, from folder: URL) -> [ScriptedHTTPServer.Step] {
        guard let data = try? Data(contentsOf: folder.appending(path: path)) else {
            return [.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close]
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(data.count)\r\nConnection: close\r\n\r\n"
        return [.sendOctets(Array(head.utf8) + data), .close]
    }

    @Test(
        "It connects with the published pins, is refused by another key, and recovers by new pins, either way",
        arguments: [true, false])
    func story(asBundle: Bool) async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let other = try setting.issuing.leaf(names: ["www.example.com"])
        let backup = try setting.issuing.leaf(names: ["www.example.com"])
        try await withTemporaryFolder { folder in
            let site = Site(repository: TUFRepositoryFolder(folder))
            try await site.publish(leaf, backup: backup, state: try site.begun())
            let served = site.repository.published
            let root = try Data(contentsOf: served.appending(path: "metadata/1.root.json"))
            try await ScriptedHTTPServer.with({ Self.answer($0, from: served) }) { server in
                func url(_ path: String) throws -> URL { try #require(URL(string: server.url(path))) }
                var configuration = PinRepositoryConfiguration(
                    source: asBundle
                        ? .bundle(try url("/bundle.json"))
                        : .files(metadata: try url("/metadata"), targets: try url("/targets")),
                    root: root, floor: PinFloor(covering: [try HostPattern("www.example.com")]))
                configuration.allowsPlainHTTP = true
                configuration.secureDataStore = InMemoryDataStore()
                configuration.remoteDataProvider = URLSessionDataProvider(allowsPlainHTTPToLoopback: true)
                let pins = try PinRepository(checking: configuration, logger: RecordingLog().logger)
                try await pins.update()
                let policy = try pins.policy(for: "www.example.com")
                let client = try setting.client(for: "www.example.com", trust: .policy(policy))

                try await withLoopbackTLSServer(serving: leaf) { tls in
                    expectTrust(try await ClientAttempt.make(client, at: tls))
                }
                let events = pins.events()
                try await withLoopbackTLSServer(serving: other) { tls in
                    try await expectRefusal(try await ClientAttempt.make(client, at: tls), .pinMismatch, at: tls)
                }
                // The mismatch asks for newer pins, of which there are none yet.
                for await event in events { if event.kind == .updateFinished { break } }
                try await site.publish(other, backup: backup, state: nil)
                try await pins.update(mode: .forced)
                try await withLoopbackTLSServer(serving: other) { tls in
                    expectTrust(try await ClientAttempt.make(client, at: tls))
                }
                try await withLoopbackTLSServer(serving: leaf) { tls in
                    try await expectRefusal(try await ClientAttempt.make(client, at: tls), .pinMismatch, at: tls)
                }
            }
        }
    }
}
