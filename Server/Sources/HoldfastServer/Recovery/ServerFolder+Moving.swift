import Foundation
public import Holdfast

extension ServerFolder {
    /// What a move led to.
    public struct Moving: Sendable, Hashable {
        /// The rows of each table, by its name.
        public let rows: [String: Int64]
        /// The end of the audit, the same as before.
        public let head: AuditHead
    }

    /// Moves a server from a folder with a database of its own to a database of PostgreSQL and this folder, which has none
    /// yet. No server may run on the old folder; it keeps everything, and is marked so that none starts there anymore.
    /// - Parameters:
    ///   - old: the old folder.
    ///   - address: the database, which must be empty.
    ///   - clock: the time.
    /// - Throws: ``ServerError``: `constraint` for a folder or a database that has a server; `folderInUse` while a server
    ///   runs; `brokenChain`. The old folder is as it was then.
    public func move(
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
                .constraint, of: old.url.path, expected: "a server with a database of its own",
                found: "one on PostgreSQL already",
                remedy: "Move its database with PostgreSQL's own tools, and name the new address with --database.")
        }
        let settings = try FolderConfiguration(
            server: before.server, genesis: before.genesis, secret: before.secret, database: address)
        // It is opened once: what is wrong with it is found before anything is copied.
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

    /// Marks the old folder, and makes this one a server's.
    func leave(_ old: ServerFolder, _ settings: FolderConfiguration) throws(ServerError) {
        try WholeFile.replace(old.moved, with: RelocationMarker.bytes(self))
        do throws(ServerError) {
            // A folder without it has no server.
            try WholeFile.replace(configuration, with: settings.bytes)
        } catch {
            // One of both folders serves, whatever happens.
            if !FileManager.default.fileExists(atPath: configuration.path) {
                try? WholeFile.remove(old.moved)
            }
            throw error
        }
        // A program that does not know the mark refuses a configuration that says where the database is.
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
            // A backup of a database of many machines has one; the first server here signs what it finds.
            try target.run(text: "DELETE FROM audit_head")
            var chain = AuditChain()
            let audit = StorageTable(name: "audit ORDER BY place", columns: ["entry"])
            try audit.forEachPart(of: target) { part throws(ServerError) in
                for row in part { try chain.follow(try row.bytes(0)) }
            }
            guard chain.head == known else {
                throw ServerError(
                    .brokenChain, of: "audit", expected: "the head \(known)", found: "\(chain.head)",
                    remedy: "Nothing was moved. Somebody has written to the old database meanwhile: try again.")
            }
            return Moving(rows: rows, head: chain.head)
        }
    }

    /// Copies what lies beside the database.
    private func takeFiles(of old: ServerFolder) throws(ServerError) {
        for name in ["head", "clock", "public", "versions"] {
            let (source, target) = (old.url.appending(path: name), url.appending(path: name))
            guard FileManager.default.fileExists(atPath: source.path) else { continue }
            do {
                // What an attempt left that was interrupted.
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
