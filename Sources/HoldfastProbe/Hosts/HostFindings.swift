public import Foundation
public import Holdfast

/// The chains that a host presented, at every probed address and with every kind of key.
public struct HostFindings: Sendable {
    /// The host, with the port that was dialed.
    public let host: DialedHost
    /// One sighting for each address and each certificate that it presented, in the order of the addresses, and one for
    /// each address that could not be probed. There is always at least one.
    public let sightings: [Sighting]

    /// Makes findings. Probes call this.
    public init(host: DialedHost, _ sightings: [Sighting]) {
        self.host = host
        self.sightings = sightings
    }

    /// Every presented chain.
    public var shown: [ShownChain] { sightings.compactMap(\.shown) }

    /// Why addresses presented nothing. It is unknown what clients see there, so a statement about all clients must
    /// take these into account.
    public var failures: [ProbeFailure] { sightings.compactMap(\.failure) }

    /// The address families that this machine cannot reach, for example because it has no IPv6, although the host
    /// answered at addresses of the other family. If only some addresses of a family have no route, that may be an
    /// outage, and the family is not included.
    public var familiesWithoutRoute: Set<IPAddress.Family> {
        guard sightings.contains(where: { $0.shown != nil }) else { return [] }
        func families(_ isMeant: (Sighting) -> Bool) -> Set<IPAddress.Family> {
            Set(sightings.filter(isMeant).compactMap(\.address?.address.family))
        }
        return families { $0.failure?.code == .unroutable }.subtracting(families { $0.failure?.code != .unroutable })
    }

    /// Whether a proxy chose the address. The name may have other addresses, which were not probed.
    public var isChosenByProxy: Bool { sightings.contains { $0.shown != nil && $0.address == nil } }
}

extension HostFindings {
    /// The first instant at which a presented certificate is no longer valid: any certificate of a validated path, or
    /// the server's own certificate of an untrusted chain. It is nil if nothing was presented.
    public var shownUntil: Date? {
        let ends = shown.flatMap { shown in
            if let path = shown.decision.path { return path.certificates.map(\.notAfter) }
            return [shown.leaf?.notAfter].compactMap(\.self)
        }
        // A certificate is valid for the whole of its last second (RFC 5280 4.1.2.5).
        return ends.min()?.addingTimeInterval(1)
    }
}
