public import Holdfast

public import struct Foundation.Date

/// Who judges the peers of a connection: asked anew at every handshake, and never earlier, so that what counts is the
/// policy of that moment.
///
/// A value; may be used from any thread.
public struct TrustSource: Sendable {
    private let judge: @Sendable (ServerTrust, Date) -> TrustDecision
    private let observers: @Sendable (TrustDecision) -> Void
    private let waiting: @Sendable (ValidationPurpose) -> (any TrustPolicy)?

    /// Asks a closure, which is called on the connection's event loop: it must neither block nor touch the connection.
    ///
    /// It is called before the handshake has proved the peer's key. Whoever is to hear of a trusted peer waits for the
    /// channel's decision, see `Channel.trustDecision()`.
    public init(_ evaluate: @escaping @Sendable (_ trust: ServerTrust, _ time: Date) -> TrustDecision) {
        self.init(waiting: { _ in nil }, observers: { _ in }, evaluate)
    }

    /// - Parameters:
    ///   - waiting: the policy that is to be prepared before it is asked; nil when none has to be.
    ///   - observers: learn of the decision, which judging tells nobody.
    private init(
        waiting: @escaping @Sendable (ValidationPurpose) -> (any TrustPolicy)?,
        observers: @escaping @Sendable (TrustDecision) -> Void,
        _ evaluate: @escaping @Sendable (_ trust: ServerTrust, _ time: Date) -> TrustDecision
    ) {
        self.waiting = waiting
        self.observers = observers
        judge = evaluate
    }

    /// Asks the policy that there is at the moment.
    static func current(_ policy: @escaping @Sendable () -> any TrustPolicy) -> TrustSource {
        TrustSource(
            waiting: { _ in policy().inNeedOfPreparation }, observers: { policy().tell($0) },
            { trust, time in policy().unwrapped.evaluate(trust, at: time) })
    }

    /// Asks one policy; it must cover the host that is dialled. One that waits for something
    /// (`TrustPolicy.needsPreparation`) is waited for, without blocking the event loop.
    public static func policy(_ policy: any TrustPolicy) -> TrustSource {
        current { policy }
    }

    /// Asks a manager for the policy of the host that is dialled; its observers learn of every decision.
    ///
    /// A server that is judged once policies were added, replaced or removed is judged by the new ones, also in a
    /// handshake that began before. Connections whose server was judged earlier are the application's to end, see
    /// `TrustManager.changes()`. A policy that waits for something (`TrustPolicy.needsPreparation`) is waited
    /// for, without blocking the event loop.
    /// - Parameter manager: finds the policy, and says what happens to a host without one. The time is that of the adapter's clock.
    public static func manager(_ manager: TrustManager) -> TrustSource {
        TrustSource(
            waiting: { purpose in
                guard case .server(let host?) = purpose else { return nil }
                return manager.policy(for: host)?.inNeedOfPreparation
            }, observers: { manager.tell($0) },
            { trust, time in manager.judgment(of: trust, at: time) })
    }

    /// The policy that has to be prepared before it is asked about a peer; nil when it can be asked right away.
    func policyToPrepare(for purpose: ValidationPurpose) -> (any TrustPolicy)? { waiting(purpose) }

    /// Judges a trust at a time; a manager's observers learn of the decision at once.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        let decision = judge(trust, time)
        tell(decision)
        return decision
    }

    /// Judges a trust and tells nobody.
    func judgment(of trust: ServerTrust, at time: Date) -> TrustDecision { judge(trust, time) }

    /// Tells a manager's observers of a judgment.
    func tell(_ decision: TrustDecision) { observers(decision) }
}
