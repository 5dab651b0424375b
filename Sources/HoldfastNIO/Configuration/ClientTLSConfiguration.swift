package import NIOSSL

/// The TLS configuration for connections, derived from the given one.
///
/// Kept: versions within the floor, cipher suites, curves, signature algorithms, the client's certificate and key,
/// application protocols, the shutdown timeout and the key log. Replaced: verification and renegotiation.
package enum ClientTLSConfiguration {
    private static let start = "TLSConfiguration.makeClientConfiguration()"

    /// The configuration for connections; throws for settings that would weaken the decision.
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

    /// The configuration with the content of its files. Throws if the client's key does not belong to its certificate.
    package static func readingClientKey(
        of derived: TLSConfiguration
    ) throws(TLSAdapterConfigurationError) -> TLSConfiguration {
        let read = try DerivedTLSConfiguration.readingFiles(of: derived)
        _ = try DerivedTLSConfiguration.context(read)
        return read
    }
}
