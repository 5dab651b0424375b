/// How long each part of asking a host may take.
public struct ProbeDeadlines: Sendable, Hashable {
    /// Finding the addresses of the name.
    public var resolving: Duration
    /// Connecting to an address.
    public var connecting: Duration
    /// The handshake on a connection; with a proxy before TLS, each of the two.
    public var handshake: Duration
    /// Everything together: the host at all its addresses, with each kind of key. What is not known by then has timed
    /// out.
    public var whole: Duration

    /// Sets limits. They must be positive; one that is not leaves no time at all.
    public init(
        resolving: Duration = .seconds(10), connecting: Duration = .seconds(10), handshake: Duration = .seconds(10),
        whole: Duration = .seconds(60)
    ) {
        self.resolving = resolving
        self.connecting = connecting
        self.handshake = handshake
        self.whole = whole
    }
}
