/// Counts how much of a limited resource each network uses.
package struct SourceShares: Sendable {
    /// The maximum per network, by its size.
    package struct Limits: Sendable, Hashable {
        /// A source: the /56 of an IPv6 address, the /24 of an IPv4 address.
        package let source: Int
        /// The /48 of an IPv6 address.
        package let site: Int
        /// The /32 of an IPv6 address.
        package let provider: Int

        package init(source: Int, site: Int, provider: Int) {
            self.source = source
            self.site = site
            self.provider = provider
        }

        fileprivate func limit(of network: SourceNetwork) -> Int {
            switch network.length {
            case 48: site
            case 32: provider
            default: source
            }
        }
    }

    private let limits: Limits
    /// One entry per network with a count above 0, so it is bounded by the resource.
    private var counts: [SourceNetwork: Int] = [:]

    /// Creates empty counts.
    package init(_ limits: Limits) { self.limits = limits }

    /// Whether a source may take more.
    package func hasRoom(for count: Int, of source: SourcePrefix) -> Bool {
        source.networks.allSatisfy { counts[$0, default: 0] + count <= limits.limit(of: $0) }
    }

    /// Adds to the counts of a source.
    package mutating func add(_ count: Int, of source: SourcePrefix) {
        guard count > 0 else { return }
        for network in source.networks { counts[network, default: 0] += count }
    }

    /// Subtracts from the counts of a source.
    package mutating func remove(_ count: Int, of source: SourcePrefix) {
        guard count > 0 else { return }
        for network in source.networks {
            let left = (counts[network] ?? 0) - count
            counts[network] = left > 0 ? left : nil
        }
    }

    /// The count of a network.
    package func count(of network: SourceNetwork) -> Int { counts[network] ?? 0 }

    /// The counts of a source's networks, from the largest to the smallest. IPv4 has one size, which represents all.
    package func counts(of source: SourcePrefix) -> (Int, Int, Int) {
        let networks = source.networks
        let own = networks.first.map(count) ?? 0
        guard networks.count == 3 else { return (own, own, own) }
        return (count(of: networks[2]), count(of: networks[1]), own)
    }

    /// The source with the largest count; nil if all are 0. It examines every network.
    package var fullestSource: (network: SourceNetwork, count: Int)? {
        counts.lazy.filter { $0.key.isSource }.max { $0.value < $1.value }.map { ($0.key, $0.value) }
    }

    /// The number of networks with a count above 0.
    var networkCount: Int { counts.count }
}
