import Foundation
import Synchronization
import Testing

@testable import ServerFoundation
@testable import ServerStore

/// A PostgreSQL of this machine with data of its own, on loopback and on a socket in its folder.
final class PostgresServer: Sendable {
    /// Whether the test with it runs: it is there, or its absence is to be a failure.
    static let isTested =
        ForeignProgram.areRequired
        || find("initdb") != nil && find("postgres") != nil && ForeignProgram.find("psql") != nil
            && (getuid() != 0 || ForeignProgram.find("setpriv") != nil)

    /// The server of the suite that runs.
    @TaskLocal static var current: PostgresServer?

    /// The variables with which psql finds it.
    let environment: [String: String]
    let folder: URL
    /// Where it listens on loopback.
    let port: Int
    private let command: [String]
    private let process: Mutex<ServingProcess?>
    private let databases = Mutex(0)

    /// It does not run for root.
    static let nobody = 65_534

    /// Starts one, and stops it afterwards.
    /// - Parameter settings: beside the usual, such as `ssl=on`; gets the folder first.
    static func run(
        settings: (URL) throws -> [String] = { _ in [] }, _ body: (PostgresServer) async throws -> Void
    ) async throws {
        let (initdb, postgres) = (try #require(find("initdb")), try #require(find("postgres")))
        try await withFolder { folder in
            let data = folder.appending(path: "data")
            if getuid() == 0 {
                try FileManager.default.setAttributes(
                    [.ownerAccountID: NSNumber(value: nobody), .groupOwnerAccountID: NSNumber(value: nobody)],
                    ofItemAtPath: folder.path)
            }
            let made = try await ForeignProgram.run(
                URL(filePath: "/usr/bin/env"),
                asNobody([
                    initdb.path, "-D", data.path, "-A", "trust", "-U", "holdfast", "-N", "--no-locale", "-E", "UTF8",
                ]), in: folder, withErrors: true)
            try #require(made.status == 0, "\(String(decoding: made.output, as: UTF8.self))")
            let port = try await CachingNginx.freePort()
            let more = try ["fsync=off", "logging_collector=off", "max_connections=200"] + settings(folder)
            let server = PostgresServer(
                in: folder, port,
                ["/usr/bin/env"]
                    + asNobody(
                        [
                            postgres.path, "-D", data.path, "-k", folder.path, "-p", "\(port)", "-c",
                            "listen_addresses=127.0.0.1",
                        ] + more.flatMap { ["-c", $0] }))
            try await server.start()
            let result: Result<Void, any Error>
            do { result = .success(try await body(server)) } catch { result = .failure(error) }
            // Clients that are left do not keep it.
            await server.stop(SIGINT)
            try result.get()
        }
    }

    private init(in folder: URL, _ port: Int, _ command: [String]) {
        self.folder = folder
        self.port = port
        self.command = command
        environment = [
            "PGHOST": folder.path, "PGPORT": "\(port)", "PGUSER": "holdfast", "PGDATABASE": "postgres",
        ]
        process = Mutex(nil)
    }

    /// Starts it, again after it was stopped.
    /// - Parameter role: what it says that it is ready for.
    func start(as role: String = "connections") async throws {
        let started = try ServingProcess(command, in: folder)
        process.withLock { $0 = started }
        try await started.says("database system is ready to accept \(role)")
    }

    /// Stops it: SIGINT as for an upgrade, SIGQUIT at once, as `pg_ctl stop -m immediate` does.
    func stop(_ signal: Int32) async {
        let running = process.withLock { process in
            defer { process = nil }
            return process
        }
        running?.signal(signal)
        _ = await running?.status()
    }

    /// Kills a process of it, so that it restarts its others and continues from its last checkpoint.
    func crash() async throws {
        let text = try await run("SELECT 'pid ' || pid FROM pg_stat_activity WHERE backend_type = 'walwriter';")
        let words = text.split(whereSeparator: \.isWhitespace)
        let place = try #require(words.firstIndex(of: "pid"))
        let running = try #require(process.withLock { $0 })
        let before = running.text.utf8.count
        kill(try #require(pid_t(words[place + 1])), SIGKILL)
        try await running.says("database system is ready to accept connections", after: before)
    }

    /// Makes a database, and gives its name.
    func database() async throws -> String {
        let number = databases.withLock { count in
            count += 1
            return count
        }
        try await run("CREATE DATABASE pins_\(number);")
        return "pins_\(number)"
    }

    /// The address of a database on loopback.
    func address(_ database: String, port: Int? = nil) throws -> PostgreSQLAddress {
        try PostgreSQLAddress("postgresql://holdfast@127.0.0.1:\(port ?? self.port)/\(database)")
    }

    /// Runs statements, and gives what they print.
    @discardableResult
    func run(_ sql: String, in database: String = "postgres") async throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "holdfast-sql-\(UUID().uuidString)")
        try Data(sql.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (status, output) = try await ForeignProgram.run(
            ForeignProgram.required("psql"), ["-Xq", "-v", "ON_ERROR_STOP=1", "-f", file.path, database], in: folder,
            withErrors: true, environment: environment)
        let text = String(decoding: output, as: UTF8.self)
        try #require(status == 0, "\(text)")
        return text
    }

    /// Runs a program of PostgreSQL.
    func tool(_ name: String, _ arguments: [String]) async throws {
        let (status, output) = try await ForeignProgram.run(
            try #require(Self.find(name)), arguments, in: folder, withErrors: true, environment: environment)
        try #require(status == 0, "\(String(decoding: output, as: UTF8.self))")
    }

    private static func find(_ name: String) -> URL? {
        ((ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init) + debianFolders)
            .map { URL(filePath: $0).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Debian keeps the servers of every version off the search path.
    private static let debianFolders: [String] = {
        let folder = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return versions.sorted(by: >).map { "\(folder)/\($0)/bin" }
    }()

    static func asNobody(_ arguments: [String]) -> [String] {
        guard getuid() == 0 else { return arguments }
        return ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups"] + arguments
    }
}
