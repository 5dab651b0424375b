import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting

/// An authority, a certificate of a site, and the files and servers that go with them.
struct TestSite {
    static let name = "api.example.com"

    let root: TestAuthority
    let issuing: TestAuthority
    let leaf: TestCertificate

    init(
        rootName: TestName = "Test Root", key: TestKey.Choice = .p256,
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws {
        root = try TestAuthority.root(name: rootName)
        issuing = try root.intermediate()
        leaf = try issuing.leaf(names: [.dns(Self.name)], key: key, configure: configure)
    }

    init(root: TestAuthority, issuing: TestAuthority, leaf: TestCertificate) {
        (self.root, self.issuing, self.leaf) = (root, issuing, leaf)
    }

    /// The certificates from the leaf to the root.
    var path: [[UInt8]] { leaf.chain + [root.certificate.der] }

    func keyPins() throws -> [String] { try path.map { try Pin.publicKey(of: $0).description } }

    /// Serves a chain, by default the site's own, and runs a verb against it with the site's root as the only anchor.
    func run(
        _ verb: String, _ arguments: [String] = [], serving chain: [[UInt8]]? = nil, key: TestKey? = nil,
        host: String = name, trustingRoot: Bool = true, options: LoopbackTLSServer.Options = .init()
    ) async throws -> (CommandRun, LoopbackTLSServer.Statistics) {
        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            let anchor = trustingRoot ? root : try TestAuthority.root(name: "Another Root")
            try Data(anchor.certificate.pem.utf8).write(to: ca)
            return try await withLoopbackTLSServer(
                chain: chain ?? leaf.chain, key: key ?? leaf.key, options: options
            ) { server in
                // Much time, for machines that have much to do; of an option given twice the last counts.
                let run = try await CommandRun.inProcess(
                    [verb, host, "--ca", ca.path, "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s"]
                        + arguments)
                try await server.waitForDisconnection()
                return (run, server.statistics)
            }
        }
    }
}

/// Serves the site with HTTP, for clients that want an answer.
func withLoopbackTLSServerOfHTTP(_ site: TestSite, _ body: (Int) async throws -> Void) async throws {
    try await withLoopbackTLSServer(serving: site.leaf, options: .init(behavior: .http())) { server in
        try await body(server.port)
    }
}
