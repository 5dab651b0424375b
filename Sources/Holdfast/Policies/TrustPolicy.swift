public import struct Foundation.Date

/// Decides whether a peer is trusted.
///
/// A policy of your own has a ``scope`` and decides in ``evaluate(_:at:)``. The other requirements tell the rest of
/// Holdfast what it has to know about the policy. Each has a safe default for a policy that decides by itself. A policy
/// that passes the decisions of another one on passes every requirement on. `TrustPolicyConformance` of HoldfastTesting
/// checks either kind.
///
/// ```swift
/// /// Trusts devices that were paired, by the keys that the application keeps.
/// struct PairedDevicePolicy: TrustPolicy {
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
/// `evaluate` is pure: it performs no I/O, starts none, and holds no lock while it works. Every requirement may be called
/// from any thread, and Holdfast holds no lock of its own during the call.
public protocol TrustPolicy: Sendable {
    /// What the policy applies to: a ``TrustManager`` finds the policy by it.
    var scope: PolicyScope { get }

    /// What the policy evaluates: what an adapter has to show it, and what TLS may verify beforehand without refusing
    /// what the policy accepts.
    var evidence: PolicyEvidence { get }

    /// A number that changes whenever the policy's decisions may change for another reason than time; 0 for a policy
    /// that does not change.
    ///
    /// An adapter that keeps connections open compares it before it uses one, and evaluates the peer again when it
    /// differs.
    var revision: UInt64 { get }

    /// Whether ``prepare()`` would wait for something now. Cheap, and asked before every handshake: it neither blocks
    /// nor starts anything. By default false.
    var needsPreparation: Bool { get }

    /// Gets what the policy needs for its next decisions, such as the first document of a trust server, and returns at
    /// once when it has that.
    ///
    /// ``evaluate(_:at:)`` never waits: while something is missing, it rejects and says so. A caller that can wait
    /// checks ``needsPreparation``, awaits this call, and then evaluates, even if it threw. The adapters do so.
    ///
    /// It returns within a time limit of the policy's own, and at once when its task is canceled. Concurrent calls
    /// share one wait.
    /// - Throws: why the policy cannot decide yet; it rejects until then.
    func prepare() async throws

    /// Why the policy may not be a member of a ``CompositePolicy`` of this rule; nil when it may.
    ///
    /// Where any member is enough, a member that proves nothing would decide for all the others. By default a policy
    /// may be a member of all-of, and objects to any-of.
    func objection(asMemberOf rule: CompositePolicy.Rule) -> String?

    /// Receives a final decision of this policy and passes it on, for example to a source of pins, which may then look
    /// for newer ones. By default it does nothing.
    ///
    /// Evaluating changes nothing, so whoever hands a decision out calls this: a ``TrustManager``, an adapter after the
    /// handshake has proved the peer's key. Code that calls ``evaluate(_:at:)`` itself calls it, and
    /// ``ServerTrust/tell(_:)``, as well.
    func tell(_ decision: TrustDecision)

    /// Evaluates a trust for a time.
    ///
    /// A trust whose host the policy does not cover is rejected, and so is one without a host unless the policy is for
    /// one exact name; ``PolicyScope/host(of:)`` finds out.
    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision

    /// Decides where a peer presents nothing, as over plain HTTP: a rejection, unless the policy requires nothing.
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

    /// The policy that decides where this is what a manager handed out, so that the observers of that one are not told
    /// of what another manager, or a composite, has it decide.
    package var unwrapped: any TrustPolicy { (self as? ObservedPolicy)?.policy ?? self }

    /// Evaluates a trust and hands the decision out: the policy and the validator are told.
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
    /// Prepares those that wait for something, all at once.
    /// - Returns: why some of them cannot decide yet.
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
