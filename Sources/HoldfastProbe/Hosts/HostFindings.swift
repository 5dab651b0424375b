public import Foundation
public import Holdfast

/// What a host showed, at every address that was asked and with every kind of key.
public struct HostFindings: Sendable {
    /// The host, with the port that was dialed.
    public let host: DialedHost
    /// A sighting for each address and each certificate that it showed, in the order of the addresses, and one for each
    /// address that could not be asked. There is always at least one.
    public let sightings: [Sighting]

    /// Describes what was seen; a probe makes these.
    public init(host: DialedHost, _ sightings: [Sighting]) {
        self.host = host
        self.sightings = sightings
    }

    /// Every chain that was shown.
    public var shown: [ShownChain] { sightings.compactMap(\.shown) }

    /// Why addresses showed nothing. Nobody knows what clients see there, so without a look at these no statement about
    /// all clients is right.
    public var failures: [ProbeFailure] { sightings.compactMap(\.failure) }

    /// The families of addresses that this machine cannot ask, for example because it has no IPv6, although the host
    /// answered at addresses of the other. One address without a route, beside others of its family that have one, may be
    /// an outage, and makes no such family.
    public var familiesWithoutRoute: Set<IPAddress.Family> {
        guard sightings.contains(where: { $0.shown != nil }) else { return [] }
        func families(_ isMeant: (Sighting) -> Bool) -> Set<IPAddress.Family> {
            Set(sightings.filter(isMeant).compactMap(\.address?.address.family))
        }
        return families { $0.failure?.code == .unroutable }.subtracting(families { $0.failure?.code != .unroutable })
    }

    /// Whether a proxy chose the address. The name may have others, which were not asked.
    public var isChosenByProxy: Bool { sightings.contains { $0.shown != nil && $0.address == nil } }
}

extension HostFindings {
    /// The first instant at which something that was shown is no longer valid: a certificate of a validated path, or of
    /// an untrusted chain the server's own certificate. It is nil if nothing was shown.
    public var shownUntil: Date? {
        let ends = shown.flatMap { shown in
            if let path = shown.decision.path { return path.certificates.map(\.notAfter) }
            return [shown.leaf?.notAfter].compactMap(\.self)
        }
        // A certificate is valid for the whole of its last second (RFC 5280 4.1.2.5).
        return ends.min()?.addingTimeInterval(1)
    }
}
