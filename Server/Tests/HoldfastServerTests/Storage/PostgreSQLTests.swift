import Foundation
import Holdfast
import HoldfastTesting
import Synchronization
import Testing

@testable import HostMonitoring
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerStore

/// Cases that only a database on another machine has.
@Suite(
    "PostgreSQL", .besidePostgres, .needs(.postgreSQL))
struct PostgreSQLTests: PostgreSQLCases {
    // MARK: Tables

    @Test("Both engines have the same tables and columns, with the same types, keys and nulls, after every step")
    func sameTables() async throws {
        let address = try #require(try await StorageKind.postgresql.address())
        let postgres = try PostgreSQLConnection(address, limits: .usual, clock: nil)
        #expect(PostgreSQLMigrations.steps.count == SQLiteMigrations.steps.count)
        try await withFolder { folder in
            let sqlite = try SQLiteConnection(folder.appending(path: "server.db").path, clock: SystemWallClock())
            for (step, other) in zip(SQLiteMigrations.steps, PostgreSQLMigrations.steps) {
                try sqlite.execute(String(decoding: step, as: UTF8.self))
                try postgres.execute(String(decoding: other, as: UTF8.self))
                let types = ["INTEGER": "bigint", "TEXT": "text", "BLOB": "bytea"]
                let ours = try sqlite.run(
                    text: """
                        SELECT m.name, c.name, c.type, max(c."notnull", c.pk > 0), c.pk > 0 FROM sqlite_schema AS m, \
                        pragma_table_info(m.name) AS c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' \
                        ORDER BY 1, 2
                        """
                ).map { row in
                    let type = types[try row.text(2)] ?? "none"
                    return "\(try row.text(0)).\(try row.text(1)) \(type) \(try row.integer(3)) \(try row.integer(4))"
                }
                let theirs = try postgres.run(
                    text: """
                        SELECT c.relname, a.attname, format_type(a.atttypid, NULL), \
                        CASE WHEN a.attnotnull THEN 1 ELSE 0 END, CASE WHEN EXISTS (SELECT 1 FROM pg_index AS i \
                        WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY (i.indkey)) THEN 1 ELSE 0 END \
                        FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 \
                        AND NOT a.attisdropped WHERE c.relkind = 'r' AND c.relnamespace = \
                        (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) \
                        ORDER BY c.relname COLLATE "C", a.attname COLLATE "C"
                        """
                ).map { row in
                    "\(try row.text(0)).\(try row.text(1)) \(try row.text(2)) \(try row.integer(3)) \(try row.integer(4))"
                }
                #expect(ours == theirs)
                let indexes = try sqlite.run(
                    text: "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
                let others = try postgres.run(
                    text: """
                        SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid \
                        WHERE NOT indisunique AND relnamespace = \
                        (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) ORDER BY relname COLLATE "C"
                        """)
                #expect(indexes == others)
                // A text is sorted by its bytes, as in SQLite.
                #expect(
                    try postgres.run(
                        text: """
                            SELECT attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid \
                            JOIN pg_collation ON pg_collation.oid = attcollation WHERE relkind = 'r' AND \
                            relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) \
                            AND collname <> 'C'
                            """
                    ).isEmpty)
            }
        }
    }

