public import Holdfast

public import struct Foundation.Date

/// Who judges the peers of a connection: asked anew at every handshake, and never earlier, so that what counts is the
/// policy of that moment.
public enum TrustSource: Sendable {
    /// One policy, which must cover the host that is dialled. One that waits for something
    /// (`TrustPolicy.needsPreparation`) is waited for, without blocking the event loop.
    case policy(any TrustPolicy)

    /// The manager's policy of the host that is dialled, and its rule for a host without one; its observers learn of every
    /// decision. The time is that of the adapter's clock.
    ///
    /// A server that is judged once policies were added, replaced or removed is judged by the new ones, also in a
    /// handshake that began before. Connections whose server was judged earlier are the application's to end, see
    /// `TrustManager.changes()`. A policy that waits for something (`TrustPolicy.needsPreparation`) is waited for,
    /// without blocking the event loop.
    case manager(TrustManager)

    /// A closure, which is called on the connection's event loop: it must neither block nor touch the connection.
    ///
    /// It is called before the handshake has proved the peer's key. Whoever is to hear of a trusted peer waits for the
    /// channel's decision, see `Channel.trustDecision()`.
    case custom(@Sendable (_ trust: ServerTrust, _ time: Date) -> TrustDecision)
}

extension TrustSource {
    /// The policy that has to be prepared before it is asked about a peer; nil when it can be asked right away.
    func policyToPrepare(for purpose: ValidationPurpose) -> (any TrustPolicy)? {
        switch self {
        case .policy(let policy): return policy.inNeedOfPreparation
        case .manager(let manager):
            guard case .server(let host?) = purpose else { return nil }
            return manager.policy(for: host)?.inNeedOfPreparation
        case .custom: return nil
        }
    }

    /// Judges a trust and tells nobody.
    func judgment(of trust: ServerTrust, at time: Date) -> TrustDecision {
        switch self {
        case .policy(let policy): policy.unwrapped.evaluate(trust, at: time)
        case .manager(let manager): manager.judgment(of: trust, at: time)
        case .custom(let evaluate): evaluate(trust, time)
        }
    }

    /// Tells those of a judgment who observe the policy or the manager.
    func tell(_ decision: TrustDecision) {
        switch self {
        case .policy(let policy): policy.tell(decision)
        case .manager(let manager): manager.tell(decision)
        case .custom: break
        }
    }
}
