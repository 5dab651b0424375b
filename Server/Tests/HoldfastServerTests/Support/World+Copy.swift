import Foundation
import HoldfastTesting

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerStore

extension World {
    /// Copies the server's folder, so that a test can write into the copy's database.
    func copy(_ name: String) throws -> (folder: URL, engine: SQLiteEngine) {
        let place = folder.appending(path: "copies").appending(path: name)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        // The write-ahead log has what the database has not.
        for file in ["server.db", "server.db-wal", "head"] {
            try? FileManager.default.copyItem(at: folder.appending(path: file), to: place.appending(path: file))
        }
        return (place, try SQLiteEngine(place.appending(path: "server.db"), clock: clock))
    }

    /// A server that begins with what such a copy has.
    func publisher(
        on engine: SQLiteEngine, in folder: URL, reader: FolderProvider? = nil
    ) async throws -> Publisher {
        let catalog = try await Catalog(
            engine, server: Story.server, genesis: Digest(of: story.genesis.text),
            head: HeadFile(folder.appending(path: "head")), time: World.time(clock, in: folder))
        return Publisher(
            catalog,
            folder: PublicFolder(folder.appending(path: "public"), versions: folder.appending(path: "versions")),
            secret: World.secret(), reader: reader ?? FolderProvider(folder: folder))
    }
}
