/// Counts what sources have of something that there is only so much of, by each network that they are in.
struct SourceShares: Sendable {
    /// How much a network may have, by its size.
    struct Limits: Sendable, Hashable {
        /// A source: the /56 of an IPv6 address, the /24 of an IPv4 address.
        let source: Int
        /// The /48 of an IPv6 address.
        let site: Int
        /// The /32 of an IPv6 address.
        let provider: Int

        fileprivate func limit(of network: SourceNetwork) -> Int {
            switch network.length {
            case 48: site
            case 32: provider
            default: source
            }
        }
    }

    private let limits: Limits
    /// An entry for each network that has something, so it is bounded by what there is.
    private var counts: [SourceNetwork: Int] = [:]

    /// Starts without any counts.
    init(_ limits: Limits) { self.limits = limits }

    /// Whether a source may have more.
    func hasRoom(for count: Int, of source: SourcePrefix) -> Bool {
        source.networks.allSatisfy { counts[$0, default: 0] + count <= limits.limit(of: $0) }
    }

    /// Counts what a source gets.
    mutating func add(_ count: Int, of source: SourcePrefix) {
        guard count > 0 else { return }
        for network in source.networks { counts[network, default: 0] += count }
    }

    /// Counts what a source gives back.
    mutating func remove(_ count: Int, of source: SourcePrefix) {
        guard count > 0 else { return }
        for network in source.networks {
            let left = (counts[network] ?? 0) - count
            counts[network] = left > 0 ? left : nil
        }
    }

    /// How much a network has.
    func count(of network: SourceNetwork) -> Int { counts[network] ?? 0 }

    /// How much the networks of a source have, from the largest to the smallest. IPv4 has one size, which stands for all.
    func counts(of source: SourcePrefix) -> (Int, Int, Int) {
        let networks = source.networks
        let own = networks.first.map(count) ?? 0
        guard networks.count == 3 else { return (own, own, own) }
        return (count(of: networks[2]), count(of: networks[1]), own)
    }

    /// The source that has most, and how much; nil if none has anything. It costs a look at each network.
    var fullestSource: (network: SourceNetwork, count: Int)? {
        counts.lazy.filter { $0.key.isSource }.max { $0.value < $1.value }.map { ($0.key, $0.value) }
    }

    /// How many networks have something.
    var networkCount: Int { counts.count }
}
