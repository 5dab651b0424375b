#if Services
import Holdfast
public import HoldfastTesting
public import NIOSSL

extension TLSConfiguration {
    /// A client that trusts only these roots (DER), verifies as NIOSSL does, and also supports Ed25519.
    ///
    /// Throws `credentialsRefused` for a root that BoringSSL cannot read.
    public static func testClient(
        trusting roots: [[UInt8]], oldestTLSVersion: TLSVersion = .tlsv12, newestTLSVersion: TLSVersion? = nil
    ) throws(TestKitError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try certificates(roots))
        configuration.minimumTLSVersion = oldestTLSVersion
        configuration.maximumTLSVersion = newestTLSVersion
        configuration.verifySignatureAlgorithms = SignatureAlgorithm.acceptedInTests
        return configuration
    }

    /// A server with a certificate and the protocols that it offers (ALPN).
    package static func testServer(
        _ certificate: TestCertificate, protocols: [String] = []
    ) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try certificates(certificate.chain).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: certificate.key.privateKeyDER, format: .der)))
        configuration.applicationProtocols = protocols
        return configuration
    }

    /// Reads certificates with BoringSSL.
    static func certificates(_ ders: [[UInt8]]) throws(TestKitError) -> [NIOSSLCertificate] {
        do {
            return try ders.map { try NIOSSLCertificate(bytes: $0, format: .der) }
        } catch {
            throw TestKitError(
                .credentialsRefused, expected: "certificates that BoringSSL can read", found: "\(error)",
                remedy: "Serve it with openssl s_server, which reads more.")
        }
    }
}

extension SignatureAlgorithm {
    /// The algorithms that BoringSSL accepts from a peer by default, without SHA-1, and Ed25519, which must be enabled.
    public static let acceptedInTests: [SignatureAlgorithm] = [
        .ed25519, .ecdsaSecp256R1Sha256, .rsaPssRsaeSha256, .rsaPkcs1Sha256, .ecdsaSecp384R1Sha384,
        .rsaPssRsaeSha384, .rsaPkcs1Sha384, .ecdsaSecp521R1Sha512, .rsaPssRsaeSha512, .rsaPkcs1Sha512,
    ]
}
#endif
