#if Services && (os(macOS) || os(Linux))
import Foundation
import Holdfast
package import HoldfastTesting

/// `openssl s_server` on this machine's loopback address: a peer that shares no code with ours.
///
/// It ends with `stop()`, when the object is released, when the test process ends in any way, or after its time limit.
/// It needs OpenSSL 3 as `openssl` on the search path; LibreSSL is not enough. All methods may be called from any
/// thread.
package final class OpenSSLServer: Sendable {
    /// The way in which the server treats a connection.
    package enum Behavior: String, Sendable, Hashable {
        /// Sends every line back with its characters in reverse order.
        case reverse = "-rev"
        /// Answers `GET /` with a status page, and closes.
        case statusPage = "-www"
    }

    /// The versions of TLS to which it can be restricted.
    package enum Version: String, Sendable, Hashable {
        /// Only TLS 1.2.
        case tls12 = "-tls1_2"
        /// Only TLS 1.3.
        case tls13 = "-tls1_3"
    }

    /// Whether tests that need OpenSSL should run: it was found, or `HOLDFAST_REQUIRE_FOREIGN_PEERS` is 1, with which
    /// such tests fail instead of being skipped.
    package static var isAvailable: Bool { OpenSSLProgram.isAvailable }

    /// The port on which it listens.
    package let port: Int
    /// The address on which it listens.
    package let address: String
    private let process: GuardedProcess

    private init(address: String, port: Int, process: GuardedProcess) {
        self.address = address
        self.port = port
        self.process = process
    }

    deinit { process.end() }

    /// Starts a server that presents the chain of a certificate, without its root. See the other `start`.
    package static func start(
        serving certificate: TestCertificate, version: Version? = nil, behavior: Behavior = .reverse,
        address: String = "127.0.0.1", arguments: [String] = [], limit: Duration = .seconds(600)
    ) async throws(TestKitError) -> OpenSSLServer {
        try await start(
            chain: certificate.chain, key: certificate.key, version: version, behavior: behavior, address: address,
            arguments: arguments, limit: limit)
    }

    /// Starts a server that presents these certificates, in DER, the leaf first. It returns once the server listens.
    ///
    /// - Parameters:
    ///   - chain: the leaf, which must belong to the key, and further certificates to send after it, which are not
    ///     checked.
    ///   - key: the private key of the leaf.
    ///   - version: the only version of TLS to accept; nil for all that OpenSSL accepts by default.
    ///   - behavior: what it does with a connection.
    ///   - address: `127.0.0.1` or `::1`.
    ///   - arguments: more arguments for `openssl s_server`.
    ///   - limit: the server is ended after this time, whatever happens.
    ///
    /// Throws `programMissing`, or `serverFailed` with openssl's output.
    package static func start(
        chain: [[UInt8]], key: TestKey, version: Version? = nil, behavior: Behavior = .reverse,
        address: String = "127.0.0.1", arguments: [String] = [], limit: Duration = .seconds(600)
    ) async throws(TestKitError) -> OpenSSLServer {
        guard let program = OpenSSLProgram.url else { throw OpenSSLProgram.missing }
        do {
            // Once it listens, it has read its files, so they can be removed.
            return try await withTemporaryFolder { folder in
                func write(_ name: String, _ text: String) throws {
                    try Data(text.utf8).write(to: folder.appending(path: name))
                }
                try write("leaf.pem", chain.prefix(1).map(TestCertificate.pem).joined())
                try write("others.pem", chain.dropFirst().map(TestCertificate.pem).joined())
                try write("key.pem", key.privateKeyPEM)
                let host = address.contains(":") ? "[\(address)]" : address
                var all = [
                    "s_server", "-accept", "\(host):0", "-cert", "leaf.pem", "-key", "key.pem", behavior.rawValue,
                    "-no-CAfile", "-no-CApath", "-no-CAstore",
                ]
                if chain.count > 1 { all += ["-cert_chain", "others.pem"] }
                if let version { all.append(version.rawValue) }
                let process = try GuardedProcess(program, all + arguments, in: folder, limit: limit)
                let line = try await process.firstLine(startingWith: "ACCEPT ")
                guard let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
                    throw GuardedProcess.Failure(output: line)
                }
                return OpenSSLServer(address: address, port: port, process: process)
            }
        } catch {
            throw TestKitError(
                .serverFailed, expected: "openssl s_server listening on \(address)", found: "\(error)",
                remedy: "Check that OpenSSL can read the chain and the key.")
        }
    }

    /// The server's output so far: its report on connections and errors.
    package var output: String { process.output }

    /// Ends the server, and returns when it is gone. May be called twice.
    package func stop() async {
        process.end()
        await process.waitUntilGone()
    }
}
#endif
