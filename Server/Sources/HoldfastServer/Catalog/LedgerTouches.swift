/// Where the audit last said something about each app, so that what was read of an app is read again only when something
/// may have changed.
struct LedgerTouches: Sendable, Hashable {
    private var apps: [AppName: Int64] = [:]
    private var all: Int64 = -1

    /// The place of the latest entry that may concern what an app publishes.
    func latest(of app: AppName) -> Int64 { max(apps[app] ?? -1, all) }

    /// Takes an entry.
    /// - Parameter app: the app that it is about; nil for one that may be about any.
    mutating func take(_ entry: AuditEntry, about app: AppName?) {
        switch entry.event {
        // Who may speak to the server and where, and what was kept elsewhere.
        case .token, .invitation, .passkey, .session, .pages, .backup, .created: break
        case .approvers, .app, .proposed, .approved, .rejected, .lapsed, .canary, .probed, .published, .signed,
            .withdrawn, .root, .key, .takenOver, .resealed, .restored, .resumed, .alarm, .seen:
            if let app { apps[app] = entry.index } else { all = entry.index }
        }
    }
}
