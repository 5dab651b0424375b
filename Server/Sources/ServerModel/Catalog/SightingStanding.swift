/// The trust in a sighting of a chain. A sighting never displaces one with a higher standing.
package enum SightingStanding: Int64, Sendable, Hashable, CaseIterable {
    /// Anyone can present such a chain.
    case other = 0
    /// The leaf has an approved or announced key, but clients refuse the chain: anyone can make a certificate for a
    /// public key.
    case approvedKey = 1
    /// Clients accept the chain. If this server saw it, the completed handshake proves that the host has the key;
    /// another vantage only claims it.
    case accepted = 2
}
