import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// The program itself on a database of PostgreSQL.
@Suite(
    "serve on PostgreSQL", .besidePostgres, .timeLimit(.minutes(10)),
    .needs(.postgreSQL))
struct PostgreSQLServerTests {
    private typealias Desk = CommandTests.Desk

    private static let challenge = ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="]

    /// How an address is given to the program.
    private func text(_ address: PostgreSQLAddress) -> String { address.withoutPassword }

    @Test(
        "From nothing to clients that follow: init, app, host, proposal, approvals, publication, serve, backup",
        arguments: StorageKind.remote)
    func wholeWay(_ kind: StorageKind) async throws {
        let address = try #require(try await kind.address())
        try await withFolder { folder in
            let desk = try Desk(in: folder, database: ["--database", text(address)])
            try await desk.makeServer()
            #expect(!FileManager.default.fileExists(atPath: desk.path("data/server.db")))
            try await desk.see()
            let proposed = try await desk.run(
                "change", "propose", "bank", "--data", desk.data, "--format", "list", "--reason", "first pins",
                "--proposer", "carol")
            let change = String(proposed.split(separator: "\n")[0].dropFirst("change ".count))
            #expect(try await desk.run("publish", change, "--data", desk.data, status: 1).contains("notApproved"))
            for name in ["alice", "bob"] {
                _ = try await desk.run("approve", change, "--data", desk.data, "--key", "\(name).pem", "--yes")
            }
            #expect(try await desk.run("publish", change, "--data", desk.data).contains("generation 1"))
            try await desk.everybodyFollows()
            #expect(
                try await desk.run("status", "--data", desk.data, "--database", text(address)).contains("generation 1"))
            let doctor = try await ServerProgram.run(["doctor", "--data", desk.data], in: folder)
            #expect(doctor.status == 0, "\(doctor.output)")

            // A second server on the database is none.
            let refused = try await desk.run(
                [
                    "init", "--data", desk.path("again"), "--secret", desk.path("other"), "--no-recovery-copy",
                    "--genesis", "genesis.txt", "--signature", "alice.sig", "--signature", "bob.sig", "--signature",
                    "carol.sig",
                ] + desk.database, status: 3)
            #expect(refused.contains("constraint") && refused.contains("expected an empty one"), "\(refused)")

            // A backup of it is one like any other.
            let key = SigningKey()
            try Data(key.pem.utf8).write(to: folder.appending(path: "backup.pem"))
            try Data("\(key.publicKey.base64)\n".utf8).write(to: folder.appending(path: "backup.pub"))
            _ = try await desk.run(
                "backup", "--data", desk.data, "--to", desk.path("pins.backup"), "--recipient", desk.path("backup.pub"))
            let checked = try await desk.run(
                "restore", desk.path("pins.backup"), "--check", "--key", desk.path("backup.pem"), "--secret",
                desk.path("secret"))
            #expect(checked.contains("and every key opens"), "\(checked)")
        }
    }

    /// Has every kind of client follow a machine, once it serves and its folder has what is newest: it looks each second.
    private static func everybodyFollows(_ port: Int, _ folder: URL, _ site: ServeSite) async throws {
        let machine = ServeSite(site, movedTo: ServerFolder(folder), site.open)
        try await eventually("the machine at port \(port) has what is newest") {
            let newest = try await site.open.catalog.look { [app = site.app] _, ledger throws(ServerError) in
                ledger.documents.filter { $0.app == app && !$0.name.contains("-canary") && !$1.isWithdrawn }
            }
            for (name, version) in newest {
                let body = try? await RawClient(port: port).body(of: "/\(name.name)")
                guard let body, Digest(of: body) == version.digest,
                    try machine.server.publicFolder.read(name.name).map({ Digest(of: $0) }) == version.digest
                else { return false }
            }
            return !newest.isEmpty
        }
        try await machine.everybodyFollows(port)
    }

    @Test("Two machines serve from a database, with one configuration: clients get in at each, whichever is killed")
    func serves() async throws {
        let address = try #require(try await StorageKind.postgresql.address())
        try await ServeSite.run(database: address) { site in
            try await site.publish()
            let server = try await ServingProcess.start(site)
            try await server.says("signed again: trust/")
            try await site.everybodyFollows(server.port)
            // The files that an operator copies to a second machine, and to one without the head.
            var others: [ServingProcess] = []
            for (name, files) in [("second", ["configuration.json", "head"]), ("third", ["configuration.json"])] {
                let folder = site.folder.appending(path: name)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
                for file in files {
                    try FileManager.default.copyItem(
                        at: site.server.url.appending(path: file), to: folder.appending(path: file))
                }
                let other = try ServingProcess([
                    ServerProgram.url.path, "serve", "--data", folder.path, "--listen", "127.0.0.1:0",
                    "--admin-listen", "127.0.0.1:0", "--no-watch",
                ])
                try await other.says("serving bank: generation")
                #expect(other.text.contains("this folder had no head of the audit") == (name == "third"))
                // Its first round signs, no matter who has signed before.
                try await other.says("signed again: trust/")
                try await Self.everybodyFollows(other.port, folder, site)
                others.append(other)
            }
            // All servers have a publication by one folder's command within seconds, also in the folders.
            let generation = try await site.publish()
            for other in others { try await other.says("serving bank: generation \(generation)") }
            for (other, name) in zip(others, ["second", "third"]) {
                try await Self.everybodyFollows(other.port, site.folder.appending(path: name), site)
            }
            // One folder is one process's.
            let again = try await ServerProgram.run(
                ["serve", "--data", site.data, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"],
                in: site.folder)
            #expect(again.status == 3 && again.output.contains("folderInUse"), "\(again.output)")
            server.signal(SIGKILL)
            _ = await server.status()
            try await site.publish()
            for (other, name) in zip(others, ["second", "third"]) {
                try await Self.everybodyFollows(other.port, site.folder.appending(path: name), site)
                #expect(await other.stop() == 0)
            }
            // Whatever it signs again at its start, it says so.
            let next = try await ServingProcess.start(site)
            try await next.says("signed again: trust/")
            try await site.everybodyFollows(next.port)
            #expect(await next.stop() == 0)
        }
    }

    @Test("A server that cannot open its database gives it back, and the one that works on it goes on")
    func givesBack() async throws {
        let postgres = try #require(PostgresServer.current)
        let address = try #require(try await StorageKind.postgresql.address())
        let name = try #require(address.parameters["dbname"])
        try await ServeSite.run(database: address) { site in
            try await site.publish()
            let server = try await ServingProcess.start(site)
            try await server.says("signed again: trust/")
            // The folder of another time, which does not fit to the database.
            let copy = ServerFolder(site.folder.appending(path: "copy"))
            try FileManager.default.copyItem(at: site.server.url, to: copy.url)
            let before = try copy.readConfiguration()
            try WholeFile.replace(
                copy.configuration,
                with: FolderConfiguration(
                    server: before.server, genesis: Digest(of: [1]), secret: before.secret, database: before.database
                ).bytes)
            func holders() async throws -> Int {
                let count = try await postgres.run(
                    """
                    SELECT 'holders=' || count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database \
                    WHERE locktype = 'advisory' AND objid = 2 AND datname = '\(name)';
                    """)
                return count.contains("holders=0") ? 0 : 1
            }
            // Its connection breaks, and it does not notice before the other one has started.
            server.signal(SIGSTOP)
            try await postgres.run(PostgreSQLHoldTests.ending(holdOn: name))
            let second = try ServingProcess([
                ServerProgram.url.path, "serve", "--data", copy.url.path, "--listen", "127.0.0.1:0",
                "--admin-listen", "127.0.0.1:0", "--no-watch",
            ])
            try await second.says("and nothing else")
            try await second.says("listening for apps on")
            server.signal(SIGCONT)
            while try await holders() == 0 {}
            #expect(await second.stop() == 0)
            #expect(try await holders() == 1)
            try await site.everybodyFollows(server.port)
            #expect(await server.stop() == 0)
        }
    }

    @Test("No variable of libpq and no service file decides how a database is reached")
    func environment() async throws {
        let address = try #require(try await StorageKind.postgresql.address())
        try await ServeSite.run(database: address) { site in
            let (status, output) = try await ForeignProgram.run(
                URL(filePath: "/usr/bin/env"),
                [
                    "PGSERVICE=none", "PGSSLMINPROTOCOLVERSION=none", "PGSSLMAXPROTOCOLVERSION=none",
                    "PGCHANNELBINDING=none", "PGTARGETSESSIONATTRS=none", "PGHOSTADDR=192.0.2.1", "PGOPTIONS=--none",
                    "PGREQUIREPEER=none", ServerProgram.url.path, "status", "--data", site.data,
                ], in: site.folder, withErrors: true)
            #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
        }
    }

    @Test("A move that cannot be completed leaves the old folder a server's")
    func movesBack() async throws {
        let address = try #require(try await StorageKind.postgresql.address())
        try await ServeSite.run { site in
            await site.open.engine.close()
            let before = try site.server.readConfiguration()
            let settings = try FolderConfiguration(
                server: before.server, genesis: before.genesis, secret: before.secret, database: address)
            // Nothing can be written into a folder that is not there.
            let new = ServerFolder(site.folder.appending(path: "none"))
            expectError(.file) { try new.leave(site.server, settings) }
            #expect(try site.server.readConfiguration() == before)
            await (try site.server.open(clock: site.clock)).engine.close()
        }
    }

    @Test("When the database stops, documents and challenges are answered and nothing is signed; it goes on by itself")
    func outage() async throws {
        try await PostgresServer.run { postgres in
            let address = try postgres.address(try await postgres.database())
            try await ServeSite.run(database: address) { site in
                try await site.publish()
                let server = try await ServingProcess.start(site)
                try await server.says("signed again: trust/")
                await postgres.stop(SIGQUIT)
                try await server.says("unreachableDatabase")
                try await site.everybodyFollows(server.port)
                let answer = try await RawClient(port: server.port).get("/app/init?appName=bank", Self.challenge)
                #expect(answer.status == 200, "\(answer.text)")
                // The database is on no disk of this machine.
                #expect(!FileManager.default.fileExists(atPath: site.server.url.appending(path: "reserve").path))
                // A server that starts without its database has the documents alone.
                #expect(await server.stop() == 0)
                let documents = try ServingProcess([
                    ServerProgram.url.path, "serve", "--data", site.data, "--listen", "127.0.0.1:0",
                    "--admin-listen", "127.0.0.1:0", "--no-watch",
                ])
                try await documents.says("listening for apps on")
                #expect(documents.text.contains("and nothing else: unreachableDatabase"), "\(documents.text)")
                let count = documents.text.utf8.count
                try await postgres.start()
                try await documents.says("the database is usable again", after: count)
                try await documents.says("signed again: trust/", after: count)
                try await site.publish()
                #expect(await documents.stop() == 0)
            }
        }
    }

    @Test("A server moves to PostgreSQL with everything it has; its old folder serves no more, and clients follow")
    func migrates() async throws {
        let address = try #require(try await StorageKind.postgresql.address())
        try await ServeSite.run { site in
            let generation = try await site.publish()
            let change = try await site.approvedChange()
            let audit = try await site.open.catalog.audit(after: -1, limit: 10_000)
            await site.open.engine.close()
            let new = site.folder.appending(path: "new")
            let commands = try Manual.procedures().block("run: postgresql-move").commands
            let arguments = commands[0].text.split(separator: " ").dropFirst().map { word in
                let known = ["/srv/pins": site.data, "/srv/pins-pg": new.path]
                return known[String(word)] ?? (word.hasPrefix("\"postgresql:") ? text(address) : String(word))
            }
            #expect(arguments.count == 7 && commands[1].text == "holdfast-server doctor --data /srv/pins-pg")
            // While a server runs nothing is moved.
            do {
                let lock = try site.server.lock()
                let inUse = try await ServerProgram.run(arguments, in: site.folder)
                #expect(inUse.status == 3 && inUse.output.contains("folderInUse"), "\(inUse.output)")
                withExtendedLifetime(lock) {}
            }
            let moved = try await ServerProgram.run(arguments, in: site.folder)
            #expect(moved.status == 0 && moved.output.contains("rows in"), "\(moved.output)")

            for verb in ["serve", "status", "doctor"] {
                let old = try await ServerProgram.run([verb, "--data", site.data], in: site.folder)
                #expect(
                    old.status == 3 && old.output.contains("moved of") && old.output.contains(new.path), "\(old.output)"
                )
            }
            // A program that does not know the mark refuses what it does not know in the configuration.
            #expect(try site.server.readConfiguration().database == address)
            let folder = ServerFolder(new)
            let open = try await folder.open(clock: site.clock)
            #expect(try await open.catalog.audit(after: -1, limit: 10_000) == audit)
            #expect(open.catalog.ledger.generation(of: site.app) == generation)
            #expect(try await open.publisher.examine().filter(\.isFault) == [])
            // A change that waited for a publication still does, with its approvals.
            guard case .published(let next) = try await open.publisher.publish(change).stage else {
                Issue.record("the change was not published")
                return
            }
            #expect(next == generation + 1)
            // Rows that are added get numbers of their own.
            try await open.catalog.set(CatalogHost(name: "other.example.com"), of: site.app, by: "test")
            let there = ServeSite(site, movedTo: folder, open)
            try await there.everybodyFollows()
            let server = try await ServingProcess.start(there)
            try await server.says("signed again: trust/")
            try await there.everybodyFollows(server.port)
            #expect(await server.stop() == 0)
            await open.engine.close()
            // Nothing is moved over anything.
            let again = try await ServerProgram.run(arguments, in: site.folder)
            #expect(again.status == 3 && again.output.contains("constraint"), "\(again.output)")
        }
    }

    @Test("A role and a database as the documentation makes them are all that a server needs")
    func creating() async throws {
        let server = try #require(PostgresServer.current)
        try await server.run(try Manual.procedures().block("run: postgresql-create").text)
        let address = try PostgreSQLAddress("postgresql://holdfast_pins@127.0.0.1:\(server.port)/pins")
        try await ServeSite.run(database: address) { site in
            try await site.publish()
            let findings = try await site.open.publisher.examine()
            #expect(!findings.contains { $0.words.contains("CONNECT") }, "\(findings)")
        }
        // As PostgreSQL makes databases, every role may connect.
        let open = try server.address(try await server.database())
        try await ServeSite.run(database: open) { site in
            let findings = try await site.open.publisher.examine()
            #expect(findings.contains { !$0.isFault && $0.words.contains("REVOKE CONNECT") }, "\(findings)")
        }
    }

    @Test("A database that is not empty and an audit that was changed are not moved")
    func refusesToMove() async throws {
        let server = try #require(PostgresServer.current)
        try await ServeSite.run { site in
            try await site.publish()
            await site.open.engine.close()
            let name = try await server.database()
            let engine = try await PostgreSQLEngine.open(try server.address(name))
            try await engine.write { session throws(ServerError) in
                _ = try session.run(
                    "INSERT INTO public_key (pin, octets) VALUES ($1, $1)", [.bytes([UInt8](repeating: 1, count: 32))])
            }
            await engine.close()
            let new = ServerFolder(site.folder.appending(path: "new"))
            await expectError(.constraint) {
                try await new.move(from: site.server, to: try server.address(name), clock: site.clock)
            }
            #expect(try await server.run("SELECT count(*) FROM app;", in: name).contains(" 0\n"))
            // The old server is as it was.
            let open = try await site.server.open(clock: site.clock)
            #expect(try await open.publisher.examine().filter(\.isFault) == [])
            await open.engine.close()

            let connection = try SQLiteConnection(site.server.database.path, clock: site.clock)
            try connection.execute(
                "UPDATE audit SET entry = CAST(replace(CAST(entry AS TEXT), 'test', 'tEst') AS BLOB)")
            await expectError(.brokenChain) {
                try await new.move(
                    from: site.server, to: try server.address(try await server.database()), clock: site.clock)
            }
            #expect(!FileManager.default.fileExists(atPath: site.server.moved.path))
        }
    }

    @Test("A folder that was restored from a backup of several machines has their signature, which does not move")
    func movesSignature() async throws {
        let address = try #require(try await StorageKind.postgresql.address())
        try await ServeSite.run { site in
            try await site.publish()
            await site.open.engine.close()
            // As it was before the secret was changed.
            let end = AuditHead(count: 1, digest: Digest(of: [1]))
            let row = SignedHead(end, by: AuditSeal(SealedKeyTests.secret(9), server: Story.server))
            let old = try SQLiteEngine(site.server.database, clock: site.clock)
            try await old.write { session throws(ServerError) in try row.store(session) }
            await old.close()
            let new = ServerFolder(site.folder.appending(path: "new"))
            _ = try await new.move(from: site.server, to: address, clock: site.clock)
            let open = try await new.open(clock: site.clock)
            #expect(try await open.engine.read { session throws(ServerError) in try SignedHead(session) } == nil)
            // The first server there signs what it finds, for the others.
            try await open.catalog.signHead()
            #expect(try await open.catalog.headDoubt() == nil)
            let (other, secret) = (ServerFolder(site.folder.appending(path: "other")), site.secret)
            try FileManager.default.createDirectory(at: other.url, withIntermediateDirectories: false)
            try FileManager.default.copyItem(at: new.configuration, to: other.configuration)
            let joined = try await ServerFolder(other.url, secret: secret).open(clock: site.clock)
            #expect(joined.catalog.isJoining && joined.catalog.ledger.chain.head == open.catalog.ledger.chain.head)
            await joined.engine.close()
            await open.engine.close()
        }
    }

    @Test("The data of a server in its folder are not looked for in a database, and an address needs a server there")
    func mismatch() async throws {
        let address = try #require(try await StorageKind.postgresql.address())
        try await ServeSite.run { site in
            let elsewhere = ServerFolder(site.server.url, database: address)
            let error = await expectError(.invalidValue) { try await elsewhere.open(clock: site.clock) }
            #expect(error?.remedy.contains("migrate") == true)
            let status = try await ServerProgram.run(
                ["status", "--data", site.data, "--database", text(address)], in: site.folder)
            #expect(status.status == 2 && status.output.contains("holdfast-server migrate"), "\(status.output)")
        }
    }
}
