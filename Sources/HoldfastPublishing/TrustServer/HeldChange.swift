public import Foundation

/// Certificates that a host showed but that are not published until somebody approves them
/// (``PublishingRound/Rules/holdsChanges``).
///
/// Encoded, its fields have the names of its properties.
public struct HeldChange: Sendable, Hashable, Codable {
    /// The host, without its port.
    public let hostname: String
    /// The port.
    public let port: Int
    /// The SHA-256 of each certificate, in lower-case hexadecimal.
    public let fingerprints: [String]
    /// When one of them was first seen, in whole seconds.
    public let since: Date
    /// Whether somebody has approved them. If so, the next round that sees them publishes them.
    public let isApproved: Bool

    /// Makes a change again, for example from a row of a database. ``PublishingMemory`` checks it when it is read.
    public init(hostname: String, port: Int, fingerprints: [String], since: Date, isApproved: Bool) {
        self.hostname = hostname
        self.port = port
        self.fingerprints = fingerprints
        self.since = since
        self.isApproved = isApproved
    }

    /// A copy that is approved.
    public var approved: HeldChange {
        HeldChange(hostname: hostname, port: port, fingerprints: fingerprints, since: since, isApproved: true)
    }
}
