import Foundation
import HoldfastTestSupport
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

/// A PostgreSQL of this machine with data of its own, on the loopback address.
enum PostgresServer {
    /// Whether it is there.
    static let canRun =
        find("initdb") != nil && find("postgres") != nil && (getuid() != 0 || find("setpriv") != nil)

    /// It does not run for root.
    private static let nobody = 65_534

    /// Starts one, with TLS if there is a certificate, runs `body` with its port, and stops it.
    static func run(serving certificate: TestCertificate?, _ body: (Int) async throws -> Void) async throws {
        let (initdb, postgres) = (try #require(find("initdb")), try #require(find("postgres")))
        try await withTemporaryFolder { folder in
            let data = folder.appending(path: "data")
            try hand(folder)
            let made = try await CommandRun.run(
                URL(filePath: "/usr/bin/env"),
                asNobody([
                    initdb.path, "-D", data.path, "-A", "trust", "-U", "holdfast", "-N", "--no-locale", "-E", "UTF8",
                ]),
                in: folder)
            try #require(made.status == 0, "\(made.errors)")
            var settings = ["log_line_prefix=", "log_destination=stderr", "logging_collector=off", "fsync=off"]
            if let certificate {
                settings += ["ssl=on", "ssl_cert_file=server.crt", "ssl_key_file=server.key"]
                for (name, text) in [
                    ("server.crt", certificate.chainPEM), ("server.key", certificate.key.privateKeyPEM),
                ] {
                    let file = data.appending(path: name)
                    try Data(text.utf8).write(to: file)
                    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
                    try hand(file)
                }
            }
            let (process, port) = try await listening(in: folder) { port in
                asNobody(
                    [postgres.path, "-D", data.path, "-k", folder.path, "-h", "127.0.0.1", "-p", "\(port)"]
                        + settings.flatMap { ["-c", $0] })
            }
            let result: Result<Void, any Error>
            do { result = .success(try await body(port)) } catch { result = .failure(error) }
            // Asked to end it also gives back its shared memory.
            let identifier = try String(contentsOf: data.appending(path: "postmaster.pid"), encoding: .utf8)
                .prefix { $0 != "\n" }
            _ = try await CommandRun.run(
                URL(filePath: "/bin/sh"), ["-c", "kill -INT \"$1\"", "kill", String(identifier)])
            _ = await process.waitForEnd()
            try result.get()
        }
    }

    /// Another test may take the port that was free; then there is another.
    private static func listening(
        in folder: URL, _ arguments: (_ port: Int) -> [String]
    ) async throws -> (GuardedProcess, port: Int) {
        var failures = 0
        while true {
            let port = try await freePort()
            let process = try GuardedProcess(
                URL(filePath: "/usr/bin/env"), arguments(port), in: folder, limit: .seconds(120))
            do {
                _ = try await process.firstLine(startingWith: "LOG:  database system is ready to accept connections")
                return (process, port)
            } catch let failure as GuardedProcess.Failure {
                failures += 1
                guard failures < 10, failure.output.contains("Address already in use") else { throw failure }
            }
        }
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

    private static func hand(_ file: URL) throws {
        guard getuid() == 0 else { return }
        try FileManager.default.setAttributes(
            [.ownerAccountID: NSNumber(value: nobody), .groupOwnerAccountID: NSNumber(value: nobody)],
            ofItemAtPath: file.path)
    }

    /// PostgreSQL cannot be told to take any port.
    private static func freePort() async throws -> Int {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = listener.localAddress?.port
        try await listener.close().get()
        return try #require(port)
    }
}
