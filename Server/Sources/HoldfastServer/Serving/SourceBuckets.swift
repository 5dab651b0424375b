/// A rate for each source, and one for the networks that it is in: a /48 has four times the rate of a /56, and a /32 sixteen
/// times, so that the owner of a large IPv6 network does not have a rate for each of its thousands of prefixes.
struct SourceBuckets: Sendable {
    private var sources: TokenBuckets<SourcePrefix>
    private var sites: TokenBuckets<SourceNetwork>
    private var providers: TokenBuckets<SourceNetwork>

    /// How many times the rate of a source the networks around it have.
    static let siteFactor = 4.0
    static let providerFactor = 16.0

    /// - Parameters:
    ///   - rate: tokens in a second for each source.
    ///   - burst: the most that it can have saved.
    ///   - maximumCount: how many sources are remembered at least.
    init(rate: Double, burst: Double, maximumCount: Int = 65_536) {
        sources = TokenBuckets(rate: rate, burst: burst, maximumCount: maximumCount)
        sites = TokenBuckets(
            rate: rate * Self.siteFactor, burst: burst * Self.siteFactor, maximumCount: maximumCount)
        providers = TokenBuckets(
            rate: rate * Self.providerFactor, burst: burst * Self.providerFactor, maximumCount: maximumCount)
    }

    /// Takes a token of a source, and of each network around it.
    /// - Parameters:
    ///   - source: the source.
    ///   - now: nanoseconds that never go back.
    /// - Returns: nil if all had one, else how many seconds it takes until the first that had none has one.
    mutating func take(_ source: SourcePrefix, at now: UInt64) -> Double? {
        if let wait = sources.take(source, at: now) { return wait }
        for network in source.largerNetworks {
            let wait = network.length == 48 ? sites.take(network, at: now) : providers.take(network, at: now)
            if let wait { return wait }
        }
        return nil
    }
}
