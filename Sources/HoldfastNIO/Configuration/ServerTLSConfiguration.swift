import NIOSSL

/// The TLS configuration that Holdfast serves with, derived from the one it was given: it asks every client for a
/// certificate and leaves the judgment to Holdfast.
///
/// Kept: what ``ClientTLSConfiguration`` keeps, and the callback that chooses the server's own certificate. Replaced:
/// who verifies, and renegotiation.
enum ServerTLSConfiguration {
    private static let start = """
        TLSConfiguration.makeServerConfigurationWithMTLS(certificateChain: …, privateKey: …, trustRoots: .default)
        """

    static func derived(
        from given: TLSConfiguration, oldestTLSVersion: TLSVersion
    ) throws(TLSAdapterConfigurationError) -> TLSConfiguration {
        let derived = try DerivedTLSConfiguration.derived(from: given, oldestTLSVersion: oldestTLSVersion, start: start)
        guard !given.sendCANameList else {
            throw TLSAdapterConfigurationError(
                .namesOfAuthorities, expected: "sendCANameList false", found: "true",
                remedy: "Leave it off: the names would be those of trustRoots, and the anchors are the validator's.")
        }
        // The callback may supply the certificate, but a server without any key pair is unreachable.
        let hasIdentity = !given.certificateChain.isEmpty && given.privateKey != nil
        guard hasIdentity || given.sslContextCallback != nil else {
            throw TLSAdapterConfigurationError(
                .noServerCertificate, expected: "the server's certificate and private key", found: "neither or one",
                remedy: "Start from \(start).")
        }
        return derived
    }
}
