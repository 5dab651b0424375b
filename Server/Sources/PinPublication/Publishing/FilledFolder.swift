import ServerModel
import ServerStore
import Synchronization

/// The known content of this machine's folder, and the failed writes to it.
package final class FilledFolder: Sendable {
    private struct Pause {
        let version: Int64
        let failures: Int64
        /// The time of the next attempt, in seconds since 1970.
        let end: Int64
    }

    private struct State {
        var versions: [Ledger.Name: Ledger.Version] = [:]
        var pauses: [Ledger.Name: Pause] = [:]
    }

    private let state = Mutex(State())

    /// The documents in the audit that the folder is not known to have, each file after those that it names.
    func missing(_ documents: [Ledger.Name: Ledger.Version]) -> [(name: Ledger.Name, version: Ledger.Version)] {
        state.withLock { state in
            documents.filter { state.versions[$0] != $1 }.map { (name: $0.key, version: $0.value) }
        }.sorted { (RepositoryPath.rank(of: $0.name.name) ?? 0) < (RepositoryPath.rank(of: $1.name.name) ?? 0) }
    }

    func has(_ name: Ledger.Name, _ version: Ledger.Version) -> Bool {
        state.withLock { $0.versions[name] == version }
    }

    /// Whether the pause after a failure is over.
    func isDue(_ name: Ledger.Name, _ version: Ledger.Version, at now: Int64) -> Bool {
        state.withLock { state in
            state.pauses[name].map { $0.version != version.version || $0.end <= now } ?? true
        }
    }

    func add(_ name: Ledger.Name, _ version: Ledger.Version) {
        state.withLock { state in
            state.versions[name] = version
            state.pauses[name] = nil
        }
    }

    /// Marks a document to be checked again.
    func forget(_ name: Ledger.Name) { state.withLock { $0.versions[name] = nil } }

    func fail(_ name: Ledger.Name, _ version: Ledger.Version, at now: Int64) {
        state.withLock { state in
            let before = state.pauses[name].flatMap { $0.version == version.version ? $0.failures : nil } ?? 0
            state.pauses[name] = Pause(
                version: version.version, failures: before + 1, end: now + Catalog.pause(after: before + 1))
        }
    }
}
