package import ServerFoundation
package import ServerModel

extension Catalog {
    package static let settingsName = "settings"

    /// An app in the catalog.
    package struct App: Sendable, Hashable {
        /// Its name.
        package let name: AppName
        /// The display name.
        package let displayName: String
        /// Its settings.
        package let settings: AppSettings

        package init(name: AppName, displayName: String, settings: AppSettings) {
            self.name = name
            self.displayName = displayName
            self.settings = settings
        }
    }

    /// Adds an app.
    /// - Parameters:
    ///   - name: its name.
    ///   - displayName: the display name: 1 to 255 bytes.
    ///   - settings: its settings.
    ///   - actor: the person who adds it, for the audit.
    /// - Throws: ``ServerError`` `constraint` if it exists; `invalidValue`.
    package func addApp(
        _ name: AppName, displayName: String, settings: AppSettings, by actor: String
    ) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            try step.addApp(name, displayName: displayName, settings: settings, by: actor)
        }
    }

    /// Replaces the settings of an app.
    /// - Throws: ``ServerError`` `notFound`.
    package func set(_ settings: AppSettings, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            try step.requireApp(app)
            try step.session.run(
                "UPDATE app_setting SET octets = $2 WHERE app = $1", [.text("\(app)"), .bytes(settings.bytes)])
            try step.set(app, Self.settingsName, settings.bytes, by: actor)
        }
    }

    /// The names of all apps, sorted.
    package var apps: [AppName] { ledger.appNames }

    /// An app.
    /// - Throws: ``ServerError`` `notFound`; `brokenChain` if its settings do not match the audit.
    package func app(_ name: AppName) async throws(ServerError) -> App {
        try await look { session, ledger throws(ServerError) in try Self.app(name, session, ledger) }
    }

    /// The error for an app that this server does not have.
    static func missingApp(_ name: AppName) -> ServerError {
        ServerError(
            .notFound, of: "app", expected: "an app of this server", found: "\(name)",
            remedy: "Name one that `holdfast-server app list --data DIR` shows, or add it (holdfast-server app add).")
    }

    package static func app(_ name: AppName, _ session: any StorageSession, _ ledger: Ledger) throws(ServerError) -> App
    {
        let rows = try session.run(
            "SELECT display_name, octets FROM app JOIN app_setting ON app_setting.app = app.name WHERE name = $1",
            [.text("\(name)")])
        guard let row = rows.first, ledger.apps[name] != nil else {
            throw missingApp(name)
        }
        let bytes = try row.bytes(1)
        try ledger.require(name, settingsName, bytes)
        return App(name: name, displayName: try row.text(0), settings: try AppSettings(bytes))
    }
}

extension Catalog.Step {
    /// Adds an app.
    package mutating func addApp(
        _ name: AppName, displayName: String, settings: AppSettings, by actor: String
    ) throws(ServerError) {
        guard (1...255).contains(displayName.utf8.count) else {
            throw ServerError(
                .invalidValue, of: "display name", expected: "1 to 255 bytes", found: "\(displayName.utf8.count)")
        }
        guard ledger.apps[name] == nil else {
            throw ServerError(
                .constraint, of: "app \(name)", expected: "a new app", found: "one that exists",
                remedy: "Take another name, or change the one that exists with holdfast-server app settings.")
        }
        try session.run(
            "INSERT INTO app (name, display_name, created_at) VALUES ($1, $2, $3)",
            [.text("\(name)"), .text(displayName), .integer(now)])
        try session.run(
            "INSERT INTO app_setting (app, octets) VALUES ($1, $2)",
            [.text("\(name)"), .bytes(settings.bytes)])
        try set(name, Catalog.settingsName, settings.bytes, by: actor)
    }

    /// Writes the digest of a setting into the audit.
    package mutating func set(_ app: AppName, _ name: String, _ bytes: [UInt8], by actor: String) throws(ServerError) {
        try record(.app, by: actor, ["app": "\(app)", "name": name, "digest": "\(Digest(of: bytes))"])
    }

    package func requireApp(_ app: AppName) throws(ServerError) { try ledger.requireApp(app) }
}

extension Ledger {
    package func requireApp(_ app: AppName) throws(ServerError) {
        guard apps[app] != nil else {
            throw Catalog.missingApp(app)
        }
    }

    /// Throws for rows that do not match the audit.
    package func require(_ app: AppName, _ name: String, _ bytes: [UInt8]) throws(ServerError) {
        guard settings[Name(app: app, name: name)] == Digest(of: bytes) else {
            throw ServerError(
                .brokenChain, of: "app \(app), \(name)", expected: "what the audit has", found: "other rows")
        }
    }
}
