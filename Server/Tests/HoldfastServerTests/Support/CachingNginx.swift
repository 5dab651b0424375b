import Foundation
import NIOCore
import NIOPosix
import Testing

/// nginx as a cache before a server, as operators run it.
enum CachingNginx {
    /// Runs it, and gives its port.
    static func with(upstream: Int, _ body: (Int) async throws -> Void) async throws {
        try await withFolder { folder in
            let port = try await freePort()
            let scratch = ["client_body", "fastcgi", "uwsgi", "scgi", "proxy"]
                .map { "\($0)_temp_path \(folder.path)/\($0);" }.joined(separator: " ")
            let user = getuid() == 0 ? "user root;" : ""
            let configuration = """
                \(user) pid \(folder.path)/pid; error_log \(folder.path)/log; daemon off; master_process off; events {}
                http {
                    access_log off; \(scratch)
                    proxy_cache_path \(folder.path)/cache keys_zone=pins:1m;
                    server {
                        listen 127.0.0.1:\(port);
                        location / {
                            proxy_pass http://127.0.0.1:\(upstream);
                            proxy_http_version 1.1;
                            proxy_set_header Connection "";
                            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
                            proxy_cache pins;
                            proxy_cache_use_stale error timeout updating;
                            add_header X-Cache $upstream_cache_status always;
                        }
                    }
                }
                """
            let file = folder.appending(path: "nginx.conf")
            try Data(configuration.utf8).write(to: file)
            let nginx = try ServingProcess(["nginx", "-c", file.path, "-p", folder.path])
            // It inherits a mask of signals from the thread that started it, and may never see another one.
            let result: Result<Void, any Error>
            do {
                try await waitUntilItListens(port, nginx)
                result = .success(try await body(port))
            } catch {
                result = .failure(error)
            }
            nginx.signal(SIGKILL)
            _ = await nginx.status()
            try result.get()
        }
    }

    /// A port that was free a moment ago.
    static func freePort() async throws -> Int {
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        try await channel.close()
        return port
    }

    static func waitUntilItListens(_ port: Int, _ nginx: ServingProcess) async throws {
        try await eventually("something listens on port \(port)") {
            guard nginx.isRunning else { throw ServingProcess.Ended(description: "nginx ended: \(nginx.text)") }
            let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            guard let channel = try? await bootstrap.connect(host: "127.0.0.1", port: port).get() else { return false }
            try await channel.close()
            return true
        }
    }
}
