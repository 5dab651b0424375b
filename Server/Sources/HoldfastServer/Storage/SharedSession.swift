import Dispatch
import Foundation
import NIOCore
import Synchronization

/// A session that several threads use, one at a time: what they make of its rows takes them longer than to read them.
final class SharedSession: StorageSession, Sendable {
    /// Only whoever has ``turn`` touches it.
    nonisolated(unsafe) private let session: any StorageSession
    private let turn = Mutex(())

    private init(_ session: any StorageSession) { unsafe self.session = session }

    /// Does something with a session on each processor, and waits until all of them are done.
    ///
    /// These are threads of their own: those that Swift's tasks run on are for whoever answers meanwhile.
    static func onAllProcessors(_ session: any StorageSession, _ body: @escaping @Sendable (SharedSession) -> Void) {
        let shared = SharedSession(session)
        let done = DispatchSemaphore(value: 0)
        let others = max(0, System.coreCount - 1)
        for _ in 0..<others {
            Thread.detachNewThread {
                body(shared)
                done.signal()
            }
        }
        body(shared)
        for _ in 0..<others { done.wait() }
    }

    func run(_ query: Query, _ values: [StorageValue]) throws(ServerError) -> [StorageRow] {
        try turn.withLock { _ throws(ServerError) in try unsafe session.run(query, values) }
    }

    func copy(to file: URL) throws(ServerError) {
        try turn.withLock { _ throws(ServerError) in try unsafe session.copy(to: file) }
    }
}
