import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Logging
import NIOCore
import NIOPosix
import Synchronization

@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel

/// A public listener with something published, on loopback, with a clock of its own.
final class ServingSite: Sendable {
    static let now: Int64 = 1_604_853_448
    static let end: Int64 = now + 30 * 86_400

    let live = LiveSnapshot()
    let key: SigningKey
    let time = Mutex<Int64?>(ServingSite.now)
    let unready = Mutex<[String]>([])

    /// With the key of the vector in FORMATS.md.
    convenience init() throws {
        self.init(key: try SigningKey(exportedPrivateKey: "TqkO8z2fD4uCLn0S5IwbK0y8UN24cOVean+ndd3YiSo="))
    }

    init(key: SigningKey) { self.key = key }

    /// Runs a listener, and gives its port.
    func listening(
        _ settings: ListenerSettings? = nil, ceiling: Double = 100_000,
        counters: ListenerCounters = ListenerCounters(), reports: ReportInbox? = nil, requests: Logger? = nil,
        _ body: (Int) async throws -> Void
    ) async throws {
        let (addresses, found) = AsyncStream.makeStream(of: Int?.self)
        let listener = PublicListener(
            try settings ?? ListenerSettings(port: 0), serving: live, budget: SigningBudget(ceiling: ceiling),
            time: { self.time.withLock { $0 } }, counters: counters,
            health: { ServerHealth(unready: self.unready.withLock { $0 }) }, reports: reports,
            on: .singletonMultiThreadedEventLoopGroup,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, requests: requests,
            onListening: { found.yield($0?.port) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run()
                found.finish()
            }
            for await port in addresses {
                if let port { try await body(port) }
                break
            }
            group.cancelAll()
        }
    }

    /// The name and the published state of an app.
    func app(
        _ name: String = "bank", entries: [FingerprintEntry]? = nil, domains: ContentDomains? = nil,
        end: Int64 = ServingSite.end, hasKey: Bool = true
    ) throws -> (AppName, PublishedSnapshot.App) {
        let content = try Content(
            app: AppName(name), hosts: [], formats: [], domains: domains, end: end)
        return (
            content.app,
            PublishedSnapshot.App(
                generation: 1, content: AnsweredContent(content), entries: try entries ?? [Self.entry()],
                publicKey: try key.publicKey.base64, key: hasKey ? key : nil)
        )
    }

    /// The entry of the vector in FORMATS.md.
    static func entry() throws -> FingerprintEntry {
        let fingerprint = Array(Data(base64Encoded: "kqN/vV4hpTqVxxbhFE9EL1grlND6/Gc+tnF6TrUaiKc=") ?? Data())
        return try FingerprintEntry(
            name: "github.com", pin: Pin(subject: .certificate, digest: fingerprint),
            until: Date(timeIntervalSince1970: 1_710_460_800))
    }

    static func document(
        _ bytes: [UInt8], mediaType: String = "application/json", refresh: Int64 = 3_600, end: Int64 = ServingSite.end
    ) -> PublishedSnapshot.Document {
        PublishedSnapshot.Document(bytes: bytes, mediaType: mediaType, signedAt: now, refresh: refresh, end: end)
    }

    /// Serves this from now on.
    func publish(
        _ sequence: Int64 = 1, documents: [String: PublishedSnapshot.Document] = [:],
        apps: [(AppName, PublishedSnapshot.App)] = []
    ) {
        live.replace(
            with: PublishedSnapshot(
                sequence: sequence, documents: documents, apps: Dictionary(apps) { first, _ in first }))
    }
}
