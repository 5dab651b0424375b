import Foundation
import ServerFoundation
import ServerStore
import Synchronization

/// The storage of the ids that a target received.
protocol NoticeMemory: Sendable {
    /// Reads the ids.
    func read() async throws(ServerError) -> KnownNotices
    /// Replaces the stored ids.
    func keep(_ known: KnownNotices) async throws(ServerError)
}

/// A file next to the database, for one machine. An unreadable file counts as missing.
struct NoticeFile: NoticeMemory {
    /// The file; nil to store nothing.
    let url: URL?

    func read() async throws(ServerError) -> KnownNotices { KnownNotices(url) }

    func keep(_ known: KnownNotices) async throws(ServerError) {
        if let url { try WholeFile.replace(url, with: known.bytes) }
    }
}

/// A table in the database of several machines: the next machine continues where the previous one stopped.
final class NoticeTable: NoticeMemory {
    private let engine: any StorageEngine
    private let target: String
    /// The content of the table, as far as this process knows.
    private let stored = Mutex<Set<RandomID>>([])

    /// A row that records that delivery has started, even if nothing was sent yet.
    private static let begun = [UInt8](repeating: 0, count: 16)

    init(_ engine: any StorageEngine, target: String) {
        self.engine = engine
        self.target = target
    }

    func read() async throws(ServerError) -> KnownNotices {
        let target = target
        let rows = try await engine.read { session throws(ServerError) in
            // The limit protects this process from rows that another program added. The row that records the start
            // sorts first.
            try session.run(
                "SELECT notice FROM notice_told WHERE target = $1 ORDER BY notice LIMIT $2",
                [.text(target), .integer(Int64(KnownNotices.maximumCount) + 1)])
        }
        var ids: Set<RandomID> = []
        for row in rows {
            let bytes = try row.bytes(0)
            if bytes != Self.begun, let id = RandomID(hex: Hex.encode(bytes).utf8) { ids.insert(id) }
        }
        stored.withLock { $0 = ids }
        return KnownNotices(ids, isNew: rows.isEmpty)
    }

    func keep(_ known: KnownNotices) async throws(ServerError) {
        let (target, before) = (target, stored.withLock { $0 })
        let (added, removed) = (known.ids.subtracting(before), before.subtracting(known.ids))
        try await engine.write { session throws(ServerError) in
            for bytes in added.map(\.bytes) + [Self.begun] {
                try session.run(
                    "INSERT INTO notice_told (target, notice) VALUES ($1, $2) ON CONFLICT (target, notice) DO NOTHING",
                    [.text(target), .bytes(bytes)])
            }
            for id in removed {
                try session.run(
                    "DELETE FROM notice_told WHERE target = $1 AND notice = $2", [.text(target), .bytes(id.bytes)])
            }
        }
        stored.withLock { $0 = known.ids }
    }
}
