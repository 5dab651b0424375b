/// The maximum duration of each part of a probe.
public struct ProbeDeadlines: Sendable, Hashable {
    /// To find the addresses of the name.
    public var resolving: Duration
    /// To connect to an address.
    public var connecting: Duration
    /// For the handshake on a connection; with a proxy before TLS, for each of the two.
    public var handshake: Duration
    /// For the whole probe: the host at all its addresses, with each kind of key. All parts that are unfinished by then
    /// have timed out.
    public var whole: Duration

    /// Sets the limits, which must be positive. A limit that is not positive leaves no time at all.
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
