package import ServerFoundation
import ServerModel

/// The index of the latest entry about each app, so that data of an app is read again only if it may have changed.
package struct LedgerTouches: Sendable, Hashable {
    private var apps: [AppName: Int64] = [:]
    private var all: Int64 = -1

    /// The index of the latest entry that may affect the publications of an app.
    package func latest(of app: AppName) -> Int64 { max(apps[app] ?? -1, all) }

    /// Takes an entry.
    /// - Parameter app: the app that it is about; nil for one that may be about any.
    mutating func take(_ entry: AuditEntry, about app: AppName?) {
        switch entry.event {
        // These events concern access to the server, and backups.
        case .token, .invitation, .passkey, .session, .pages, .backup, .created: break
        case .approvers, .app, .proposed, .approved, .rejected, .lapsed, .canary, .probed, .published, .signed,
            .withdrawn, .root, .key, .takenOver, .resealed, .restored, .resumed, .alarm, .seen:
            if let app { apps[app] = entry.index } else { all = entry.index }
        }
    }
}
