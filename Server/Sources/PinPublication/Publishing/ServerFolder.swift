package import Foundation
package import Holdfast
package import ServerApprovals
package import ServerFoundation
import ServerModel
package import ServerStore

/// The folder of a server: `configuration.json`, `server.db`, `head`, `reserve`, `clock`, `lock`, `public/` and
/// `versions/`, and while a backup is being restored `restoring`.
package struct ServerFolder: Sendable {
    /// The folder.
    package let url: URL
    /// The path of the secret if it differs from the configuration, such as in the credentials of a service.
    private let secretFile: URL?
    /// The database if it differs from the configuration.
    private let otherDatabase: PostgreSQLAddress?
    /// The time for queries of a database on another machine; nil for its own.
    package var databaseClock: (any WallClock)?
    /// The lock of a server that may serve from the database. A server that loses it writes nothing, and only its
    /// holder migrates the tables.
    package var hold: DatabaseLock?

    /// Describes a folder.
    /// - Parameters:
    ///   - secret: the path of the secret if it differs from the configuration.
    ///   - database: the PostgreSQL address if it differs from the configuration; for a new server, its database, nil
    ///     for a file in the folder.
    package init(_ url: URL, secret: URL? = nil, database: PostgreSQLAddress? = nil) {
        self.url = url
        secretFile = secret
        otherDatabase = database
    }

    /// Settings that ``Catalog`` may not read from the database.
    package var configuration: URL { url.appending(path: "configuration.json") }
    package var database: URL { url.appending(path: "server.db") }
    package var head: HeadFile { HeadFile(url.appending(path: "head")) }
    var clockFile: URL { url.appending(path: "clock") }
    /// Exists from before a backup is unpacked until all public documents were read.
    package var restoring: URL { url.appending(path: "restoring") }
    /// Exists once the server has moved to another database, and names the new folder.
    package var moved: URL { url.appending(path: "moved") }

    /// Finds the files that the server relies on and that other users can write.
    package func permissions() -> FolderPermissions {
        let configured = try? readConfiguration().secret
        return FolderPermissions(of: url, secret: secretFile ?? configured.map { URL(filePath: $0) })
    }

    /// The folder that any web server serves.
    package var publicFolder: PublicFolder {
        PublicFolder(url.appending(path: "public"), versions: url.appending(path: "versions"))
    }

    /// An open server.
    package struct Open: Sendable {
        /// The folder.
        package let folder: URL
        /// The configuration.
        package let configuration: FolderConfiguration
        /// Its database.
        package let engine: any StorageEngine
        /// The state of the server.
        package let catalog: Catalog
        /// Publishes changes to clients.
        package let publisher: Publisher
        /// The secret that opens and seals private keys; nil if nothing can be signed.
        package let secret: SigningSecret?
        /// Why it cannot sign; nil if it can.
        package let secretProblem: ServerError?
    }

    /// Creates a server. Never overwrites an existing one.
    /// - Parameters:
    ///   - genesis: the first statement of approvers, signed by all of them.
    ///   - secret: the file for the new secret, outside the folder.
    ///   - clock: the time.
    ///   - generator: makes the secret.
    /// - Returns: the secret, for a recovery copy.
    /// - Throws: ``ServerError``; `constraint` for a folder or a database that has a server already.
    package func create(
        genesis: SignedApprovers, secret: SecretFile, clock: any WallClock,
        using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> SigningSecret {
        let statement = try ApproverStatement(genesis.text)
        // Check everything before writing anything.
        _ = try ApproverChain(genesis: genesis, digest: statement.digest, server: statement.server)
        guard try WholeFile.read(configuration, limit: 16 << 10) == nil,
            !FileManager.default.fileExists(atPath: database.path)
        else {
            throw ServerError(
                .constraint, of: url.path, expected: "a folder without a server", found: "one with a server",
                remedy: "Name another folder; a server is never overwritten.")
        }
        try makeFolder()
        // Find an unusable database before a secret is made.
        let engine = try await engine(otherDatabase, .writing, clock)
        let made = SigningSecret(using: &generator)
        do throws(ServerError) {
            try secret.create(made, outside: url)
            _ = try await Catalog(
                creating: engine, server: statement.server, genesis: genesis, head: head,
                time: ServerTime(clock, file: clockFile), secrets: [made])
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
        // Written last: without a configuration, a folder has no server.
        let settings = try FolderConfiguration(
            server: statement.server, genesis: statement.digest, secret: secret.url.path, database: otherDatabase)
        try WholeFile.replace(configuration, with: settings.bytes)
        return made
    }

    package func makeFolder() throws(ServerError) {
        guard !FileManager.default.fileExists(atPath: url.path) else { return }
        // A web server of another user must enter it to reach the public folder. All other files are only for the
        // owner.
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
        } catch {
            throw ServerError(.file, of: url.path, expected: "a folder that can be made", found: "none")
        }
    }

    /// Acquires the lock of the process that serves, renews and uploads. A folder has only one such process.
    /// - Throws: ``ServerError`` `folderInUse`.
    package func lock() throws(ServerError) -> FolderLock { try FolderLock(url.appending(path: "lock")) }

    /// Reads the settings that must not come from the database.
    /// - Throws: ``ServerError`` `notFound` for a folder without a server; `malformed` and others for a file that was
    ///   changed.
    @discardableResult
    package func readConfiguration() throws(ServerError) -> FolderConfiguration {
        guard let bytes = try WholeFile.read(configuration, limit: 16 << 10) else {
            throw ServerError(
                .notFound, of: configuration.path, expected: "the configuration of a server", found: "none",
                remedy: """
                    Name the folder of a server with --data, or make one with holdfast-server init. If the folder is a \
                    volume of a container, it is empty or not mounted: mount the one that has the data, and start again.
                    """)
        }
        return try FolderConfiguration(bytes)
    }

    /// The address of the server's database; nil for the file in the folder.
    /// - Throws: ``ServerError`` `invalidValue` if an address is given and the server keeps its data in the folder;
    ///   `moved` for a folder that a server has left; errors of ``readConfiguration()``.
    package func databaseAddress() throws(ServerError) -> PostgreSQLAddress? {
        try requireNotMoved()
        return try address(readConfiguration())
    }

    private func address(_ configuration: FolderConfiguration) throws(ServerError) -> PostgreSQLAddress? {
        guard let otherDatabase else { return configuration.database }
        guard configuration.database != nil else {
            throw ServerError(
                .invalidValue, of: "database", expected: "no address, as the data of this server are in its folder",
                found: "\(otherDatabase)",
                remedy: "Leave it out, or move the server there with holdfast-server migrate.")
        }
        return otherDatabase
    }

    private func engine(
        _ address: PostgreSQLAddress?, _ access: SQLiteConnection.Access, _ clock: any WallClock
    ) async throws(ServerError) -> any StorageEngine {
        if let address {
            return try await PostgreSQLEngine.open(address, access: access, clock: databaseClock, hold: hold)
        }
        return switch access {
        case .writing: try SQLiteEngine(database, clock: clock)
        case .reading: try SQLiteEngine(reading: database, clock: clock)
        }
    }

    /// Refuses a folder that a server has left.
    private func requireNotMoved() throws(ServerError) {
        guard let bytes = try WholeFile.read(moved, limit: 16 << 10) else { return }
        throw ServerError(
            .moved, of: url.path, expected: "the folder of a server",
            found: "one that it has left: \(RelocationMarker.place(in: bytes))")
    }

    /// Opens a server. Without its secret, it opens and signs nothing.
    /// - Parameters:
    ///   - clock: the clock of the machine.
    ///   - steady: the seconds since it started.
    /// - Throws: ``ServerError``; `restoring` for an unfinished restoration: nothing is signed, served or written
    ///   before all public documents were read.
    package func open(clock: any WallClock, steady: SteadyTime = .system) async throws(ServerError) -> Open {
        guard !FileManager.default.fileExists(atPath: restoring.path) else {
            throw ServerError(.restoring, of: url.path, expected: "a server", found: "a backup that is being restored")
        }
        try requireNotMoved()
        return try await openAnyway(clock: clock, steady: steady)
    }

    /// The extent to which a server could be opened.
    package enum Opening: Sendable {
        /// The whole server.
        case whole(Open)
        /// A server that writes nothing, and the reason.
        case reading(Open, ServerError)
        /// Only the documents in its folder, and the reason.
        case documents(ServerError)
    }

    /// Opens as much of a server as possible, so that clients get signed documents regardless of other faults.
    /// - Parameters:
    ///   - clock: the clock of the machine.
    ///   - steady: the seconds since it started.
    /// - Throws: ``ServerError`` `restoring` or `moved`; errors of ``databaseAddress()``.
    package func openWhatCanBe(
        clock: any WallClock, steady: SteadyTime = .system
    ) async throws(ServerError) -> Opening {
        _ = try databaseAddress()
        let problem: ServerError
        do throws(ServerError) {
            return .whole(try await open(clock: clock, steady: steady))
        } catch {
            guard error.code != .restoring, error.code != .moved else { throw error }
            problem = error
        }
        // Another program may hold a lock that also blocks readers. Damage also affects readers.
        do throws(ServerError) {
            let open = try await openAnyway(clock: clock, steady: steady, access: .reading)
            open.catalog.cannotWrite(because: problem)
            return .reading(open, problem)
        } catch {
            return .documents(problem)
        }
    }

    /// Opens a server, even during a restoration.
    /// - Parameter access: the access to the database.
    /// - Parameter isRestored: whether the database is from a backup, which may be old.
    package func openAnyway(
        clock: any WallClock, steady: SteadyTime, access: SQLiteConnection.Access = .writing, isRestored: Bool = false
    ) async throws(ServerError) -> Open {
        let configuration = try readConfiguration()
        let engine = try await engine(address(configuration), access, clock)
        do throws(ServerError) {
            return try await open(
                engine, configuration, ServerTime(clock, steady: steady, file: clockFile, spansStops: isRestored))
        } catch {
            await engine.close()
            throw error
        }
    }

    private func open(
        _ engine: any StorageEngine, _ configuration: FolderConfiguration, _ time: ServerTime
    ) async throws(ServerError) -> Open {
        let file = SecretFile(secretFile ?? URL(filePath: configuration.secret))
        // The valid one has signed the head of the audit.
        let candidates = [file, file.next].compactMap { try? $0.read(outside: url) }
        let catalog = try await Catalog(
            engine, server: configuration.server, genesis: configuration.genesis, head: head, time: time,
            secrets: candidates)
        var secret: SigningSecret?
        var problem: ServerError?
        do throws(ServerError) {
            let read = try self.secret(file, catalog.ledger)
            secret = read
            try await catalog.requireKeys(sealedWith: read)
            catalog.seal(with: read)
        } catch {
            problem = error
            catalog.sealNothing()
        }
        return Open(
            folder: url, configuration: configuration, engine: engine, catalog: catalog,
            publisher: Publisher(catalog, folder: publicFolder, secret: secret), secret: secret, secretProblem: problem)
    }

    /// The secret that seals the keys: the one in its file, or next to it after an interrupted change.
    private func secret(_ file: SecretFile, _ ledger: Ledger) throws(ServerError) -> SigningSecret {
        if let id = ledger.secretID, let next = try? file.next.read(outside: url), next.id == id { return next }
        return try file.read(outside: url)
    }
}
