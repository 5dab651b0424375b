public import Foundation
public import Holdfast

/// The folder of a server: `configuration.json`, `server.db`, `head`, `lock`, `public/` and `versions/`.
public struct ServerFolder: Sendable {
    /// The folder.
    public let url: URL

    /// Names a folder.
    public init(_ url: URL) { self.url = url }

    /// What ``Catalog`` may not read from the database.
    public var configuration: URL { url.appending(path: "configuration.json") }
    private var database: URL { url.appending(path: "server.db") }
    private var head: HeadFile { HeadFile(url.appending(path: "head")) }

    /// What any web server serves.
    public var publicFolder: PublicFolder {
        PublicFolder(url.appending(path: "public"), versions: url.appending(path: "versions"))
    }

    /// A server that is open.
    public struct Open: Sendable {
        /// What it is configured with.
        public let configuration: FolderConfiguration
        /// Its database.
        public let engine: SQLiteEngine
        /// What it knows.
        public let catalog: Catalog
        /// Takes changes to clients.
        public let publisher: Publisher
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
    /// - Throws: ``ServerError``; `constraint` for a folder that has a server already.
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
        if !FileManager.default.fileExists(atPath: url.path) {
            // A web server of another user enters it on its way to what is public; all else is for the owner alone.
            do {
                try FileManager.default.createDirectory(
                    at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
            } catch {
                throw ServerError(.file, of: url.path, expected: "a folder that can be made", found: "none")
            }
        }
        let made = SigningSecret(using: &generator)
        try secret.create(made, outside: url)
        let engine = try SQLiteEngine(database, clock: clock)
        _ = try await Catalog(creating: engine, server: statement.server, genesis: genesis, head: head)
        await engine.close()
        // Written last: a folder without it has no server.
        let settings = try FolderConfiguration(
            server: statement.server, genesis: statement.digest, secret: secret.url.path)
        try WholeFile.replace(configuration, with: settings.octets)
        return made
    }

    /// Takes the lock of whoever serves, renews and uploads: there is one such process for a folder.
    /// - Throws: ``ServerError`` `folderInUse`.
    public func lock() throws(ServerError) -> FolderLock { try FolderLock(url.appending(path: "lock")) }

    /// What a server must not read from its database.
    /// - Throws: ``ServerError`` `notFound` for a folder without a server; `malformed` and others for a file that was
    ///   changed.
    @discardableResult
    public func readConfiguration() throws(ServerError) -> FolderConfiguration {
        guard let octets = try WholeFile.read(configuration, limit: 16 << 10) else {
            throw ServerError(
                .notFound, of: configuration.path, expected: "the configuration of a server", found: "none",
                remedy: "Name the folder with --data, or make a server with holdfast-server init.")
        }
        return try FolderConfiguration(octets)
    }

    /// Opens a server. Without its secret it is open all the same, and signs nothing.
    /// - Throws: ``ServerError``.
    public func open(clock: any WallClock) async throws(ServerError) -> Open {
        let configuration = try readConfiguration()
        let engine = try SQLiteEngine(database, clock: clock)
        let catalog = try await Catalog(
            engine, server: configuration.server, genesis: configuration.genesis, head: head)
        var secret: SigningSecret?
        var problem: ServerError?
        do throws(ServerError) {
            let read = try SecretFile(URL(filePath: configuration.secret)).read(outside: url)
            secret = read
            try await catalog.requireKeys(sealedWith: read)
        } catch {
            problem = error
        }
        return Open(
            configuration: configuration, engine: engine, catalog: catalog,
            publisher: Publisher(catalog, folder: publicFolder, secret: secret), secretProblem: problem)
    }
}
