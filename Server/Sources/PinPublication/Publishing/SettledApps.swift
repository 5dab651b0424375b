import ServerFoundation
import ServerStore
import Synchronization

/// The apps without work in the last round, and the audit position at that time. Without a new entry about an app, the
/// next rounds have no work for it either. So a thousand idle apps cost a round nothing.
package final class SettledApps: Sendable {
    private let places = Mutex<[AppName: Int64]>([:])

    /// Whether the audit has no new entry about an app since it had no work.
    func rests(_ app: AppName, _ ledger: Ledger) -> Bool {
        places.withLock { $0[app] == ledger.touches.latest(of: app) }
    }

    /// Records that an app had no work.
    func rest(_ app: AppName, _ ledger: Ledger) {
        places.withLock { $0[app] = ledger.touches.latest(of: app) }
    }
}
