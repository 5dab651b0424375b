/// A token bucket per source: it fills at a rate, and each operation takes a token.
///
/// The memory is bounded by two generations of buckets. When the younger is full, the older is discarded. So only a
/// source without requests for a whole generation starts with a full bucket again.
package struct TokenBuckets<Source: Hashable & Sendable>: Sendable {
    private struct Bucket: Sendable {
        var tokens: Double
        var filledAt: UInt64
    }

    /// Tokens per second.
    private let rate: Double
    /// Maximum number of saved tokens per source.
    private let burst: Double
    private let maximumCount: Int
    private var young: [Source: Bucket] = [:]
    private var old: [Source: Bucket] = [:]

    /// - Parameters:
    ///   - rate: the number of tokens per second for each source.
    ///   - burst: the maximum number of saved tokens.
    ///   - maximumCount: the minimum number of sources that are remembered.
    package init(rate: Double, burst: Double, maximumCount: Int = 65_536) {
        self.rate = rate
        self.burst = burst
        self.maximumCount = maximumCount
    }

    /// Takes a token.
    /// - Parameters:
    ///   - source: the source.
    ///   - now: a monotonic time in nanoseconds.
    /// - Returns: nil if the source had a token, else the number of seconds until it has one.
    package mutating func take(_ source: Source, at now: UInt64) -> Double? {
        var bucket = young[source] ?? old[source] ?? Bucket(tokens: burst, filledAt: now)
        let elapsed = Double(now - min(now, bucket.filledAt)) / 1e9
        bucket.tokens = min(burst, bucket.tokens + elapsed * rate)
        bucket.filledAt = now
        defer { remember(bucket, of: source) }
        guard bucket.tokens >= 1 else { return (1 - bucket.tokens) / rate }
        bucket.tokens -= 1
        return nil
    }

    /// The number of remembered sources.
    package var count: Int { young.count + old.count }

    private mutating func remember(_ bucket: Bucket, of source: Source) {
        if young[source] == nil, young.count >= maximumCount {
            old = young
            young = [:]
        }
        young[source] = bucket
        old[source] = nil
    }
}