    @Test(
        "Of servers that bring an empty database to its tables at once one does, and all work",
        arguments: StorageKind.remote)
    func migratingAtOnce(_ kind: StorageKind) async throws {
        let address = try #require(try await kind.address())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask {
                    try await withEngine(address) { engine in try await add("app-\(number)", to: engine) }
                }
            }
            try await group.waitForAll()
        }
        try await withEngine(address) { engine in
            let names = try await names(in: engine)
            #expect(names.count == 6)
        }
    }

    @Test("A database of a newer version, and one of another program, is refused and stays as it is")
    func foreign() async throws {
        let server = try #require(PostgresServer.current)
        let newer = try await server.database()
        try await withEngine(try server.address(newer)) { _ in }
        try await server.run("UPDATE schema_version SET version = 99;", in: newer)
        await expectError(.newerDatabase) { try await PostgreSQLEngine.open(try server.address(newer)) }
        let other = try await server.database()
        try await server.run("CREATE TABLE theirs (a int);", in: other)
        await expectError(.damagedDatabase) { try await PostgreSQLEngine.open(try server.address(other)) }
        #expect(
            try await server.run("SELECT relname FROM pg_class WHERE relname IN ('app', 'theirs');", in: other)
                .contains("(1 row)"))
        await expectError(.readOnlyDatabase) {
            try await PostgreSQLEngine.open(
                try server.address(try await server.database()), access: .reading, clock: nil)
        }
        await expectError(.unreachableDatabase) { try await PostgreSQLEngine.open(try server.address("none")) }
    }

    @Test("A step that fails leaves a database as it was, and is taken when nothing is in its way")
    func interrupted() async throws {
        let server = try #require(PostgresServer.current)
        let name = try await server.database()
        try await withEngine(try server.address(name)) { _ in }
        try await server.run(
            "DROP TABLE session, passkey_challenge, passkey, invitation_approval, invitation, audit_head, "
                + "service_lease, notice_told; "
                + "ALTER TABLE next_chain DROP COLUMN announced_by; ALTER TABLE next_key DROP COLUMN announced_by; "
                + "DROP INDEX observation_of_chain, observation_of_address, next_chain_of_chain; "
                + "ALTER TABLE observation DROP COLUMN standing; ALTER TABLE public_key DROP COLUMN is_proposed; "
                + "UPDATE schema_version SET version = 7; CREATE TABLE passkey (a int);", in: name)
        await #expect(throws: ServerError.self) { try await PostgreSQLEngine.open(try server.address(name)) }
        #expect(try await server.run("SELECT version FROM schema_version;", in: name).contains(" 7\n"))
        #expect(try await server.run("SELECT to_regclass('invitation') IS NULL AS gone;", in: name).contains(" t\n"))
        try await server.run("DROP TABLE passkey;", in: name)
        try await withEngine(try server.address(name)) { try await add("bank", to: $0) }
    }

    @Test("A database in another encoding is refused, and the error says how to make one")
    func encoding() async throws {
        let server = try #require(PostgresServer.current)
        try await server.run("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0;")
        let error = await expectError(.database) { try await PostgreSQLEngine.open(try server.address("latin")) }
        #expect(error?.remedy.contains("UTF8") == true)
    }

    // MARK: Several at once

    @Test("Two engines on one database take turns to write, and lease no row twice", arguments: StorageKind.remote)
    func competing(_ kind: StorageKind) async throws {
        let address = try #require(try await kind.address())
        try await withEngine(address) { one in
            try await withEngine(address) { other in
                try await add("bank", to: one)
                try await one.write { session throws(ServerError) in
                    for port in 1...40 {
                        _ = try session.run(
                            "INSERT INTO host (app, name, port, renewal, next_poll_at) VALUES ('bank', 'a.example', $1, 'announced', {now})",
                            [.integer(Int64(port))])
                    }
                }
                let taken = try await withThrowingTaskGroup(of: [Int64].self) { group in
                    for number in 0..<16 {
                        let leases = HostLeases(number.isMultiple(of: 2) ? one : other)
                        group.addTask {
                            try await leases.take(
                                3, for: 60, token: try #require(RandomID(hex: String(format: "%032x", number).utf8))
                            ).map(\.id)
                        }
                        let engine = number.isMultiple(of: 2) ? other : one
                        group.addTask {
                            try await engine.write { session throws(ServerError) in
                                let row = try session.run("SELECT generation FROM app {lock}")[0]
                                _ = try session.run(
                                    "UPDATE app SET generation = $1", [.integer(try row.integer(0) + 1)])
                                return []
                            }
                        }
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                #expect(taken.count == 40 && Set(taken).count == 40)
                let generation = try await other.read { session throws(ServerError) in
                    try session.run("SELECT generation FROM app")
                }
                #expect(generation == [StorageRow([.integer(16)])])
            }
        }
    }

    @Test(
        "Whoever waits too long for its turn to write is told, and nothing of it is written",
        arguments: StorageKind.remote)
    func turn(_ kind: StorageKind) async throws {
        let address = try #require(try await kind.address())
        var limits = PostgreSQLLimits.usual
        limits.turn = .milliseconds(100)
        try await withEngine(address) { one in
            try await withEngine(address, limits: limits) { other in
                let (begun, done) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
                async let long: Void = one.write { session throws(ServerError) in
                    begun.continuation.finish()
                    done.wait()
                }
                for await _ in begun.stream {}
                await expectError(.lockedDatabase) { try await add("bank", to: other) }
                // A read does not wait for a write.
                #expect(try await names(in: other) == [])
                done.signal()
                try await long
                try await add("shop", to: other)
                #expect(try await names(in: other) == ["shop"])
            }
        }
    }

    @Test("However much is read at once, there are few connections")
    func pool() async throws {
        let address = try #require(try await StorageKind.postgresql.address())
        try await withEngine(address) { engine in
            try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<60 {
                    group.addTask {
                        try await engine.read { session throws(ServerError) in
                            try session.run(
                                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")[0].integer(
                                    0)
                        }
                    }
                }
                let counts = try await group.reduce(into: []) { $0.append($1) }
                #expect(counts.count == 60 && counts.allSatisfy { (1...5).contains($0) })
            }
        }
    }

    // MARK: Who is let in

    @Test("With verify-full the database must show a certificate of its name that the authorities signed")
    func tls() async throws {
        let (root, other) = (try TestAuthority.root(), try TestAuthority.root(name: "Another Root"))
        let leaf = try root.leaf(names: [.dns("localhost")])
        let configure: (URL) throws -> [String] = { folder in
            for (name, text) in [("server.crt", leaf.chainPEM), ("server.key", leaf.key.privateKeyPEM)] {
                let file = folder.appending(path: name)
                try Data(text.utf8).write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
                guard getuid() == 0 else { continue }
                try FileManager.default.setAttributes(
                    [.ownerAccountID: NSNumber(value: PostgresServer.nobody)], ofItemAtPath: file.path)
            }
            for (name, authority) in [("root.pem", root), ("other.pem", other)] {
                try Data(TestCertificate.pem(authority.root).utf8).write(to: folder.appending(path: name))
            }
            return ["ssl=on", "ssl_cert_file=\(folder.path)/server.crt", "ssl_key_file=\(folder.path)/server.key"]
        }
        try await PostgresServer.run(settings: configure) { server in
            let name = try await server.database()
            func open(_ host: String, _ file: String) async throws {
                let address = try PostgreSQLAddress(
                    "postgresql://holdfast@\(host):\(server.port)/\(name)?sslmode=verify-full&sslrootcert=\(server.folder.path)/\(file)"
                )
                try await withEngine(address) { engine in
                    let encrypted = try await engine.read { session throws(ServerError) in
                        try session.run(
                            "SELECT CASE WHEN ssl THEN 1 ELSE 0 END FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
                    }
                    #expect(encrypted == [StorageRow([.integer(1)])])
                }
            }
            try await open("localhost", "root.pem")
            // More than OpenSSL decrypts at once.
            let address = try PostgreSQLAddress(
                "postgresql://holdfast@localhost:\(server.port)/\(name)?sslmode=verify-full&sslrootcert=\(server.folder.path)/root.pem"
            )
            try await withEngine(address) { engine in
                for length in [1, 8_191, 16_384, 100_000, 3_000_000] as [Int64] {
                    let row = try await engine.read { session throws(ServerError) in
                        try session.run("SELECT repeat('x', CAST($1 AS int))", [.integer(length)])[0].text(0)
                    }
                    #expect(row.utf8.count == length)
                }
            }
            await expectError(.unreachableDatabase) { try await open("127.0.0.1", "root.pem") }
            await expectError(.unreachableDatabase) { try await open("localhost", "other.pem") }
            await expectError(.unreachableDatabase) { try await open("localhost", "none.pem") }
        }
        // A database without TLS gets neither the role's name nor its password.
        let plain = try #require(PostgresServer.current)
        await expectError(.unreachableDatabase) {
            try await PostgreSQLEngine.open(
                PostgreSQLAddress("postgresql://holdfast:pw@localhost:\(plain.port)/postgres?sslmode=verify-full"))
        }
    }

    @Test("A password comes from a file; a wrong one is refused, and no error has it")
    func password() async throws {
        let configure: (URL) throws -> [String] = { folder in
            let file = folder.appending(path: "hba")
            try Data("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n".utf8).write(to: file)
            return ["hba_file=\(file.path)"]
        }
        try await PostgresServer.run(settings: configure) { server in
            let name = try await server.database()
            try await server.run("ALTER ROLE holdfast PASSWORD 's3cret';")
            let passwords = server.folder.appending(path: "passwords")
            func write(_ password: String) throws {
                try Data("127.0.0.1:*:*:holdfast:\(password)\n".utf8).write(to: passwords)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: passwords.path)
            }
            let text = "postgresql://holdfast@127.0.0.1:\(server.port)/\(name)"
            let address = try PostgreSQLAddress("\(text)?passfile=\(passwords.path)")
            let missing = await expectError(.unreachableDatabase) { try await PostgreSQLEngine.open(address) }
            #expect(missing?.remedy.contains("passfile") == true)
            try write("wr0ng")
            let wrong = await expectError(.unreachableDatabase) { try await PostgreSQLEngine.open(address) }
            #expect(wrong.map { !"\($0)".contains("wr0ng") } ?? false)
            try write("s3cret")
            try await withEngine(address) { try await add("bank", to: $0) }
            try await withEngine(PostgreSQLAddress(text.replacing("holdfast@", with: "holdfast:s3cret@"))) { engine in
                let names = try await names(in: engine)
                #expect(names == ["bank"])
            }
        }
    }
}
