package import NIOSSL

/// The TLS configuration that Holdfast connects with, derived from the one it was given.
///
/// Kept: versions within the floor, cipher suites, curves, signature algorithms, the client's certificate and key,
/// application protocols, the shutdown timeout and the key log. Replaced: who verifies, and renegotiation.
package enum ClientTLSConfiguration {
    private static let start = "TLSConfiguration.makeClientConfiguration()"

    /// The configuration that Holdfast connects with; throws for settings that would weaken its decision.
    package static func derived(
        from given: TLSConfiguration, oldestTLSVersion: TLSVersion
    ) throws(TLSAdapterConfigurationError) -> TLSConfiguration {
        let derived = try DerivedTLSConfiguration.derived(from: given, oldestTLSVersion: oldestTLSVersion, start: start)
        guard given.sslContextCallback == nil else {
            throw TLSAdapterConfigurationError(
                .serverSetting, expected: "no sslContextCallback", found: "one", remedy: "Start from \(start).")
        }
        guard !given.sendCANameList else {
            throw TLSAdapterConfigurationError(
                .serverSetting, expected: "sendCANameList false", found: "true", remedy: "Start from \(start).")
        }
        return derived
    }

    /// The configuration with what its files hold. Throws where the client's key does not belong to its certificate.
    package static func readingClientKey(
        of derived: TLSConfiguration
    ) throws(TLSAdapterConfigurationError) -> TLSConfiguration {
        let read = try DerivedTLSConfiguration.readingFiles(of: derived)
        _ = try DerivedTLSConfiguration.context(read)
        return read
    }
}
