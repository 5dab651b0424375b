import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// A world whose folder is one of a server, with its secret beside it.
extension World {
    /// Where the world keeps what is not in the folder.
    var outside: URL { folder.deletingLastPathComponent() }
    var server: ServerFolder {
        var server = ServerFolder(folder)
        server.databaseClock = clock
        return server
    }
    var secretFile: SecretFile { SecretFile(outside.appending(path: "secret-\(folder.lastPathComponent)")) }

    /// Runs a test in a new world, whose folder has everything that a server's has.
    static func settled(
        canary: Int64 = 0, _ body: (World) async throws -> Void
    ) async throws {
        try await World.run(canary: canary) { world in
            try world.secretFile.create(World.secret(), outside: world.folder)
            defer { try? FileManager.default.removeItem(at: world.secretFile.url) }
            let settings = try FolderConfiguration(
                server: Story.server, genesis: Digest(of: world.story.genesis.text), secret: world.secretFile.url.path,
                database: WorldDatabase.current)
            try WholeFile.replace(world.server.configuration, with: settings.bytes)
            try await body(world)
        }
    }

    /// The server, opened by another process.
    func opened<Value>(_ body: (ServerFolder.Open) async throws -> Value) async throws -> Value {
        let open = try await server.open(clock: clock, steady: steady)
        do {
            let value = try await body(open)
            await open.engine.close()
            return value
        } catch {
            await open.engine.close()
            throw error
        }
    }

    /// Writes a backup.
    @discardableResult
    func backUp(_ name: String = "backup-\(UUID().uuidString)") async throws -> URL {
        let file = outside.appending(path: name)
        _ = try await opened { try await server.backUp($0, to: file, for: BackupExample.key.recipient) }
        return file
    }

    func source(_ backup: URL) throws -> ServerFolder.BackupSource {
        try ServerFolder.BackupSource(backup, key: BackupExample.key, secret: secretFile)
    }

    /// Restores a backup into a folder of its own, with what this world has published as what is public.
    func restored(
        _ backup: URL, places: [PublicPlace]? = nil, known: AuditHead? = nil, disregarding: Set<String> = [],
        goneFrom: Set<String> = [], reader: any RemoteDataProvider = NoProvider(),
        _ body: (World, RestorationReport) async throws -> Void
    ) async throws {
        try await withFolder { parent in
            let other = ServerFolder(parent.appending(path: "data"))
            var generator = SystemRandomNumberGenerator()
            let rules = ServerFolder.RestoringRules(
                places: places ?? [.folder(folder.appending(path: "public"))], known: known, disregarded: disregarding,
                goneFrom: goneFrom, reader: reader)
            let report = try await other.restore(
                source(backup), rules: rules, clock: clock, using: &generator, by: "operator")
            let open = try await other.open(clock: clock, steady: steady)
            try await open.publisher.refresh()
            try await body(World(self, as: open, in: other.url), report)
            await open.engine.close()
        }
    }
}

/// Answers nothing.
struct NoProvider: RemoteDataProvider {
    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse { throw RemoteDataError(status: 503) }
}

/// Answers from the files of a folder, as a web server does.
struct FolderProvider: RemoteDataProvider {
    let folder: URL
    /// The error that it throws instead.
    var failure: RemoteDataError?

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        if let failure { throw failure }
        let file = folder.appending(path: String(request.url.path.dropFirst()))
        guard let data = try? Data(contentsOf: file) else { throw RemoteDataError(status: 404) }
        return RemoteDataResponse(.body(data))
    }
}
