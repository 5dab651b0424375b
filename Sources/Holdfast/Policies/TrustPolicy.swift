public import struct Foundation.Date

/// Decides whether a peer is trusted.
///
/// ``evaluate(_:at:)`` is the one thing a policy must do: it performs no I/O of its own and holds no lock while it
/// works. Everything else is a convenience on it. Implementations may be called from any thread.
public protocol TrustPolicy: Sendable {
    /// The host name or pattern as configured; what a ``TrustManager`` finds the policy by.
    var hostName: String { get }

    /// The clock of the published calls that take no time.
    var clock: any WallClock { get }

    /// What the policy judges: what an adapter has to show it, and what TLS may verify beforehand without refusing what
    /// the policy accepts.
    var evidence: PolicyEvidence { get }

    /// Judges a trust at a time.
    ///
    /// A trust whose host the policy does not cover is rejected, and so is one without a host unless the policy is for
    /// one exact name.
    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision

    /// Judges the absence of a trust: a rejection, unless the policy asks for nothing.
    func decisionWithoutTrust(at time: Date) -> TrustDecision
}

extension TrustPolicy {
    /// The system's clock.
    public var clock: any WallClock { SystemWallClock() }

    /// ``PolicyEvidence/chain``: the policy is shown all that the peer presents, and nothing is assumed about it.
    public var evidence: PolicyEvidence { .chain }

    /// Rejects with `noTrust`.
    public func decisionWithoutTrust(at time: Date) -> TrustDecision {
        TrustDecision(
            .rejected(TrustFailure(.noTrust, expected: "the server's trust", found: "none")),
            policyName: hostName, host: nil, time: time, chain: nil)
    }
}
