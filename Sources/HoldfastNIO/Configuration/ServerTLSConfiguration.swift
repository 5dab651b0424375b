import NIOSSL

/// The TLS configuration of a server, derived from the given one: it requests a certificate from every client, and
/// Holdfast evaluates it.
///
/// Kept: the settings that ``ClientTLSConfiguration`` keeps, and the callback that chooses the server's own
/// certificate. Replaced: verification and renegotiation.
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
