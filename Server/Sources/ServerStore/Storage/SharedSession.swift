import Dispatch
package import Foundation
import NIOCore
package import ServerFoundation
import Synchronization

/// A session used by several threads, one at a time: processing its rows takes longer than reading them.
package final class SharedSession: StorageSession, Sendable {
    /// Only the thread that holds ``turn`` accesses it.
    nonisolated(unsafe) private let session: any StorageSession
    private let turn = Mutex(())

    private init(_ session: any StorageSession) { unsafe self.session = session }

    /// Runs a closure with the session on each processor, and waits until all are done.
    ///
    /// The threads are new ones: those of Swift's tasks must stay free to answer clients.
    package static func onAllProcessors(
        _ session: any StorageSession, _ body: @escaping @Sendable (SharedSession) -> Void
    ) {
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

    package func run(_ query: Query, _ values: [StorageValue]) throws(ServerError) -> [StorageRow] {
        try turn.withLock { _ throws(ServerError) in try unsafe session.run(query, values) }
    }

    package func copy(to file: URL) throws(ServerError) {
        try turn.withLock { _ throws(ServerError) in try unsafe session.copy(to: file) }
    }
}
