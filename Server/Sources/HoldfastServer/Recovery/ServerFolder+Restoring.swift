package import Foundation
package import Holdfast
import HostMonitoring
import PinChanges
package import PinPublication
package import ServerFoundation
package import ServerModel
package import ServerStore

extension ServerFolder {
    /// The steps of restoring a backup. Each is on the disk before the next.
    package enum RestoringStep: Sendable, CaseIterable {
        /// The folder is marked: a backup is being restored into it.
        case marked
        /// The database is written.
        case unpacked
        /// The folder has a configuration, but the server cannot start.
        case configured
        /// The findings about public documents are in the database and its audit.
        case recorded
        /// The server may start.
        case completed
    }

    /// A backup, and the keys that open it.
    package struct BackupSource: Sendable {
        package let file: URL
        package let key: BackupPrivateKey
        package let secret: SecretFile

        /// Describes a backup.
        /// - Parameters:
        ///   - file: the file that ``ServerFolder/backUp(_:to:for:)`` wrote.
        ///   - key: the recipient's.
        ///   - secret: the file with the secret at the time of the backup.
        package init(_ file: URL, key: BackupPrivateKey, secret: SecretFile) {
            self.file = file
            self.key = key
            self.secret = secret
        }
    }

    /// The rules by which a server continues after an older backup.
    package struct RestoringRules: Sendable {
        /// The destinations of public documents, other than the folder of the server.
        package var places: [PublicPlace]
        /// A head of the audit that was kept outside the server, such as in a log.
        package var known: AuditHead?
        /// Paths at which a document that the app's keys did not sign is no reason to stop.
        package var disregarded: Set<String>
        /// The names of the backup's destinations that no longer exist and are not read.
        package var goneFrom: Set<String>
        /// Reads the backup's destinations.
        package var reader: any RemoteDataProvider

        /// Makes rules.
        package init(
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

    /// Examines a backup: it is complete and unchanged, its audit is valid, all publications are approved, and every
    /// key opens. Leaves nothing on the disk.
    /// - Returns: the manifest, and the faults as text; no faults if the backup can be restored.
    /// - Throws: ``ServerError`` for a backup that cannot be read.
    package static func check(
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

    /// Restores a backup into a folder without a server. It may be interrupted at any time; another call does the rest.
    /// The server does not start before that.
    /// - Parameters:
    ///   - backup: the backup.
    ///   - rules: the rules for public documents.
    ///   - clock: the time.
    ///   - generator: makes the id of the restoration.
    ///   - actor: the actor for the audit.
    ///   - after: called after each step.
    /// - Throws: ``ServerError``: `constraint` for a folder that has a server; errors of ``check(_:clock:)``; `file` if
    ///   a destination cannot be read; `invalidSignature` for a document that no key of the backup signed; `clock`.
    package func restore(
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
            // Remove the rest of an interrupted attempt.
            for name in ["server.db", "server.db-wal", "server.db-shm"] {
                try WholeFile.remove(url.appending(path: name))
            }
            let manifest = try unpack(backup)
            try after(.unpacked)
            try configure(manifest, backup.secret)
        }
        try after(.configured)
        // Write nothing else before all checks have passed.
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
            // The running server writes later what fails now.
            _ = try? await open.publisher.deliver()
            await open.engine.close()
            return report
        } catch {
            await open.engine.close()
            throw error
        }
    }

    private static let mark = "holdfast-restoring-v1"

    /// Marks the folder, or continues an earlier attempt.
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

    /// Writes the configuration. From then on, the folder has a server.
    private func configure(_ manifest: BackupManifest, _ secret: SecretFile) throws(ServerError) {
        let old = manifest.configuration
        let settings = try FolderConfiguration(server: old.server, genesis: old.genesis, secret: secret.url.path)
        try WholeFile.replace(configuration, with: settings.bytes)
    }

    /// The faults of a database from a backup.
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

    /// The address of the backup's folder, and the destinations of its documents, each address once. Clients query
    /// these addresses, and their documents may be newer than the backup.
    private func ownPlaces(_ rules: RestoringRules, _ open: Open) async throws(ServerError) -> [PublicPlace] {
        var (places, known): ([PublicPlace], Set<URL>) = ([], [])
        for app in open.catalog.ledger.appNames {
            var all = try await open.catalog.places(of: app).map { (name: $0.name, url: $0.url) }
            if let address = try await open.catalog.folderAddress(of: app) {
                all.append((name: Place.folder, url: address.url))
            }
            for place in all where !rules.goneFrom.contains(place.name) && known.insert(place.url).inserted {
                places.append(.address(place.url, rules.reader))
            }
        }
        return places
    }
}

extension Catalog {
    /// The faults that the database engine finds in its file.
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

    /// The keys that a secret does not open, including unused ones.
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
