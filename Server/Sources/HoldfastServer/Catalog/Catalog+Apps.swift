extension Catalog {
    static let settingsName = "settings"

    /// An app as the catalog has it.
    public struct App: Sendable, Hashable {
        /// Its name.
        public let name: AppName
        /// What people call it.
        public let displayName: String
        /// Its settings.
        public let settings: AppSettings
    }

    /// Adds an app.
    /// - Parameters:
    ///   - name: its name.
    ///   - displayName: what people call it: 1 to 255 octets.
    ///   - settings: its settings.
    ///   - actor: who adds it, for the audit.
    /// - Throws: ``ServerError`` `constraint` if it exists; `invalidValue`.
    public func addApp(
        _ name: AppName, displayName: String, settings: AppSettings, by actor: String
    ) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            try step.addApp(name, displayName: displayName, settings: settings, by: actor)
        }
    }

    /// Replaces the settings of an app.
    /// - Throws: ``ServerError`` `notFound`.
    public func set(_ settings: AppSettings, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            try step.requireApp(app)
            try step.session.run(
                "UPDATE app_setting SET octets = $2 WHERE app = $1", [.text("\(app)"), .octets(settings.octets)])
            try step.session.run(
                "UPDATE app SET vantages = $2 WHERE name = $1", [.text("\(app)"), .integer(settings.vantages)])
            try step.set(app, Self.settingsName, settings.octets, by: actor)
        }
    }

    /// The names of all apps, sorted.
    public var apps: [AppName] { ledger.appNames }

    /// An app.
    /// - Throws: ``ServerError`` `notFound`; `brokenChain` if its settings are not those of the audit.
    public func app(_ name: AppName) async throws(ServerError) -> App {
        try await look { session, ledger throws(ServerError) in try Self.app(name, session, ledger) }
    }

    /// What is said of an app that this server does not have.
    static func missingApp(_ name: AppName) -> ServerError {
        ServerError(
            .notFound, of: "app", expected: "an app of this server", found: "\(name)",
            remedy: "Name one that `holdfast-server app list --data DIR` shows, or add it (holdfast-server app add).")
    }

    static func app(_ name: AppName, _ session: any StorageSession, _ ledger: Ledger) throws(ServerError) -> App {
        let rows = try session.run(
            "SELECT display_name, octets FROM app JOIN app_setting ON app_setting.app = app.name WHERE name = $1",
            [.text("\(name)")])
        guard let row = rows.first, ledger.apps[name] != nil else {
            throw missingApp(name)
        }
        let octets = try row.octets(1)
        try ledger.require(name, settingsName, octets)
        return App(name: name, displayName: try row.text(0), settings: try AppSettings(octets))
    }

    /// Replaces the rules for versions of an app and its texts, which its next content has.
    /// - Throws: ``ServerError`` `notFound` or `invalidValue`.
    public func set(
        versions: [VersionRule], texts: [LocalizedText], of app: AppName, by actor: String
    ) async throws(ServerError) {
        // The content's own rules, so that what is taken here can be published.
        let content = try Content(app: app, hosts: [], formats: [], versions: versions, texts: texts, end: 0)
        try await transact { step throws(ServerError) in
            try step.set(versionsAndTextsOf: content, by: actor)
        }
    }

    /// The rules for versions of an app and its texts.
    /// - Throws: ``ServerError``; `brokenChain` if they are not those of the audit.
    public func versionsAndTexts(
        of app: AppName
    ) async throws(ServerError) -> (versions: [VersionRule], texts: [LocalizedText]) {
        try await look { session, ledger throws(ServerError) in
            var versions: [VersionRule] = []
            for row in try session.run(
                """
                SELECT platform, major_system_version, suggested, required, message_key FROM app_version \
                WHERE app = $1 ORDER BY platform, major_system_version
                """, [.text("\(app)")])
            {
                let system = try row.integer(1)
                versions.append(
                    try VersionRule(
                        platform: try row.text(0) { VersionRule.Platform(octets: $0) },
                        majorSystemVersion: system < 0 ? nil : system,
                        suggested: row[2] == .null ? nil : try row.text(2) { AppVersion($0) },
                        required: row[3] == .null ? nil : try row.text(3) { AppVersion($0) },
                        messageKey: try row.optionalText(4)))
            }
            var texts: [LocalizedText] = []
            for row in try session.run(
                """
                SELECT message_key, language, text FROM localized_text WHERE app = $1 ORDER BY message_key, language
                """, [.text("\(app)")])
            {
                texts.append(
                    try LocalizedText(key: try row.text(0), language: try row.text(1), text: try row.text(2)))
            }
            let name = Ledger.Name(app: app, name: "versions and texts")
            if ledger.settings[name] != nil || !versions.isEmpty || !texts.isEmpty {
                let content = try Content(app: app, hosts: [], formats: [], versions: versions, texts: texts, end: 0)
                try ledger.require(app, name.name, content.octets)
            }
            return (versions: versions, texts: texts)
        }
    }
}

