package import ServerFoundation
package import ServerStore

extension Catalog {
    /// Changes of an app, the newest first.
    /// - Parameters:
    ///   - app: the app.
    ///   - start: the number of changes to skip.
    ///   - limit: the maximum number to read.
    /// - Returns: the changes, and whether there are more.
    package static func standings(
        of app: AppName, from start: Int, limit: Int, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> (changes: [ChangeStatus], hasMore: Bool) {
        let ids = ledger.proposals.filter { $0.value.app == app }
            .sorted { ($0.value.time, "\($0.key)") > ($1.value.time, "\($1.key)") }.map(\.key)
        let changes = try ids.dropFirst(start).prefix(limit).map { id throws(ServerError) in
            try standing(of: id, session, ledger)
        }
        return (changes, ids.count > start + limit)
    }
}
