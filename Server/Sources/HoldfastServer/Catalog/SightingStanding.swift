/// How much the sighting of a chain says, which decides what it may displace: nothing of a better standing.
enum SightingStanding: Int64, Sendable, Hashable, CaseIterable {
    /// Anyone can present such a chain.
    case other = 0
    /// The leaf has a key that people approved or announced, but clients refuse the chain: anyone can make a certificate
    /// over a key that is public.
    case approvedKey = 1
    /// Clients accept it. If this server saw it, the handshake was completed, so the host has the key; if another vantage
    /// did, that is its word.
    case accepted = 2
}
