import Foundation
import Holdfast
import HoldfastProbe
import Logging
import NIOCore
import NIOPosix

@testable import PinPublication
@testable import PublicAPI
@testable import ServerHTTP
@testable import ServerModel

/// A public listener in this process, so that getrusage measures its processor time.
enum ListeningServer {
    static let quiet = Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }

    /// Seconds since 1970.
    static var now: Int64 { Int64(SystemWallClock().now.timeIntervalSince1970) }

    /// Serves a snapshot while a closure runs.
    static func run(
        _ snapshot: PublishedSnapshot, reports: ReportInbox? = nil, _ body: (_ port: Int) async throws -> Void
    ) async throws {
        // Clients of many networks are behind a proxy here: each source has its own rate for reports.
        let loopback = try TrustedProxies([AddressBlock("127.0.0.0/8")])
        var settings = try ListenerSettings(port: 0, proxies: reports == nil ? .none : loopback)
        settings.limits.requestsPerConnection = .max
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let time = ServerTime(SystemWallClock())
        // One source must be able to use the whole machine.
        // It has one processor, on which two threads would wait for each other.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let listener = PublicListener(
            settings, serving: LiveSnapshot(snapshot), budget: SigningBudget(ceiling: 1e9),
            time: { try? time.now(after: 0) }, reports: reports,
            on: group, logger: quiet, onListening: { found.yield($0?.port ?? 0) })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { found.finish() }
                try await listener.run()
            }
            for await port in ports {
                try await body(port)
                break
            }
            tasks.cancelAll()
        }
        try await group.shutdownGracefully()
    }
}
