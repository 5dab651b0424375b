import Holdfast
import NIOSSL

/// The certificate that a client presents to servers that request one, with its private key.
public struct ClientCertificate: Sendable {
    private let chain: [NIOSSLCertificateSource]
    private let key: NIOSSLPrivateKeySource

    /// Reads PEM, and checks that the certificate and the key belong together.
    /// - Parameters:
    ///   - certificates: the client's certificate, followed by its issuers.
    ///   - privateKey: its private key, not encrypted.
    /// - Throws: ``ProbeConfigurationError`` with `unusableClientCertificate`, `unusableClientKey` or
    ///   `clientKeyMismatch`.
    public init(certificates: [UInt8], privateKey: [UInt8]) throws(ProbeConfigurationError) {
        chain = ((try? NIOSSLCertificate.fromPEMBytes(certificates)) ?? []).map { .certificate($0) }
        guard !chain.isEmpty else { throw Self.error(.unusableClientCertificate, "a certificate in PEM", "none") }
        do {
            key = .privateKey(try NIOSSLPrivateKey(bytes: privateKey, format: .pem))
        } catch {
            throw Self.error(.unusableClientKey, "a private key in PEM", "none that can be used")
        }
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .certificates([])
            apply(to: &configuration)
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw Self.error(.clientKeyMismatch, "the private key of the first certificate", "another one")
        }
    }

    private static func error(
        _ code: ProbeConfigurationError.Code, _ expected: String, _ found: String
    ) -> ProbeConfigurationError {
        ProbeConfigurationError(code, expected: expected, found: found)
    }

    func apply(to configuration: inout TLSConfiguration) {
        configuration.certificateChain = chain
        configuration.privateKey = key
    }
}
