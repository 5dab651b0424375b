public import Foundation
public import Holdfast

extension ServerFolder {
    /// The steps of restoring a backup, each of which is on the disk before the next.
    public enum RestoringStep: Sendable, CaseIterable {
        /// The folder says that a backup is being restored into it.
        case marked
        /// The database is there.
        case unpacked
        /// The folder has a server, which cannot be started.
        case configured
        /// What is public is in the database and its audit.
        case recorded
        /// The server may start.
        case completed
    }

    /// A backup with what opens it.
    public struct BackupSource: Sendable {
        let file: URL
        let key: BackupPrivateKey
        let secret: SecretFile

        /// Names a backup.
        /// - Parameters:
        ///   - file: the file that ``ServerFolder/backUp(_:to:for:)`` wrote.
        ///   - key: the recipient's.
        ///   - secret: the file of the secret of the time of the backup.
        public init(_ file: URL, key: BackupPrivateKey, secret: SecretFile) {
            self.file = file
            self.key = key
            self.secret = secret
        }
    }

    /// What decides how a server goes on after an older backup.
    public struct RestoringRules: Sendable {
        /// Where documents are public, besides the folder of the server itself.
        public var places: [PublicPlace]
        /// A head of the audit that was kept elsewhere, such as in a log.
        public var known: AuditHead?
        /// Paths at which something that the app's keys did not sign is no reason to stop.
        public var disregarded: Set<String>
        /// The names of the backup's own places that are not read, because they are gone.
        public var goneFrom: Set<String>
        /// How the backup's own places are read.
        public var reader: any RemoteDataProvider

        /// States what is known.
        public init(
            places: [PublicPlace], known: AuditHead? = nil, disregarded: Set<String> = [], goneFrom: Set<String> = [],
            reader: any RemoteDataProvider = PublicDataProvider()
        ) {
            self.places = places
            self.known = known
            self.disregarded = disregarded
            self.goneFrom = goneFrom
            self.reader = reader
        }
    }

    /// Examines a backup: that it is complete and unchanged, its audit right, all that it says is published approved, and
    /// that every key opens. Nothing is left on the disk.
    /// - Returns: what the backup says about itself, and what is wrong, in words; nothing if it can be restored.
    /// - Throws: ``ServerError`` for a backup that cannot be read.
    public static func check(
        _ backup: BackupSource, clock: any WallClock
    ) async throws(ServerError) -> (manifest: BackupManifest, faults: [String]) {
        let folder = ServerFolder(
            FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appending(
                path: "holdfast-check-\(UUID().uuidString)"))
        guard unsafe mkdir(folder.url.path, 0o700) == 0 else {
            throw ServerError(.file, of: folder.url.path, expected: "a new folder", found: SystemText.of(errno))
        }
        defer { try? FileManager.default.removeItem(at: folder.url) }
        let manifest = try folder.unpack(backup)
        try folder.configure(manifest, backup.secret)
        return (manifest, try await folder.faults(clock))
    }

    /// Restores a backup into a folder without a server. It may be interrupted anywhere, and does the rest when it is
    /// called again; the server does not start before.
    /// - Parameters:
    ///   - backup: the backup.
    ///   - rules: what is known.
    ///   - clock: the time.
    ///   - generator: makes the id of the restoration.
    ///   - actor: who does it, for the audit.
    ///   - after: called after each step.
    /// - Throws: ``ServerError``: `constraint` for a folder that has a server; what ``check(_:clock:)`` finds; `file` if a
    ///   place cannot be read; `invalidSignature` for what no key of the backup signed; `clock`.
    public func restore(
        _ backup: BackupSource, rules: RestoringRules, clock: any WallClock,
        using generator: inout some RandomNumberGenerator, by actor: String,
        after: (RestoringStep) throws(ServerError) -> Void = { _ in }
    ) async throws(ServerError) -> RestorationReport {
        try makeFolder()
        let lock = try self.lock()
        defer { withExtendedLifetime(lock) {} }
        let id = try begin(&generator)
        try after(.marked)
        if try WholeFile.read(configuration, limit: 16 << 10) == nil {
            // What an interrupted attempt left.
            for name in ["server.db", "server.db-wal", "server.db-shm"] {
                try WholeFile.remove(url.appending(path: name))
            }
            let manifest = try unpack(backup)
            try after(.unpacked)
            try configure(manifest, backup.secret)
        }
        try after(.configured)
        // Nothing else is written before everything was found to be right.
        let faults = try await faults(clock)
        guard faults.isEmpty else {
            throw ServerError(
                .damagedDatabase, of: "backup", expected: "one that can be restored",
                found: faults.prefix(8).joined(separator: "; "), remedy: "Restore another backup.")
        }
        let open = try await openAnyway(clock: clock, steady: .system, isRestored: true)
        do throws(ServerError) {
            let report = try await record(id, rules, open, actor)
            try after(.recorded)
            try WholeFile.remove(restoring)
            try after(.completed)
            // What cannot be written now is written when the server runs.
            _ = try? await open.publisher.deliver()
            await open.engine.close()
            return report
        } catch {
            await open.engine.close()
            throw error
        }
    }

    private static let mark = "holdfast-restoring-v1"

