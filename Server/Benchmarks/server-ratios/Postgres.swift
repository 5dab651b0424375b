import Foundation

@testable import ServerStore

/// PostgreSQL on loopback with separate data, which counts statements. It writes to the disk as it does for operators.
struct Postgres {
    let port: Int
    private let folder: URL
    private let process: RunningProcess

    /// The user to run as, because it does not run as root.
    private static let nobody = 65_534

    static func start(in parent: URL) async throws -> Postgres {
        let folder = parent.appending(path: "postgres")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if getuid() == 0 {
            try FileManager.default.setAttributes(
                [.ownerAccountID: NSNumber(value: nobody), .groupOwnerAccountID: NSNumber(value: nobody)],
                ofItemAtPath: folder.path)
        }
        let data = folder.appending(path: "data").path
        _ = try await ForeignProgram.run(
            "env",
            asNobody([
                try program("initdb"), "-D", data, "-A", "trust", "-U", "holdfast", "--no-locale", "-E", "UTF8",
            ]), in: folder)
        let port = try await Nginx.freePort()
        let settings = [
            "listen_addresses=127.0.0.1", "logging_collector=off", "max_connections=200",
            "shared_preload_libraries=pg_stat_statements",
        ]
        let process = try RunningProcess(
            try ForeignProgram.find("env"),
            asNobody(
                [try Self.program("postgres"), "-D", data, "-k", folder.path, "-p", "\(port)"]
                    + settings.flatMap { ["-c", $0] }), in: folder)
        let postgres = Postgres(port: port, folder: folder, process: process)
        for _ in 0..<400 {
            if (try? await postgres.value("SELECT 1")) == 1 { break }
            guard process.isRunning else { throw BenchmarkError("PostgreSQL does not start") }
            try await Task.sleep(for: .milliseconds(50))
        }
        _ = try await postgres.run("CREATE EXTENSION pg_stat_statements;")
        return postgres
    }

    /// Makes a database.
    func database(_ name: String) async throws -> PostgreSQLAddress {
        _ = try await run("CREATE DATABASE \(name);")
        return try PostgreSQLAddress("postgresql://holdfast@127.0.0.1:\(port)/\(name)")
    }

    /// Runs statements, and returns their output.
    func run(_ sql: String, in database: String = "postgres") async throws -> String {
        try await ForeignProgram.run(
            "psql",
            [
                "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", folder.path, "-p", "\(port)", "-U", "holdfast", "-c", sql,
                database,
            ],
            in: folder)
    }

    /// The number that a statement returns.
    func value(_ sql: String, in database: String = "postgres") async throws -> Int {
        let text = try await run(sql, in: database).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let number = Int(text) else { throw BenchmarkError("\(sql) gives \(text)") }
        return number
    }

    func end() { process.end() }

    private static func asNobody(_ arguments: [String]) -> [String] {
        guard getuid() == 0 else { return arguments }
        return ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups"] + arguments
    }

    /// Debian keeps the servers of every version off the search path.
    private static func program(_ name: String) throws -> String {
        let parent = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        let found = versions.sorted(by: >).map { "\(parent)/\($0)/bin/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        return try found ?? ForeignProgram.find(name).path
    }
}