extension Catalog.Step {
    /// Adds an app.
    mutating func addApp(
        _ name: AppName, displayName: String, settings: AppSettings, by actor: String
    ) throws(ServerError) {
        guard (1...255).contains(displayName.utf8.count) else {
            throw ServerError(
                .invalidValue, of: "display name", expected: "1 to 255 octets", found: "\(displayName.utf8.count)")
        }
        guard ledger.apps[name] == nil else {
            throw ServerError(
                .constraint, of: "app \(name)", expected: "a new app", found: "one that exists",
                remedy: "Take another name, or change the one that exists with holdfast-server app settings.")
        }
        try session.run(
            "INSERT INTO app (name, display_name, created_at, vantages) VALUES ($1, $2, $3, $4)",
            [.text("\(name)"), .text(displayName), .integer(now), .integer(settings.vantages)])
        try session.run(
            "INSERT INTO app_setting (app, octets) VALUES ($1, $2)",
            [.text("\(name)"), .octets(settings.octets)])
        try set(name, Catalog.settingsName, settings.octets, by: actor)
    }

    /// Has the catalog go on from the rules and texts that are published now, unless somebody has set others since the
    /// publication before: those wait for a change of their own.
    mutating func follow(_ content: Content, after published: Content?) throws(ServerError) {
        func part(_ content: Content?, of app: AppName) throws(ServerError) -> Content {
            try Content(
                app: app, hosts: [], formats: [], versions: content?.versions ?? [], texts: content?.texts ?? [], end: 0
            )
        }
        let (old, new) = (try part(published, of: content.app), try part(content, of: content.app))
        let nothing = try part(nil, of: content.app).digest
        let known = ledger.settings[Ledger.Name(app: content.app, name: "versions and texts")] ?? nothing
        guard old.digest != new.digest, known == old.digest else { return }
        try set(versionsAndTextsOf: new, by: "server")
    }

    /// Replaces the rules for versions of an app and its texts by those of a content.
    mutating func set(versionsAndTextsOf content: Content, by actor: String) throws(ServerError) {
        try requireApp(content.app)
        try session.run("DELETE FROM app_version WHERE app = $1", [.text("\(content.app)")])
        try session.run("DELETE FROM localized_text WHERE app = $1", [.text("\(content.app)")])
        for rule in content.versions {
            try session.run(
                """
                INSERT INTO app_version (app, platform, major_system_version, suggested, required, message_key) \
                VALUES ($1, $2, $3, $4, $5, $6)
                """,
                [
                    .text("\(content.app)"), .text(rule.platform.rawValue), .integer(rule.majorSystemVersion ?? -1),
                    .optional(rule.suggested.map(\.description)), .optional(rule.required.map(\.description)),
                    .optional(rule.messageKey),
                ])
        }
        for text in content.texts {
            try session.run(
                "INSERT INTO localized_text (app, message_key, language, text) VALUES ($1, $2, $3, $4)",
                [.text("\(content.app)"), .text(text.key), .text(text.language), .text(text.text)])
        }
        try set(content.app, "versions and texts", content.octets, by: actor)
    }

    /// Writes the digest of a setting into the audit.
    mutating func set(_ app: AppName, _ name: String, _ octets: [UInt8], by actor: String) throws(ServerError) {
        try record(.app, by: actor, ["app": "\(app)", "name": name, "digest": "\(Digest(of: octets))"])
    }

    func requireApp(_ app: AppName) throws(ServerError) { try ledger.requireApp(app) }
}

extension Ledger {
    func requireApp(_ app: AppName) throws(ServerError) {
        guard apps[app] != nil else {
            throw Catalog.missingApp(app)
        }
    }

    /// Refuses rows that the audit does not know.
    func require(_ app: AppName, _ name: String, _ octets: [UInt8]) throws(ServerError) {
        guard settings[Name(app: app, name: name)] == Digest(of: octets) else {
            throw ServerError(
                .brokenChain, of: "app \(app), \(name)", expected: "what the audit has", found: "other rows")
        }
    }
}
