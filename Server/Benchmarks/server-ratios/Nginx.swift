import Foundation
import NIOCore
import NIOPosix

/// nginx with one worker, as a foreign server of files and of TLS.
struct Nginx {
    let port: Int
    let process: RunningProcess

    /// Starts it, and waits until it listens.
    /// - Parameter server: the content of the block `server`, for a port.
    static func start(in folder: URL, server: (_ port: Int) -> String) async throws -> Nginx {
        let port = try await freePort()
        let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder.path)/\($0);" }.joined(separator: " ")
        let file = folder.appending(path: "nginx.conf")
        try Data(
            """
            \(getuid() == 0 ? "user root;" : "") daemon off; master_process off; pid \(folder.path)/pid;
            error_log \(folder.path)/errors; events { worker_connections 8192; }
            http { access_log off; keepalive_requests 100000000; \(scratch)
            server { \(server(port)) } }
            """.utf8
        ).write(to: file)
        let process = try RunningProcess(
            try ForeignProgram.find("nginx"), ["-c", file.path, "-p", folder.path, "-e", "\(folder.path)/errors"],
            in: folder)
        try await waitUntilItListens(port, process)
        return Nginx(port: port, process: process)
    }

    static func freePort() async throws -> Int {
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        try await channel.close()
        return port
    }

    private static func waitUntilItListens(_ port: Int, _ process: RunningProcess) async throws {
        for _ in 0..<400 where process.isRunning {
            let channel = try? await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(host: "127.0.0.1", port: port).get()
            if let channel { return try await channel.close() }
            try await Task.sleep(for: .milliseconds(25))
        }
        process.end()
        throw BenchmarkError("nginx does not listen")
    }
}
