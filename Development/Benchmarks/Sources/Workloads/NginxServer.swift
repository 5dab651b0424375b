import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// nginx with a separate configuration: a foreign server of files, and a cache in front of one.
public final class NginxServer: Sendable {
    /// The port on 127.0.0.1.
    public let port: Int
    private let process: Mutex<Process>

    /// Starts it and waits until it listens.
    /// - Parameters:
    ///   - folder: created for its configuration, its logs and its scratch files.
    ///   - http: the content of the block `http`, for a port.
    public init(in folder: URL, http: (_ port: Int) -> String) async throws {
        // nginx cannot report its port.
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        try await channel.close()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder.path)/\($0);" }.joined(separator: " ")
        let configuration = folder.appending(path: "nginx.conf")
        try Data(
            """
            \(getuid() == 0 ? "user root;" : "") daemon off; worker_processes 1; pid \(folder.path)/pid;
            error_log \(folder.path)/errors; events { worker_connections 4096; }
            http { access_log off; \(scratch)
            \(http(port))
            }
            """.utf8
        ).write(to: configuration)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = (environment["PATH"] ?? "/usr/bin:/bin") + ":/usr/sbin"
        process.environment = environment
        process.arguments = ["nginx", "-c", configuration.path, "-p", folder.path]
        try process.run()
        self.port = port
        self.process = Mutex(process)
        for _ in 0..<200 {
            let connection = try? await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(host: "127.0.0.1", port: port).get()
            if let connection {
                try await connection.close()
                return
            }
            try await Task.sleep(for: .milliseconds(25))
        }
        end()
        throw WorkloadError("nginx does not listen: see \(folder.path)/errors")
    }

    /// The URL of a path.
    public func url(_ path: String) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)/\(path)") else { throw WorkloadError("no URL") }
        return url
    }

    /// Ends it.
    public func end() {
        process.withLock { process in
            process.terminate()
            process.waitUntilExit()
        }
    }
}
