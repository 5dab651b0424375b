/// A policy that may have to wait for something before it can decide, such as the first document of a trust server.
///
/// ``TrustPolicy/evaluate(_:at:)`` never waits: as long as what it needs is not there, it rejects and says so. Whoever
/// can wait before a decision asks ``needsPreparation``, awaits ``prepare()`` and evaluates then, whether `prepare`
/// threw or not: the policy knows what it can decide with what it has, and why it cannot. The adapters do so.
public protocol PreparableTrustPolicy: TrustPolicy {
    /// Whether ``prepare()`` would wait for something now. Cheap, and asked before every handshake: it neither blocks
    /// nor starts anything.
    var needsPreparation: Bool { get }

    /// Gets what the policy needs for its next decisions, and returns at once when it has that.
    ///
    /// It ends by itself within a time of the policy's own, and at once when its task is cancelled. Calls at the same
    /// time share what they wait for.
    /// - Throws: why the policy cannot decide yet; it rejects until then.
    func prepare() async throws
}

/// A policy whose decisions can change although nobody replaced it: its pins come from a store.
package protocol RevisedPolicy: TrustPolicy {
    /// Differs after every change.
    var revision: UInt64 { get }
}

extension TrustPolicy {
    /// Differs after every change of what the policy goes by, apart from time; 0 for one that does not change.
    package var currentRevision: UInt64 { (unobserved as? any RevisedPolicy)?.revision ?? 0 }

    /// The policy, when it waits for something; nil when it can be asked right away.
    package var inNeedOfPreparation: (any PreparableTrustPolicy)? {
        guard let policy = self as? any PreparableTrustPolicy, policy.needsPreparation else { return nil }
        return policy
    }
}
