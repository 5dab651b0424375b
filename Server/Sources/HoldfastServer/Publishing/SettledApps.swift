import Synchronization

/// The apps for which the last round had nothing to do, and where the audit was then: until it says something else about
/// one, the next rounds have nothing to do for it either. A thousand apps that rest cost a round nothing.
final class SettledApps: Sendable {
    private let places = Mutex<[AppName: Int64]>([:])

    /// Whether nothing was said about an app since it had nothing to do.
    func rests(_ app: AppName, _ ledger: Ledger) -> Bool {
        places.withLock { $0[app] == ledger.touches.latest(of: app) }
    }

    /// Notes that an app had nothing to do.
    func rest(_ app: AppName, _ ledger: Ledger) {
        places.withLock { $0[app] = ledger.touches.latest(of: app) }
    }
}
