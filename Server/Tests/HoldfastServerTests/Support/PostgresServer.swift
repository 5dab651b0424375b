import Foundation
import Testing

/// A PostgreSQL of this machine with data of its own, on a socket in its folder.
struct PostgresServer: Sendable {
    /// Whether the test with it runs: it is there, or its absence is to be a failure.
    static let isTested =
        ForeignProgram.areRequired
        || find("initdb") != nil && find("postgres") != nil && ForeignProgram.find("psql") != nil
            && (getuid() != 0 || ForeignProgram.find("setpriv") != nil)

    /// The variables with which psql finds it.
    let environment: [String: String]
    private let folder: URL

    /// It does not run for root.
    private static let nobody = 65_534

    /// Starts one, and stops it afterwards.
    static func run(_ body: (PostgresServer) async throws -> Void) async throws {
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
            let process = try ServingProcess(
                ["/usr/bin/env"]
                    + asNobody([
                        postgres.path, "-D", data.path, "-k", folder.path, "-c", "listen_addresses=", "-c", "fsync=off",
                        "-c", "logging_collector=off",
                    ]), in: folder)
            try await process.says("database system is ready to accept connections")
            let server = PostgresServer(
                environment: ["PGHOST": folder.path, "PGUSER": "holdfast", "PGDATABASE": "postgres"], folder: folder)
            let result: Result<Void, any Error>
            do { result = .success(try await body(server)) } catch { result = .failure(error) }
            // Clients that are left do not keep it.
            process.signal(SIGINT)
            _ = await process.status()
            try result.get()
        }
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

    private static func asNobody(_ arguments: [String]) -> [String] {
        guard getuid() == 0 else { return arguments }
        return ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups"] + arguments
    }
}
