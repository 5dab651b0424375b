public import Holdfast

public import struct Foundation.Date

/// Who judges the peers of a connection: asked anew at every handshake, and never earlier, so that what counts is the
/// policy of that moment.
///
/// A value; may be used from any thread.
public struct TrustSource: Sendable {
    private let judge: @Sendable (ServerTrust, Date) -> TrustDecision
    private let waiting: @Sendable (ServerTrust.Purpose) -> (any PreparableTrustPolicy)?

    /// Asks a closure, which is called on the connection's event loop: it must neither block nor touch the connection.
    public init(_ evaluate: @escaping @Sendable (_ trust: ServerTrust, _ time: Date) -> TrustDecision) {
        self.init(waiting: { _ in nil }, evaluate)
    }

    /// - Parameter waiting: the policy that is to be prepared before it is asked; nil when none has to be.
    init(
        waiting: @escaping @Sendable (ServerTrust.Purpose) -> (any PreparableTrustPolicy)?,
        _ evaluate: @escaping @Sendable (_ trust: ServerTrust, _ time: Date) -> TrustDecision
    ) {
        self.waiting = waiting
        judge = evaluate
    }

    /// Asks one policy; it must cover the host that is dialled. One that waits for something (`PreparableTrustPolicy`)
    /// is waited for, without blocking the event loop.
    public static func policy(_ policy: any TrustPolicy) -> TrustSource {
        let preparable = policy as? any PreparableTrustPolicy
        return TrustSource(waiting: { _ in preparable?.inNeedOfPreparation }) { trust, time in
            policy.evaluate(trust, at: time)
        }
    }

    /// Asks a manager for the policy of the host that is dialled; its observers learn of every decision.
    ///
    /// A server that is judged once policies were added, replaced or removed is judged by the new ones, also in a
    /// handshake that began before. Connections whose server was judged earlier are the application's to end, see
    /// `TrustManager.changes()`. A policy that waits for something (`PreparableTrustPolicy`) is waited for, without
    /// blocking the event loop.
    /// - Parameters:
    ///   - manager: finds the policy. The time is that of the adapter's clock.
    ///   - unknownHosts: what happens to a host without a policy.
    public static func manager(_ manager: TrustManager, unknownHosts: UnknownHostRule = .reject) -> TrustSource {
        TrustSource(
            waiting: { purpose in
                guard case .server(let host?) = purpose else { return nil }
                return manager.policy(for: host)?.inNeedOfPreparation
            }, { trust, time in manager.evaluate(trust, at: time, unknownHosts: unknownHosts) })
    }

    /// The policy that has to be prepared before it is asked about a peer; nil when it can be asked right away.
    func policyToPrepare(for purpose: ServerTrust.Purpose) -> (any PreparableTrustPolicy)? { waiting(purpose) }

    /// Judges a trust at a time.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision { judge(trust, time) }
}
