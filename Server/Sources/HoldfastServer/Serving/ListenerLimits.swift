public import NIOCore

/// What a listener grants to a client that may be hostile.
public struct ListenerLimits: Sendable, Hashable {
    /// How many connections are open at a time.
    public var connections = 4_096
    /// How many of them one source may have; proxies that are trusted may have all.
    public var connectionsPerSource = 256
    /// How long a connection keeps its place, in nanoseconds, before another one can take it while all places are taken:
    /// 5 s, within which a slow phone has shaken hands and asked.
    public var evictionAge: UInt64 = 5_000_000_000
    /// How many TLS handshakes a source may begin in a second, each of which costs a signature before anybody has asked for
    /// anything; proxies that are trusted may begin any number.
    public var handshakesPerSecond = 50.0
    /// How many of them a source can have saved: as many as it may have connections.
    public var handshakesAtOnce = 256
    /// The bytes of all header fields of a request together. Phones send less than a thousand.
    public var headerBytes = 16_384
    /// The header fields of a request.
    public var headerFields = 100
    /// The bytes of a body; 0 where nobody needs one.
    public var bodyBytes = 0
    /// How long a connection may be without a whole request head.
    public var waiting: TimeAmount = .seconds(20)
    /// How long a body may take.
    public var bodyTime: TimeAmount = .seconds(20)
    /// The slowest that a client may send a body, in bytes in a second, once ``bodyGrace`` is over.
    public var bodyBytesPerSecond = 512
    /// How long a body may be slower than that: a phone may lose its network for a moment.
    public var bodyGrace: TimeAmount = .seconds(5)
    /// How long an answer may take to be read, apart from the time for its length.
    public var answerTime: TimeAmount = .seconds(20)
    /// The slowest that a client may read: 16 KiB in a second, as on a poor mobile network.
    public var answerBytesPerSecond = 16_384
    /// How long a connection is not read after its client asked too much.
    public var pause: TimeAmount = .seconds(1)
    /// How many requests a connection is good for, so that clients come to all servers behind a balancer.
    public var requestsPerConnection = 10_000
    /// How long a connection stays open after its last answer, so that the client can read it.
    public var lingering: TimeAmount = .seconds(2)
    /// How long a stopping server waits for answers that are under way.
    public var stopping: TimeAmount = .seconds(8)

    /// The usual limits.
    public init() {}

    /// Those of people and their tools: small bodies, and answers that take a while to work out.
    public static var administration: ListenerLimits {
        var limits = ListenerLimits()
        limits.bodyBytes = 256 << 10
        limits.answerTime = .seconds(120)
        limits.connections = 512
        limits.connectionsPerSource = 128
        return limits
    }

    /// How many connections a source, a /48 and a /32 may have: a /48 a quarter of all, or as many as one source if that is
    /// more, and a /32 half.
    var connectionShares: SourceShares.Limits {
        SourceShares.Limits(
            source: connectionsPerSource, site: max(connectionsPerSource, connections / 4),
            provider: max(connectionsPerSource, connections / 2))
    }

    /// How many parts of requests may wait behind one that is being answered: a head, a body and an end each.
    var partsAtOnce: Int { 192 }

    /// How many bytes are read from a connection before the next has its turn.
    var bytesAtOnce: Int { 8_192 }

    /// How much longer a body may take of which so many bytes have come: as long as the slowest speed allows, and never
    /// longer than ``bodyTime`` in all.
    /// - Returns: nil if its time is over.
    func time(forBodyWith bytes: Int, after elapsed: TimeAmount) -> TimeAmount? {
        let earned = TimeAmount.milliseconds(Int64(bytes) * 1_000 / Int64(max(1, bodyBytesPerSecond)))
        let end = min(bodyTime, bodyGrace + earned)
        return end > elapsed ? end - elapsed : nil
    }

    /// How long an answer of this length may take to be read.
    func time(forAnswerOf bytes: Int) -> TimeAmount {
        answerTime + .milliseconds(Int64(bytes) * 1_000 / Int64(max(1, answerBytesPerSecond)))
    }
}
