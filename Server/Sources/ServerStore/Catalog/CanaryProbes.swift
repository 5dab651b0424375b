/// The results of probing hosts with the documents of a canary since it began, from the audit.
package struct CanaryProbes: Sendable, Hashable {
    /// The number of seconds during which no client was locked out. The time between two probes that are further apart
    /// than ``maximumPause`` is not included, because its state is unknown.
    package private(set) var followed: Int64 = 0
    /// The last time at which all clients could connect, in seconds since 1970; nil before that, and after a lockout.
    package private(set) var latest: Int64?
    /// The locked-out clients with host and reason; empty once all can connect again.
    package private(set) var refusals: [String] = []
    /// The time since which the canary is held, in seconds since 1970; nil if no client is locked out.
    package private(set) var heldSince: Int64?

    /// Maximum time between two probes that also covers the time between them, in seconds.
    package static let maximumPause: Int64 = 3_600
    /// The separator between refusals in an entry.
    package static let separator = "\n"

    /// Adds the results of a probe. A lockout restarts the canary's time.
    package mutating func take(_ refusals: [String], at time: Int64) {
        self.refusals = refusals
        guard refusals.isEmpty else {
            (followed, latest, heldSince) = (0, nil, heldSince ?? time)
            return
        }
        heldSince = nil
        followed = followed(at: time)
        latest = time
    }

    /// The number of seconds during which all clients could connect, if they still can at a time.
    package func followed(at time: Int64) -> Int64 {
        guard let latest, (0...Self.maximumPause).contains(time - latest) else { return followed }
        return followed + (time - latest)
    }

    /// The earliest time at which they have been able to connect for a span, if they can from now on.
    package func end(after span: Int64, at now: Int64) -> Int64 { now + max(0, span - followed(at: now)) }
}
