package import NIOCore

/// The limits of a listener for clients that may be hostile.
package struct ListenerLimits: Sendable, Hashable {
    /// Maximum number of open connections.
    package var connections = 4_096
    /// Maximum number of connections from one source; trusted proxies may have all.
    var connectionsPerSource = 256
    /// The age in nanoseconds at which a connection may be evicted while the table is full: 5 s, enough for a slow
    /// phone to finish its handshake and send a request.
    var evictionAge: UInt64 = 5_000_000_000
    /// The number of TLS handshakes that a source may start per second. Each costs a signature before the first
    /// request. Trusted proxies may start any number.
    var handshakesPerSecond = 50.0
    /// The number of handshakes that a source can have saved: as many as its connections.
    var handshakesAtOnce = 256
    /// Maximum size in bytes of all header fields of a request. Phones send less than 1,000.
    var headerBytes = 16_384
    /// Maximum number of header fields of a request.
    var headerFields = 100
    /// Maximum size in bytes of a body; 0 if no request needs one.
    var bodyBytes = 0
    /// Maximum time that a connection may stay without a complete request head.
    package var waiting: TimeAmount = .seconds(20)
    /// Maximum time for a body.
    var bodyTime: TimeAmount = .seconds(20)
    /// Minimum speed at which a client must send a body, in bytes per second, after ``bodyGrace``.
    var bodyBytesPerSecond = 512
    /// The time for which a body may be slower: a phone may lose its network for a moment.
    var bodyGrace: TimeAmount = .seconds(5)
    /// Maximum time for the client to read a response, in addition to the time for its length.
    var answerTime: TimeAmount = .seconds(20)
    /// Minimum speed at which a client must read: 16 KiB per second, as on a poor mobile network.
    var answerBytesPerSecond = 16_384
    /// The time for which a connection is not read after its client sent too many requests.
    package var pause: TimeAmount = .seconds(1)
    /// Maximum number of requests per connection, so that clients are spread over all servers behind a balancer.
    var requestsPerConnection = 10_000
    /// The time for which a connection stays open after its last response, so that the client can read it.
    var lingering: TimeAmount = .seconds(2)
    /// The time for which a stopping server waits for responses in progress.
    package var stopping: TimeAmount = .seconds(8)

    /// Creates the default limits.
    package init() {}

    /// The limits for administrators and their tools: small bodies, and responses that take time to compute.
    package static var administration: ListenerLimits {
        var limits = ListenerLimits()
        limits.bodyBytes = 256 << 10
        limits.answerTime = .seconds(120)
        limits.connections = 512
        limits.connectionsPerSource = 128
        return limits
    }

    /// Maximum numbers of connections of a source, a /48 and a /32. A /48 may have a quarter of all, but no fewer than
    /// one source, and a /32 half.
    var connectionShares: SourceShares.Limits {
        SourceShares.Limits(
            source: connectionsPerSource, site: max(connectionsPerSource, connections / 4),
            provider: max(connectionsPerSource, connections / 2))
    }

    /// Maximum number of request parts behind the current request; each request has a head, a body and an end.
    var partsAtOnce: Int { 192 }

    /// Maximum number of bytes that are read from a connection before it is the next one's turn.
    var bytesAtOnce: Int { 8_192 }

    /// The remaining time for a body of which a number of bytes have arrived: as long as the minimum speed allows, and
    /// at most ``bodyTime`` in total.
    /// - Returns: nil if its time is over.
    package func time(forBodyWith bytes: Int, after elapsed: TimeAmount) -> TimeAmount? {
        let earned = TimeAmount.milliseconds(Int64(bytes) * 1_000 / Int64(max(1, bodyBytesPerSecond)))
        let end = min(bodyTime, bodyGrace + earned)
        return end > elapsed ? end - elapsed : nil
    }

    /// Maximum time for the client to read a response of this length.
    package func time(forAnswerOf bytes: Int) -> TimeAmount {
        answerTime + .milliseconds(Int64(bytes) * 1_000 / Int64(max(1, answerBytesPerSecond)))
    }
}
