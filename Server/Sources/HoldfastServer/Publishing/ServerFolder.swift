public import Foundation
public import Holdfast

/// The folder of a server: `configuration.json`, `server.db`, `head`, `reserve`, `clock`, `lock`, `public/` and
/// `versions/`, and while a backup is being restored `restoring`.
public struct ServerFolder: Sendable {
    /// The folder.
    public let url: URL
    /// Where the secret is, if not where the configuration says, such as in the credentials of a service.
    private let secretFile: URL?
    /// Where the database is, if not where the configuration says.
    private let otherDatabase: PostgreSQLAddress?
    /// What queries of a database of another machine see as the time; nil for its own.
    var databaseClock: (any WallClock)?
    /// The right to serve from the database, for a server that has it: it writes nothing once that is lost, and nobody
    /// else brings the database to newer tables.
    public var hold: DatabaseLock?

    /// Names a folder.
    /// - Parameters:
    ///   - secret: where the secret is, if not where the configuration says.
    ///   - database: how the database of PostgreSQL is reached, if not as the configuration says; for a new server, which
    ///     database it gets, nil for a file in the folder.
    public init(_ url: URL, secret: URL? = nil, database: PostgreSQLAddress? = nil) {
        self.url = url
        secretFile = secret
        otherDatabase = database
    }

    /// Settings that ``Catalog`` may not read from the database.
    public var configuration: URL { url.appending(path: "configuration.json") }
    var database: URL { url.appending(path: "server.db") }
    var head: HeadFile { HeadFile(url.appending(path: "head")) }
    var clockFile: URL { url.appending(path: "clock") }
    /// There from before a backup is unpacked until everything that is public was read.
    var restoring: URL { url.appending(path: "restoring") }
    /// There from when the server has gone to another database; it says where.
    var moved: URL { url.appending(path: "moved") }

    /// Who else can write what the server relies on.
    public func permissions() -> FolderPermissions {
        let configured = try? readConfiguration().secret
        return FolderPermissions(of: url, secret: secretFile ?? configured.map { URL(filePath: $0) })
    }

    /// What any web server serves.
    public var publicFolder: PublicFolder {
        PublicFolder(url.appending(path: "public"), versions: url.appending(path: "versions"))
    }

    /// A server that is open.
    public struct Open: Sendable {
        /// Where it is.
        public let folder: URL
        /// What it is configured with.
        public let configuration: FolderConfiguration
        /// Its database.
        public let engine: any StorageEngine
        /// What it knows.
        public let catalog: Catalog
        /// Takes changes to clients.
        public let publisher: Publisher
        /// What opens and seals private keys; nil if nothing can be signed.
        public let secret: SigningSecret?
        /// Why it cannot sign; nil if it can.
        public let secretProblem: ServerError?
    }

    /// Makes a server. Nothing is there afterwards that was there before.
    /// - Parameters:
    ///   - genesis: the first statement of approvers, signed by all of them.
    ///   - secret: the file for the new secret, outside the folder.
    ///   - clock: the time.
    ///   - generator: makes the secret.
    /// - Returns: the secret, for a recovery copy.
    /// - Throws: ``ServerError``; `constraint` for a folder or a database that has a server already.
    public func create(
        genesis: SignedApprovers, secret: SecretFile, clock: any WallClock,
        using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> SigningSecret {
        let statement = try ApproverStatement(genesis.text)
        // Everything is checked before anything is written.
        _ = try ApproverChain(genesis: genesis, digest: statement.digest, server: statement.server)
        guard try WholeFile.read(configuration, limit: 16 << 10) == nil,
            !FileManager.default.fileExists(atPath: database.path)
        else {
            throw ServerError(
                .constraint, of: url.path, expected: "a folder without a server", found: "one with a server",
                remedy: "Name another folder; a server is never overwritten.")
        }
        try makeFolder()
        // A database that cannot be used is found before a secret is made.
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
        // Written last: a folder without it has no server.
        let settings = try FolderConfiguration(
            server: statement.server, genesis: statement.digest, secret: secret.url.path, database: otherDatabase)
        try WholeFile.replace(configuration, with: settings.bytes)
        return made
    }

    func makeFolder() throws(ServerError) {
        guard !FileManager.default.fileExists(atPath: url.path) else { return }
        // A web server of another user enters it on its way to what is public; all else is for the owner alone.
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
        } catch {
            throw ServerError(.file, of: url.path, expected: "a folder that can be made", found: "none")
        }
    }

    /// Takes the lock of the process that serves, renews and uploads: a folder has one such process.
    /// - Throws: ``ServerError`` `folderInUse`.
    public func lock() throws(ServerError) -> FolderLock { try FolderLock(url.appending(path: "lock")) }

    /// What a server must not read from its database.
    /// - Throws: ``ServerError`` `notFound` for a folder without a server; `malformed` and others for a file that was
    ///   changed.
    @discardableResult
    public func readConfiguration() throws(ServerError) -> FolderConfiguration {
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

    /// Where the database of the server is; nil for the file in the folder.
    /// - Throws: ``ServerError`` `invalidValue` if an address is given and the server keeps its data in the folder;
    ///   `moved` for a folder that a server has left; what ``readConfiguration()`` throws.
    public func databaseAddress() throws(ServerError) -> PostgreSQLAddress? {
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

    /// Opens a server. Without its secret it is open all the same, and signs nothing.
    /// - Parameters:
    ///   - clock: the clock of the machine.
    ///   - steady: the seconds since it started.
    /// - Throws: ``ServerError``; `restoring` for a backup that was not restored to its end: nothing is signed, served or
    ///   written before all that is public was read.
    public func open(clock: any WallClock, steady: SteadyTime = .system) async throws(ServerError) -> Open {
        guard !FileManager.default.fileExists(atPath: restoring.path) else {
            throw ServerError(.restoring, of: url.path, expected: "a server", found: "a backup that is being restored")
        }
        try requireNotMoved()
        return try await openAnyway(clock: clock, steady: steady)
    }

    /// How much of a server could be opened.
    public enum Opening: Sendable {
        /// Everything.
        case whole(Open)
        /// A server that writes nothing, and why.
        case reading(Open, ServerError)
        /// Nothing but the documents in its folder, and why.
        case documents(ServerError)
    }

    /// Opens as much of a server as can be, so that clients get what was signed whatever has become of the rest.
    /// - Parameters:
    ///   - clock: the clock of the machine.
    ///   - steady: the seconds since it started.
    /// - Throws: ``ServerError`` `restoring` or `moved`; what ``databaseAddress()`` throws.
    public func openWhatCanBe(
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
        // Another program may hold a lock that stops readers too; what is damaged is damaged for them as well.
        do throws(ServerError) {
            let open = try await openAnyway(clock: clock, steady: steady, access: .reading)
            open.catalog.cannotWrite(because: problem)
            return .reading(open, problem)
        } catch {
            return .documents(problem)
        }
    }

    /// Opens a server that may be in the middle of a restoration.
    /// - Parameter access: what may be done with the database.
    /// - Parameter isRestored: whether the database comes out of a backup, which may be old.
    func openAnyway(
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
        // Which of them counts says the audit, whose end they have signed.
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

    /// The secret that keys are sealed with: the one in its file, or beside it after a change that was interrupted.
    private func secret(_ file: SecretFile, _ ledger: Ledger) throws(ServerError) -> SigningSecret {
        if let id = ledger.secretID, let next = try? file.next.read(outside: url), next.id == id { return next }
        return try file.read(outside: url)
    }
}
