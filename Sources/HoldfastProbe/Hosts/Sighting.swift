public import Holdfast

/// What one address of a host showed with one kind of key, or why it showed nothing.
public struct Sighting: Sendable {
    /// The host for which the server was evaluated, with the port that was dialed.
    public let host: DialedHost
    /// The address that was dialed, also if it did not answer. It is nil only if a proxy chose the address, or if no
    /// address was found.
    public let address: PeerAddress?
    /// The proxy's address; nil without a proxy, and if the proxy could not be reached.
    public let proxy: PeerAddress?
    /// The kinds of keys that the client let the server use.
    public let offer: KeyOffer
    /// What the server showed, or why it showed nothing.
    public let result: Result<ShownChain, ProbeFailure>

    /// Describes a sighting; a probe makes these.
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

    /// What the server showed; nil if it showed nothing.
    public var shown: ShownChain? { try? result.get() }

    /// Why the server showed nothing; nil if it did.
    public var failure: ProbeFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }
}
