public import Holdfast

/// What a host showed, at every address that was asked and with every kind of key.
public struct HostFindings: Sendable {
    /// The host, with the port that was dialed.
    public let host: DialedHost
    /// What counts: a sighting for each address and each certificate that it showed, in the order of the addresses, and
    /// one for each address that could not be asked. There is always at least one.
    public let sightings: [Sighting]
    /// The addresses that do not count, because this machine has no route to their whole family and the host answered
    /// at others. Nobody knows what they show.
    public let unroutable: [Sighting]

    /// Takes what was seen, and sorts out what does not count.
    public init(host: DialedHost, _ all: [Sighting]) {
        self.host = host
        // One address without a route, beside others of its family that have one, may be an outage.
        let routable = Set(all.filter { $0.failure?.code != .unroutable }.compactMap(\.address?.address.family))
        let answers = all.contains { $0.shown != nil }
        func isLeftOut(_ sighting: Sighting) -> Bool {
            guard answers, sighting.failure?.code == .unroutable, let address = sighting.address else { return false }
            return !routable.contains(address.address.family)
        }
        sightings = all.filter { !isLeftOut($0) }
        unroutable = all.filter(isLeftOut)
    }

    /// Every chain that was shown.
    public var shown: [ShownChain] { sightings.compactMap(\.shown) }

    /// What could not be asked, and counts.
    public var failures: [ProbeFailure] { sightings.compactMap(\.failure) }
}
