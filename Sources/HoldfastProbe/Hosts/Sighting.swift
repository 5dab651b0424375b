public import Holdfast

/// The chain that one address of a host presented with one kind of key, or why it presented none.
public struct Sighting: Sendable {
    /// The host for which the server was evaluated, with the port that was dialed.
    public let host: DialedHost
    /// The address that was dialed, even if it did not answer. It is nil only if a proxy chose the address, or if no
    /// address was found.
    public let address: PeerAddress?
    /// The proxy's address; nil without a proxy, and if the proxy could not be reached.
    public let proxy: PeerAddress?
    /// The kinds of keys that the client accepted.
    public let offer: KeyOffer
    /// The chain that the server presented, or why it presented none.
    public let result: Result<ShownChain, ProbeFailure>

    /// Makes a sighting. Probes call this.
    public init(
        host: DialedHost, address: PeerAddress?, proxy: PeerAddress? = nil, offer: KeyOffer = .any,
        result: Result<ShownChain, ProbeFailure>
    ) {
        self.host = host
        self.address = address
        self.proxy = proxy
        self.offer = offer
        self.result = result
    }

    /// The chain that the server presented; nil if it presented none.
    public var shown: ShownChain? { try? result.get() }

    /// Why the server presented no chain; nil if it did.
    public var failure: ProbeFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }
}
