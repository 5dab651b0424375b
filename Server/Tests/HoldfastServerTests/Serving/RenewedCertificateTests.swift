import Foundation
import HoldfastTesting
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP

@Suite("Connections while the certificate of a listener is replaced", .timeLimit(.minutes(5)))
struct RenewedCertificateTests {
    private static let body = "the list"
    private static let question = "GET /lists/bank.json HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// Asks once, and once more after each step, on one connection that stays.
    /// - Returns: how many answers came.
    private func talk(
        to port: Int, trusting authority: TestAuthority, between steps: [@Sendable () async throws -> Void] = []
    ) async throws -> Int {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: authority.root, format: .der)])
        let context = try NIOSSLContext(configuration: configuration)
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var (answers, received) = (0, "")
            try await outbound.write(ByteBuffer(string: Self.question))
            for try await buffer in inbound {
                received += String(buffer: buffer)
                guard received.hasSuffix("\r\n\r\n\(Self.body)") else { continue }
                #expect(received.hasPrefix("HTTP/1.1 200 "), "\(received)")
                (answers, received) = (answers + 1, "")
                guard answers <= steps.count else { break }
                try await steps[answers - 1]()
                try await outbound.write(ByteBuffer(string: Self.question))
            }
            return answers
        }
    }

    @Test("One that stays is answered on, new ones get the new certificate, and a file that is none changes nothing")
    func staying() async throws {
        let site = try ServingSite()
        site.publish(documents: ["lists/bank.json": ServingSite.document(Array(Self.body.utf8))])
        let (old, new) = (try TestAuthority.root(name: "Old Root"), try TestAuthority.root(name: "New Root"))
        try await withFolder { folder in
            let files = ListenerFiles(folder)
            try files.install(old)
            let identity = try TLSIdentity(certificates: files.chain, key: files.key)
            var settings = try ListenerSettings(port: 0, identity: identity)
            // The time between two questions may be long on a machine that does much else.
            settings.limits.waiting = .seconds(120)
            try await site.listening(settings) { port in
                @Sendable func reaches(_ authority: TestAuthority) async -> Bool {
                    (try? await talk(to: port, trusting: authority)) == 1
                }
                let answers = try await talk(
                    to: port, trusting: old,
                    between: [
                        {
                            let leaf = try files.install(new)
                            #expect(await reaches(old), "nobody has read it yet")
                            try identity.reload()
                            #expect(identity.leaf == leaf)
                            #expect(await reaches(new))
                            #expect(await !reaches(old))
                        },
                        {
                            try Data("nothing".utf8).write(to: files.chain)
                            let error = expectError(.file) { try identity.reload() }
                            #expect(error?.subject == files.chain.path, "\(error as Any)")
                            #expect(await reaches(new))
                        },
                        {
                            // The certificate is renewed, and the key is still the one before.
                            let key = try Data(contentsOf: files.key)
                            try files.install(old)
                            try key.write(to: files.key)
                            let error = expectError(.file) { try identity.reload() }
                            #expect(error?.subject == files.key.path, "\(error as Any)")
                            #expect(await reaches(new))
                            #expect(await !reaches(old))
                        },
                    ])
                #expect(answers == 4)
            }
        }
    }

    @Test("A server reads the files again by itself, and says in its log which one it cannot use")
    func told() async throws {
        try await World.run { world in
            let files = ListenerFiles(world.folder)
            try files.install(world.root)
            let identity = try TLSIdentity(certificates: files.chain, key: files.key)
            let leaf = try files.install(world.root)
            let first = await lines(of: world, renewing: identity) { _ in identity.leaf == leaf }
            #expect(identity.leaf == leaf)
            #expect(!first.contains { $0.hasPrefix("reading a certificate again") }, "\(first)")
            try Data("nothing".utf8).write(to: files.key)
            let second = await lines(of: world, renewing: identity) { lines in
                lines.contains { $0.hasPrefix("reading a certificate again: ") && $0.contains(files.key.path) }
            }
            #expect(
                second.contains { $0.hasPrefix("reading a certificate again: ") && $0.contains(files.key.path) },
                "\(second)")
            #expect(identity.leaf == leaf)
        }
    }

    /// The lines of a server's log until a condition is true.
    private func lines(
        of world: World, renewing identity: TLSIdentity, until isSo: @Sendable ([String]) -> Bool
    ) async -> [String] {
        let lines = Lines()
        let loop = PublishingLoop(world.publisher, renewing: [identity], logger: lines.logger)
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await loop.run() }
            // After a timeout, the caller's expectations fail.
            try? await eventually("the log has it") { isSo(lines.all) }
            group.cancelAll()
            return lines.all
        }
    }

    /// Keeps what is logged.
    private final class Lines: Sendable {
        private let held = Mutex<[String]>([])

        var all: [String] { held.withLock { $0 } }

        var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

        private struct Handler: LogHandler {
            let lines: Lines
            var logLevel = Logger.Level.info
            var metadata: Logger.Metadata = [:]

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) { lines.held.withLock { $0.append("\(event.message)") } }
        }
    }
}
