/// Limits the rate per source and per network: a /48 has four times the rate of a /56, and a /32 sixteen times, so that
/// the owner of a large IPv6 network does not get a rate for each of its thousands of prefixes.
package struct SourceBuckets: Sendable {
    private var sources: TokenBuckets<SourcePrefix>
    private var sites: TokenBuckets<SourceNetwork>
    private var providers: TokenBuckets<SourceNetwork>

    /// The factors by which the rates of larger networks exceed the rate of a source.
    static let siteFactor = 4.0
    static let providerFactor = 16.0

    /// - Parameters:
    ///   - rate: the number of tokens per second for each source.
    ///   - burst: the maximum number of saved tokens.
    ///   - maximumCount: the minimum number of sources that are remembered.
    package init(rate: Double, burst: Double, maximumCount: Int = 65_536) {
        sources = TokenBuckets(rate: rate, burst: burst, maximumCount: maximumCount)
        sites = TokenBuckets(
            rate: rate * Self.siteFactor, burst: burst * Self.siteFactor, maximumCount: maximumCount)
        providers = TokenBuckets(
            rate: rate * Self.providerFactor, burst: burst * Self.providerFactor, maximumCount: maximumCount)
    }

    /// Takes a token from a source and from each of its networks.
    /// - Parameters:
    ///   - source: the source.
    ///   - now: a monotonic time in nanoseconds.
    /// - Returns: nil if all had a token, else the number of seconds until the first one without has one.
    package mutating func take(_ source: SourcePrefix, at now: UInt64) -> Double? {
        if let wait = sources.take(source, at: now) { return wait }
        for network in source.largerNetworks {
            let wait = network.length == 48 ? sites.take(network, at: now) : providers.take(network, at: now)
            if let wait { return wait }
        }
        return nil
    }
}
