/// How much the sighting of a chain says, which decides what it may displace: nothing of a better standing.
enum SightingStanding: Int64, Sendable, Hashable, CaseIterable {
    /// Anyone can present such a chain.
    case other = 0
    /// The leaf has a key that people approved or announced, but the handshake did not prove that the server has it: anyone
    /// can make a certificate over a key that is public.
    case approvedKey = 1
    /// Clients accept it, and the handshake was completed, so the server has the key.
    case accepted = 2
}
