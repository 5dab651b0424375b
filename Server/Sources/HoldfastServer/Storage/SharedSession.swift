import Foundation
import Synchronization

/// A session that several threads use, one at a time: what they make of its rows takes them longer than to read them.
final class SharedSession: StorageSession, Sendable {
    /// Only whoever has ``turn`` touches it.
    nonisolated(unsafe) private let session: any StorageSession
    private let turn = Mutex(())

    private init(_ session: any StorageSession) { unsafe self.session = session }

    /// Does something with a session on all processors, and waits until all of it is done.
    /// - Parameters:
    ///   - count: how often.
    ///   - body: gets the number of its turn, from 0 on.
    /// - Returns: what the closure returned, in the order of the numbers.
    static func map<Value: Sendable>(
        _ count: Int, _ session: any StorageSession, _ body: @Sendable (Int, SharedSession) -> Value
    ) -> [Value] {
        let shared = SharedSession(session)
        let values = Mutex<[Int: Value]>([:])
        DispatchQueue.concurrentPerform(iterations: count) { number in
            let value = body(number, shared)
            values.withLock { $0[number] = value }
        }
        return values.withLock { values in (0..<count).compactMap { values[$0] } }
    }

    func run(_ query: Query, _ values: [StorageValue]) throws(ServerError) -> [StorageRow] {
        try turn.withLock { _ throws(ServerError) in try unsafe session.run(query, values) }
    }

    func copy(to file: URL) throws(ServerError) {
        try turn.withLock { _ throws(ServerError) in try unsafe session.copy(to: file) }
    }
}