    /// Marks the folder, or continues what was begun.
    private func begin(_ generator: inout some RandomNumberGenerator) throws(ServerError) -> RandomID {
        if let bytes = try WholeFile.read(restoring, limit: 256) {
            var lines = try LineReader(bytes, "restoration", limit: 256)
            try lines.line("header", equalTo: Self.mark)
            let id = try lines.line("id", "32 hexadecimal digits") { RandomID(hex: $0) }
            try lines.finish()
            return id
        }
        guard try WholeFile.read(configuration, limit: 16 << 10) == nil,
            !FileManager.default.fileExists(atPath: database.path)
        else {
            throw ServerError(
                .constraint, of: url.path, expected: "a folder without a server", found: "one with a server",
                remedy:
                    "Move its configuration.json, head and server.db files elsewhere, and leave public and versions there."
            )
        }
        let id = RandomID(using: &generator)
        try WholeFile.replace(restoring, with: Array("\(Self.mark)\n\(id)\n".utf8))
        return id
    }

    /// Writes the database and its head.
    private func unpack(_ backup: BackupSource) throws(ServerError) -> BackupManifest {
        let secret = try backup.secret.read(outside: url)
        var content: BackupContent?
        try StreamedFile.create(database) { write throws(ServerError) in
            content = try StreamedFile.read(backup.file) { source throws(ServerError) in
                try BackupContent(backup.key, secret, from: source, database: write)
            }
        }
        guard let manifest = content?.manifest else { throw BackupSeal.damaged }
        try head.write(manifest.head)
        return manifest
    }

    /// Writes the configuration, after which the folder has a server.
    private func configure(_ manifest: BackupManifest, _ secret: SecretFile) throws(ServerError) {
        let old = manifest.configuration
        let settings = try FolderConfiguration(server: old.server, genesis: old.genesis, secret: secret.url.path)
        try WholeFile.replace(configuration, with: settings.bytes)
    }

    /// What is wrong with a database that came out of a backup.
    private func faults(_ clock: any WallClock) async throws(ServerError) -> [String] {
        let open = try await openAnyway(clock: clock, steady: .system, isRestored: true)
        do throws(ServerError) {
            var faults = try await open.publisher.examine(isInPlace: false).filter(\.isFault).map(\.words)
            faults += try await open.catalog.damage()
            if let secret = open.secret { faults += try await open.catalog.keysThatStayShut(with: secret) }
            await open.engine.close()
            return faults
        } catch {
            await open.engine.close()
            throw error
        }
    }

    private func record(
        _ id: RandomID, _ rules: RestoringRules, _ open: Open, _ actor: String
    ) async throws(ServerError) -> RestorationReport {
        let ledger = open.catalog.ledger
        guard !ledger.restored.ids.contains(id) else {
            return RestorationReport(head: ledger.chain.head)
        }
        let names = Set(ledger.documents.keys.map(\.name))
        let paths = names.union(ledger.apps.keys.flatMap(\.possiblePaths))
        let places = [PublicPlace.folder(publicFolder.url)] + rules.places + (try await ownPlaces(rules, open))
        let state = try await PublicState(places, paths: paths)
        var repositories: [AppName: PublicRepository] = [:]
        for app in ledger.appNames where !ledger.repository(of: app).documents.isEmpty {
            repositories[app] = try await PublicRepository(
                of: app, try await open.catalog.repository(of: app), in: places)
        }
        let restoration = Restoration(
            id: id, state: state, repositories: repositories, known: rules.known, disregarded: rules.disregarded,
            actor: actor)
        return try await restoration.apply(to: open.catalog)
    }

    /// Where clients find the folder of the server of the backup, and the places to which it had documents uploaded, each
    /// address once: clients ask there, and find what may be newer than the backup.
    private func ownPlaces(_ rules: RestoringRules, _ open: Open) async throws(ServerError) -> [PublicPlace] {
        var (places, known): ([PublicPlace], Set<URL>) = ([], [])
        for app in open.catalog.ledger.appNames {
            var all = try await open.catalog.places(of: app).map { (name: $0.name, url: $0.url) }
            if let address = try await open.catalog.folderAddress(of: app) {
                all.append((name: Catalog.folderPlace, url: address.url))
            }
            for place in all where !rules.goneFrom.contains(place.name) && known.insert(place.url).inserted {
                places.append(.address(place.url, rules.reader))
            }
        }
        return places
    }
}

extension Catalog {
    /// What the engine finds wrong with its own file.
    fileprivate func damage() async throws(ServerError) -> [String] {
        try await look { session, _ throws(ServerError) in
            var damage: [String] = []
            for row in try session.run("PRAGMA integrity_check") {
                let text = try row.text(0)
                if !text.utf8.elementsEqual("ok".utf8) { damage.append(text) }
            }
            if try !session.run("PRAGMA foreign_key_check").isEmpty {
                damage.append("rows refer to rows that are not there")
            }
            return damage
        }
    }

    /// The keys that a secret does not open, those too that sign no more.
    fileprivate func keysThatStayShut(with secret: SigningSecret) async throws(ServerError) -> [String] {
        try await look { [server] session, _ throws(ServerError) in
            var shut: [String] = []
            for key in try Self.sealedKeys(server, session) {
                do throws(ServerError) {
                    _ = try key.opened(with: secret)
                } catch {
                    shut.append("\(error)")
                }
            }
            return shut
        }
    }
}
