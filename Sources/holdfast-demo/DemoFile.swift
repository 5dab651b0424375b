import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOSSL

/// The only file of a server in the demo, served over HTTPS on loopback. It can be replaced.
final class DemoFile: Sendable {
    private let data: Lock<Data>

    init(_ data: Data) { self.data = Lock(data) }

    func replace(with data: Data) { self.data.withLock { $0 = data } }

    /// Serves the file with a certificate of the demo's authority.
    func serving(on stage: DemoStage, as name: String, _ body: (URL) async throws -> Void) async throws {
        let leaf = try stage.issuing.leaf(names: [.address([127, 0, 0, 1])])
        let tls = try NIOSSLContext(configuration: .testServer(leaf))
        let script: ScriptedHTTPServer.HeadScript = { _, _ in [.sendOctets(self.response), .close] }
        try await ScriptedHTTPServer.with(tls: tls, answering: script) { server in
            guard let url = URL(string: "https://127.0.0.1:\(server.port)/\(name)") else {
                throw DemoFailure("there is no URL for \(name)")
            }
            try await body(url)
        }
    }

    private var response: [UInt8] {
        let data = data.withLock { $0 }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(data.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + [UInt8](data)
    }
}
