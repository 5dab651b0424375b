/// Certificates that a host showed and that are not published until somebody approves them
/// (``PublishingRound/Rules/holdsChanges``).
public struct HeldChange: Sendable, Hashable {
    /// The host, without its port.
    public let hostname: String
    /// The port.
    public let port: Int
    /// SHA-256 of each certificate in lower-case hexadecimal.
    public let fingerprints: [String]
    /// When one of them was first seen, in Unix seconds.
    public let since: Int64
    /// Whether they may be published: then the next round that sees them does so.
    public let isApproved: Bool

    init(hostname: String, port: Int, fingerprints: [String], since: Int64, isApproved: Bool) {
        self.hostname = hostname
        self.port = port
        self.fingerprints = fingerprints
        self.since = since
        self.isApproved = isApproved
    }

    /// The same, approved.
    var approved: HeldChange {
        HeldChange(hostname: hostname, port: port, fingerprints: fingerprints, since: since, isApproved: true)
    }
}
