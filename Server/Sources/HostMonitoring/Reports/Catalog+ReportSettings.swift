import Holdfast
package import ServerFoundation
package import ServerModel
package import ServerStore

extension Catalog {
    fileprivate static let reportsName = "reports"

    /// Sets whether an app takes reports. Existing counts are kept for their thirty days.
    /// - Throws: ``ServerError`` `notFound` for an app that does not exist.
    package func set(_ settings: ReportSettings, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            try step.requireApp(app)
            try step.session.run(
                """
                INSERT INTO report_setting (app, octets) VALUES ($1, $2) \
                ON CONFLICT (app) DO UPDATE SET octets = excluded.octets
                """, [.text("\(app)"), .bytes(settings.bytes)])
            try step.set(app, Self.reportsName, settings.bytes, by: actor)
        }
    }

    /// Whether an app takes reports.
    /// - Throws: ``ServerError`` `notFound`; `brokenChain` if the setting does not match the audit.
    package func reportSettings(of app: AppName) async throws(ServerError) -> ReportSettings {
        try await look { session, ledger throws(ServerError) in
            try ledger.requireApp(app)
            return try Self.reportSettings(of: app, session, ledger)
        }
    }

    package static func reportSettings(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> ReportSettings {
        guard ledger.settings[.init(app: app, name: reportsName)] != nil else {
            return ReportSettings(isEnabled: false)
        }
        let row = try session.run("SELECT octets FROM report_setting WHERE app = $1", [.text("\(app)")]).first
        let bytes = try row?.bytes(0) ?? []
        try ledger.require(app, reportsName, bytes)
        return try ReportSettings(bytes)
    }

    /// The apps that take reports, with the hosts whose reports are counted: those of the catalog and the published
    /// ones.
    /// - Parameter contents: the hosts of contents that were read before, by digest; unneeded ones are dropped.
    /// - Throws: ``ServerError``.
    package func reportHosts(
        remembering contents: [Digest: [ContentHost]]
    ) async throws(ServerError) -> (apps: [AppName: ReportHosts], contents: [Digest: [ContentHost]]) {
        try await look { session, ledger throws(ServerError) in
            var apps: [AppName: ReportHosts] = [:]
            var read: [Digest: [ContentHost]] = [:]
            for app in ledger.appNames where try Self.reportSettings(of: app, session, ledger).isEnabled {
                var hosts = try Self.hosts(of: app, session, ledger).map { (name: $0.host.name, port: $0.host.port) }
                if let publication = ledger.publication(of: app) {
                    let published: [ContentHost]
                    if let known = contents[publication.content] {
                        published = known
                    } else {
                        published = try Self.content(of: publication, app: app, in: session).hosts
                    }
                    read[publication.content] = published
                    hosts += published.map { (name: $0.name, port: $0.port) }
                }
                apps[app] = ReportHosts(hosts)
                // An unreadable pin file of a canary gives no versions, so reports do not hold that canary.
                apps[app]?.canary = try? Self.canaryVersions(of: app, session, ledger)
            }
            return (apps, read)
        }
    }
}
