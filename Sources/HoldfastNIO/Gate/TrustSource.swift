public import Holdfast

public import struct Foundation.Date

/// The source of decisions about the peers of a connection. It is evaluated at every handshake, and never earlier, so
/// that the current policy is used.
public enum TrustSource: Sendable {
    /// One policy, which must cover the dialed host. If it waits for something (`TrustPolicy.needsPreparation`), the
    /// handshake waits as well, without blocking the event loop.
    case policy(any TrustPolicy)

    /// The manager's policy for the dialed host, or its rule for a host without one. Its observers get every decision.
    /// The time is that of the adapter's clock.
    ///
    /// After policies were added, replaced or removed, servers are evaluated by the new ones, even in handshakes that
    /// began before. The application has to end older connections itself, see `TrustManager.changes()`. If a policy
    /// waits for something (`TrustPolicy.needsPreparation`), the handshake waits too, without blocking the event loop.
    case manager(TrustManager)

    /// A closure, which is called on the connection's event loop: it must neither block nor touch the connection.
    ///
    /// It is called before the handshake has proved the peer's key. Code that acts on a trusted peer waits for the
    /// channel's decision, see `Channel.trustDecision()`.
    case custom(@Sendable (_ trust: ServerTrust, _ time: Date) -> TrustDecision)
}

extension TrustSource {
    /// The policy that has to be prepared before it evaluates a peer; nil if it can evaluate right away.
    func policyToPrepare(for purpose: ValidationPurpose) -> (any TrustPolicy)? {
        switch self {
        case .policy(let policy): return policy.inNeedOfPreparation
        case .manager(let manager):
            guard case .server(let host?) = purpose else { return nil }
            return manager.policy(for: host)?.inNeedOfPreparation
        case .custom: return nil
        }
    }

    /// Evaluates a trust and notifies no observer.
    func judgment(of trust: ServerTrust, at time: Date) -> TrustDecision {
        switch self {
        case .policy(let policy): policy.evaluate(trust, at: time)
        case .manager(let manager): manager.judgment(of: trust, at: time)
        case .custom(let evaluate): evaluate(trust, time)
        }
    }

    /// Reports a decision to the observers of the policy or the manager.
    func tell(_ decision: TrustDecision) {
        switch self {
        case .policy(let policy): policy.tell(decision)
        case .manager(let manager): manager.tell(decision)
        case .custom: break
        }
    }
}
