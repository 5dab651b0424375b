package import Foundation
package import NIOSSL
package import ServerFoundation
import Synchronization

/// The certificate and key of a listener. They are read again after a renewal: open connections keep the old
/// certificate, and new ones get the new one.
package final class TLSIdentity: Sendable {
    private let certificates: URL
    private let key: URL
    private let held: Mutex<Held>

    private struct Held {
        let context: NIOSSLContext
        let leaf: [UInt8]
    }

    /// Reads both files.
    /// - Parameters:
    ///   - certificates: a chain in PEM, with the server's certificate first.
    ///   - key: the private key in PEM.
    /// - Throws: ``ServerError`` `file` naming the file that cannot be used.
    package init(certificates: URL, key: URL) throws(ServerError) {
        self.certificates = certificates
        self.key = key
        held = Mutex(try Self.read(certificates, key))
    }

    /// Reads both files again. If they are unusable, the current ones stay in use.
    /// - Throws: ``ServerError`` `file`.
    package func reload() throws(ServerError) {
        let read = try Self.read(certificates, key)
        held.withLock { $0 = read }
    }

    /// The TLS context for new connections.
    package var context: NIOSSLContext { held.withLock { $0.context } }

    /// The DER of the certificate for new connections.
    package var leaf: [UInt8] { held.withLock { $0.leaf } }

    private static func read(_ certificates: URL, _ key: URL) throws(ServerError) -> Held {
        // Accept every certificate that the TLS library accepts, even if path validation would refuse it.
        let blocks = try PEMFile.blocks("CERTIFICATE", at: certificates)
        let chain = try usable(certificates, "certificates in PEM", "a block that is no certificate") {
            try blocks.map { try NIOSSLCertificate(bytes: $0, format: .der) }
        }
        let bytes = try PEMFile.bytes(at: key)
        let privateKey = try usable(key, "a private key in PEM without a password", "none") {
            try NIOSSLPrivateKey(bytes: bytes, format: .pem)
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        let context = try usable(key, "the key of the certificate in \(certificates.path)", "another key") {
            try NIOSSLContext(configuration: configuration)
        }
        return Held(context: context, leaf: blocks[0])
    }

    /// Another library's error message about a key may contain parts of it, so it is not included.
    private static func usable<Value>(
        _ file: URL, _ expected: String, _ found: String, _ body: () throws -> Value
    ) throws(ServerError) -> Value {
        do {
            return try body()
        } catch {
            throw ServerError(
                .file, of: file.path, expected: expected, found: found,
                remedy: "Give the chain with the server's own certificate first, and the key of that certificate.")
        }
    }
}
