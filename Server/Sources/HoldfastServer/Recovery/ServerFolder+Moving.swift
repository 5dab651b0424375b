import Foundation
package import Holdfast
package import PinPublication
package import ServerFoundation
package import ServerModel
package import ServerStore

extension ServerFolder {
    /// The result of a move.
    package struct Moving: Sendable, Hashable {
        /// The rows of each table, by its name.
        package let rows: [String: Int64]
        /// The head of the audit, the same as before.
        package let head: AuditHead
    }

    /// Moves a server from a folder with its own database to a PostgreSQL database and this folder, which has no
    /// database yet. No server may run on the old folder. The old folder keeps its files, and is marked so that no
    /// server starts there.
    /// - Parameters:
    ///   - old: the old folder.
    ///   - address: the database, which must be empty.
    ///   - clock: the time.
    /// - Throws: ``ServerError``: `constraint` for a folder or a database that has a server; `folderInUse` while a
    ///   server runs; `brokenChain`. The old folder is unchanged then.
    package func move(
        from old: ServerFolder, to address: PostgreSQLAddress, clock: any WallClock
    ) async throws(ServerError) -> Moving {
        guard try WholeFile.read(configuration, limit: 16 << 10) == nil,
            !FileManager.default.fileExists(atPath: database.path), !WholeFile.isInside(url, old.url)
        else {
            throw ServerError(
                .constraint, of: url.path, expected: "a new folder for the server", found: "one with a server",
                remedy: "Name a folder that does not exist yet.")
        }
        let lock = try old.lock()
        defer { withExtendedLifetime(lock) {} }
        let before = try old.readConfiguration()
        guard before.database == nil else {
            throw ServerError(
                .constraint, of: old.url.path, expected: "a server with its own database",
                found: "one on PostgreSQL already",
                remedy: "Move its database with PostgreSQL's own tools, and name the new address with --database.")
        }
        let settings = try FolderConfiguration(
            server: before.server, genesis: before.genesis, secret: before.secret, database: address)
        // Open it once, to find faults before anything is copied.
        let open = try await old.open(clock: clock)
        let ledger = open.catalog.ledger
        await open.engine.close()
        try makeFolder()
        let engine = try await PostgreSQLEngine.open(address, access: .writing, clock: databaseClock)
        do throws(ServerError) {
            // Commands that write take this lock as well.
            let quiet = try old.head.lock()
            let moving = try await fill(engine, from: old, ledger.chain.head)
            try takeFiles(of: old)
            try leave(old, settings)
            withExtendedLifetime(quiet) {}
            await engine.close()
            return moving
        } catch {
            await engine.close()
            throw error
        }
    }

    /// Marks the old folder, and writes the configuration of this one.
    package func leave(_ old: ServerFolder, _ settings: FolderConfiguration) throws(ServerError) {
        try WholeFile.replace(old.moved, with: RelocationMarker.bytes(self))
        do throws(ServerError) {
            // Without a configuration, the folder has no server.
            try WholeFile.replace(configuration, with: settings.bytes)
        } catch {
            // Exactly one of both folders must be able to serve, even after an error.
            if !FileManager.default.fileExists(atPath: configuration.path) {
                try? WholeFile.remove(old.moved)
            }
            throw error
        }
        // A program that does not know the mark refuses a configuration with an external database.
        try WholeFile.replace(old.configuration, with: settings.bytes)
    }

    /// Copies all tables in one transaction.
    private func fill(
        _ engine: PostgreSQLEngine, from old: ServerFolder, _ known: AuditHead
    ) async throws(ServerError) -> Moving {
        let file = old.database.path
        return try await engine.transact { target throws(ServerError) in
            let source = try SQLiteConnection(file, access: .reading, clock: SystemWallClock())
            try source.prepareReading()
            try source.execute("BEGIN DEFERRED")
            let tables = try StorageTable.all(of: source)
            for table in tables {
                guard try target.run(text: "SELECT 1 FROM \(table.name) LIMIT 1").isEmpty else {
                    throw ServerError(
                        .constraint, of: "database", expected: "an empty one", found: "one of a server",
                        remedy: "Name a new database; a server is never overwritten.")
                }
            }
            var rows: [String: Int64] = [:]
            for table in tables {
                var count: Int64 = 0
                try table.forEachPart(of: source) { part throws(ServerError) in
                    try table.insert(part, into: target)
                    count += Int64(part.count)
                }
                try table.renumber(target)
                let arrived = try target.run(text: "SELECT count(*) FROM \(table.name)").first?.integer(0)
                guard arrived == count else {
                    throw ServerError(
                        .database, of: table.name, expected: "\(count) rows", found: "\(arrived ?? 0)",
                        remedy: "Nothing was moved. Look for triggers and rules in the new database.")
                }
                rows[table.name] = count
            }
            // A backup of a database for several machines has a head. The first server here signs its own.
            try target.run(text: "DELETE FROM audit_head")
            var chain = AuditChain()
            let audit = StorageTable(name: "audit ORDER BY place", columns: ["entry"])
            try audit.forEachPart(of: target) { part throws(ServerError) in
                for row in part { try chain.follow(try row.bytes(0)) }
            }
            guard chain.head == known else {
                throw ServerError(
                    .brokenChain, of: "audit", expected: "the head \(known)", found: "\(chain.head)",
                    remedy: "Nothing was moved, because another program wrote to the old database at the same time. "
                        + "Try again.")
            }
            return Moving(rows: rows, head: chain.head)
        }
    }

    /// Copies the files next to the database.
    private func takeFiles(of old: ServerFolder) throws(ServerError) {
        for name in ["head", "clock", "public", "versions"] {
            let (source, target) = (old.url.appending(path: name), url.appending(path: name))
            guard FileManager.default.fileExists(atPath: source.path) else { continue }
            do {
                // Remove the rest of an interrupted attempt.
                if FileManager.default.fileExists(atPath: target.path) {
                    try FileManager.default.removeItem(at: target)
                }
                try FileManager.default.copyItem(at: source, to: target)
            } catch {
                throw ServerError(
                    .file, of: target.path, expected: "a copy of \(source.path)", found: "none",
                    remedy: "Check the free space, empty the new database, and try again.")
            }
        }
    }
}
