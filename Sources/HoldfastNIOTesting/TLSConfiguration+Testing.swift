import Holdfast
public import HoldfastTesting
public import NIOSSL

extension TLSConfiguration {
    /// A client that trusts these roots (DER) alone, verifies as NIOSSL does, and knows Ed25519 as well.
    ///
    /// Throws `credentialsRefused` for roots that BoringSSL cannot read.
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

    /// The certificates that BoringSSL makes of these DERs.
    static func certificates(_ ders: [[UInt8]]) throws(TestKitError) -> [NIOSSLCertificate] {
        do {
            return try ders.map { try NIOSSLCertificate(bytes: $0, format: .der) }
        } catch {
            throw TestKitError(
                .credentialsRefused, expected: "certificates that BoringSSL can read", found: "\(error)",
                remedy: "Serve it with OpenSSLServer, which reads more.")
        }
    }
}

extension SignatureAlgorithm {
    /// What BoringSSL accepts from a peer by default, without SHA-1, and Ed25519, which it must be asked for.
    public static let acceptedInTests: [SignatureAlgorithm] = [
        .ed25519, .ecdsaSecp256R1Sha256, .rsaPssRsaeSha256, .rsaPkcs1Sha256, .ecdsaSecp384R1Sha384,
        .rsaPssRsaeSha384, .rsaPkcs1Sha384, .ecdsaSecp521R1Sha512, .rsaPssRsaeSha512, .rsaPkcs1Sha512,
    ]
}
