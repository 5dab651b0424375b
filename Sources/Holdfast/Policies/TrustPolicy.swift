public import struct Foundation.Date

/// Decides whether a peer is trusted.
///
/// Your own policy has a ``scope`` and decides in ``evaluate(_:at:)``. The other requirements describe the policy to
/// the rest of Holdfast. Each has a safe default for a policy that decides by itself. A policy that forwards the
/// decisions of another one forwards every requirement. `TrustPolicyConformance` of HoldfastTesting checks both kinds.
///
/// In an app whose declarations are isolated to the main actor by default (Xcode 26), a type of yours that conforms
/// must be `nonisolated`; in other code the word changes nothing.
///
/// ```swift
/// /// Trusts devices that were paired, by the keys that the application keeps.
/// nonisolated struct PairedDevicePolicy: TrustPolicy {
///     let scope = PolicyScope(hostName: "**.devices.example")
///     let devices: PairedDevices
///
///     // The leaf's key is all that counts, and the handshake proves it.
///     var evidence: PolicyEvidence { .leaf }
///     // Connections are judged again after a device was removed.
///     var revision: UInt64 { devices.revision }
///     // Every decision is proved by a key, so the policy may stand beside others of which any is enough.
///     func objection(asMemberOf rule: CompositePolicy.Rule) -> String? { nil }
///
///     func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
///         func decision(_ verdict: TrustDecision.Verdict) -> TrustDecision {
///             TrustDecision(verdict, policyName: hostName, host: trust.host, time: time, chain: trust.chain)
///         }
///         do throws(TrustFailure) {
///             let host = try scope.host(of: trust)
///             guard let host, let leaf = trust.chain.leaf, devices.isPaired(host, leaf) else {
///                 throw TrustFailure(.pinMismatch, expected: "the key of a paired device", found: "another")
///             }
///             return decision(.trusted)
///         } catch {
///             return decision(.rejected(error))
///         }
///     }
/// }
/// ```
/// `evaluate` is pure: it performs no I/O, starts none, and holds no lock while it works. Every requirement may be
/// called from any thread, and Holdfast holds none of its locks during the call.
public protocol TrustPolicy: Sendable {
    /// The hosts or clients that the policy applies to; a ``TrustManager`` finds the policy by it.
    var scope: PolicyScope { get }

    /// The evidence that the policy evaluates. It determines what an adapter must give to the policy, and what TLS may
    /// verify beforehand without rejecting a peer that the policy accepts.
    var evidence: PolicyEvidence { get }

    /// A number that changes whenever the policy's decisions may change for a reason other than time; 0 for a policy
    /// that does not change.
    ///
    /// An adapter that keeps connections open compares this number before it uses a connection, and evaluates the peer
    /// again if it differs.
    var revision: UInt64 { get }

    /// Whether ``prepare()`` would wait for something now. It is read before every handshake, so it must be cheap: it
    /// neither blocks nor starts anything. By default false.
    var needsPreparation: Bool { get }

    /// Gets the data that the policy needs for its next decisions, such as the first document of a trust server, and
    /// returns at once if the policy already has it.
    ///
    /// ``evaluate(_:at:)`` never waits: while something is missing, it rejects and states what is missing. A caller
    /// that can wait checks ``needsPreparation``, awaits this call, and then evaluates, even if it threw. The adapters
    /// do so.
    ///
    /// It returns within a time limit that the policy sets, and at once if its task is canceled. Concurrent calls share
    /// one wait.
    /// - Throws: why the policy cannot decide yet; it rejects until then.
    func prepare() async throws

    /// The reason why the policy may not be a member of a ``CompositePolicy`` with this rule; nil if it may.
    ///
    /// If any one member is enough, a member that proves nothing would decide for all the others. By default a policy
    /// may be a member of all-of, but not of any-of.
    func objection(asMemberOf rule: CompositePolicy.Rule) -> String?

    /// Receives a final decision of this policy and passes it on, for example to a source of pins, which may then look
    /// for newer ones. By default it does nothing.
    ///
    /// Evaluating changes nothing, so the code that returns a decision to its user calls this: a ``TrustManager`` does,
    /// and so does an adapter after the handshake has proved the peer's key. If you call ``evaluate(_:at:)`` yourself,
    /// call this and ``ServerTrust/tell(_:)`` as well.
    func tell(_ decision: TrustDecision)

    /// Evaluates a trust for a time.
    ///
    /// Reject a trust whose host the policy does not cover, and one without a host unless the policy is for one exact
    /// name; ``PolicyScope/host(of:)`` checks both.
    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision

    /// Decides about a peer that presents nothing, as over plain HTTP: a rejection, unless the policy requires nothing.
    func decisionWithoutTrust(at time: Date) -> TrustDecision
}

extension TrustPolicy {
    /// The name of the scope, for decisions, logs and lookups: a host or pattern in canonical form (A-labels, lower
    /// case), any other name as given.
    public var hostName: String { scope.name }

    /// ``PolicyEvidence/chain``: the policy gets everything that the peer presents, and nothing is assumed.
    public var evidence: PolicyEvidence { .chain }

    /// 0: the policy does not change.
    public var revision: UInt64 { 0 }

    /// False: the policy waits for nothing.
    public var needsPreparation: Bool { false }

    /// Returns at once.
    public func prepare() async throws {}

    /// Allowed in all-of, not in any-of.
    public func objection(asMemberOf rule: CompositePolicy.Rule) -> String? {
        rule == .all ? nil : "a policy that does not say that it validates by itself"
    }

    /// Ignores the decision.
    public func tell(_ decision: TrustDecision) {}

    /// Rejects with `noTrust`.
    public func decisionWithoutTrust(at time: Date) -> TrustDecision {
        TrustDecision(
            .rejected(TrustFailure(.noTrust, expected: "the server's trust", found: "none")),
            policyName: hostName, host: nil, time: time, chain: nil)
    }

    /// The policy itself, if this is the wrapper that a manager returned. The manager's observers are then not notified
    /// of decisions that the policy makes for another manager or a composite.
    package var unwrapped: any TrustPolicy { (self as? ObservedPolicy)?.policy ?? self }

    /// Evaluates a trust, and notifies the policy and the validator of the decision.
    package func decision(about trust: ServerTrust, at time: Date) -> TrustDecision {
        let decision = evaluate(trust, at: time)
        tell(decision)
        trust.tell(decision)
        return decision
    }

    /// The policy if it needs preparation; nil if it can evaluate right away.
    package var inNeedOfPreparation: (any TrustPolicy)? { needsPreparation ? self : nil }
}

extension [any TrustPolicy] {
    /// Prepares the policies that wait for something, all at the same time.
    /// - Returns: the reasons of those that cannot decide yet.
    package func prepare() async -> [any Error] {
        await withTaskGroup(of: (any Error)?.self) { group in
            for policy in compactMap(\.inNeedOfPreparation) {
                group.addTask {
                    do {
                        try await policy.prepare()
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
        }
    }
}
