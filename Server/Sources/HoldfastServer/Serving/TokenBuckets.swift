/// A bucket of tokens for each source: it fills at a rate, and what signs takes one.
///
/// The memory is bounded. Two generations of buckets are kept; when the younger is full the older is forgotten, so only
/// a source that was not heard of for a whole generation begins anew.
struct TokenBuckets<Source: Hashable & Sendable>: Sendable {
    private struct Bucket: Sendable {
        var tokens: Double
        var filledAt: UInt64
    }

    /// Tokens in a second.
    private let rate: Double
    /// The most tokens that a source can have saved.
    private let burst: Double
    private let maximumCount: Int
    private var young: [Source: Bucket] = [:]
    private var old: [Source: Bucket] = [:]

    /// - Parameters:
    ///   - rate: tokens in a second for each source.
    ///   - burst: the most that it can have saved.
    ///   - maximumCount: how many sources are remembered at least.
    init(rate: Double, burst: Double, maximumCount: Int = 65_536) {
        self.rate = rate
        self.burst = burst
        self.maximumCount = maximumCount
    }

    /// Takes a token.
    /// - Parameters:
    ///   - source: whose.
    ///   - now: nanoseconds that never go back.
    /// - Returns: nil if it had one, else how many seconds it takes until it has.
    mutating func take(_ source: Source, at now: UInt64) -> Double? {
        var bucket = young[source] ?? old[source] ?? Bucket(tokens: burst, filledAt: now)
        let elapsed = Double(now - min(now, bucket.filledAt)) / 1e9
        bucket.tokens = min(burst, bucket.tokens + elapsed * rate)
        bucket.filledAt = now
        defer { remember(bucket, of: source) }
        guard bucket.tokens >= 1 else { return (1 - bucket.tokens) / rate }
        bucket.tokens -= 1
        return nil
    }

    /// How many sources are remembered.
    var count: Int { young.count + old.count }

    private mutating func remember(_ bucket: Bucket, of source: Source) {
        if young[source] == nil, young.count >= maximumCount {
            old = young
            young = [:]
        }
        young[source] = bucket
        old[source] = nil
    }
}
