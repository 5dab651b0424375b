import Foundation
import Testing

/// nginx as the balancer before several machines, as docs/server/machines.md configures it.
enum BalancingNginx {
    /// How it chooses among machines.
    enum Choice {
        /// Clients of one address get to the same machine, as docs/server/machines.md has it.
        case address
        /// Each request goes to the next machine.
        case turns
    }

    /// The addresses of the machines on the page.
    private static let names = (1...3).map { "pins-\($0).example.com:8080" }

    /// Runs it, and gives its port.
    /// - Parameter ports: where the machines listen.
    static func with(
        _ ports: [Int], by choice: Choice = .address, _ body: (Int) async throws -> Void
    ) async throws {
        var block = try Manual.procedures().block("run: balancer").text
        try #require(ports.count == names.count)
        for (name, port) in zip(names, ports) {
            try #require(block.contains(name))
            block = block.replacing(name, with: "127.0.0.1:\(port)")
        }
        if choice == .turns {
            let line = "    hash $remote_addr consistent;\n"
            try #require(block.contains(line))
            block = block.replacing(line, with: "")
        }
        let lines = block
        try await withFolder { folder in
            let port = try await CachingNginx.freePort()
            let scratch = ["client_body", "fastcgi", "uwsgi", "scgi", "proxy"]
                .map { "\($0)_temp_path \(folder.path)/\($0);" }.joined(separator: " ")
            try #require(lines.contains("listen 443 ssl;"))
            // TLS is nginx's own business.
            let own = lines.replacing("listen 443 ssl;", with: "listen 127.0.0.1:\(port);")
                .split(separator: "\n").filter { !$0.contains("ssl_certificate") }.joined(separator: "\n")
            let file = folder.appending(path: "nginx.conf")
            try Data(
                """
                \(getuid() == 0 ? "user root;" : "") pid \(folder.path)/pid; error_log \(folder.path)/log; daemon off;
                master_process off; events {}
                http { access_log off; \(scratch)
                \(own)
                }
                """.utf8
            ).write(to: file)
            let nginx = try ServingProcess(["nginx", "-c", file.path, "-p", folder.path])
            let result: Result<Void, any Error>
            do {
                try await CachingNginx.waitUntilItListens(port, nginx)
                result = .success(try await body(port))
            } catch {
                result = .failure(error)
            }
            nginx.signal(SIGKILL)
            _ = await nginx.status()
            try result.get()
        }
    }
}
