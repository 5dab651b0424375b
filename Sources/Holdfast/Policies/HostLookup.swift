package import struct Foundation.Date

/// The policy of a ``TrustManager`` for one host at one moment.
///
/// An adapter looks up a host once. From the lookup it learns what it needs beforehand (whether a policy exists,
/// whether the policy must be prepared, which evidence it evaluates), and then it evaluates with the lookup. After the
/// decision it checks once whether the manager has changed.
package struct HostLookup: Sendable {
    /// Differs after every change of the deciding policy, and of the data with which the policy decides.
    package struct Version: Hashable, Sendable {
        /// nil if there is no policy.
        fileprivate let registration: UInt64?
        fileprivate let revision: UInt64
        fileprivate let unknownHosts: UnknownHostRule?
    }

    private let manager: TrustManager
    /// The host that was looked up.
    package let host: DialedHost
    private let registered: ObservedPolicy?
    /// The rule for a host without a policy.
    package let unknownHosts: UnknownHostRule
    /// The state of the manager's policies from which this was read; see ``TrustManager/generation``.
    package let generation: UInt64
    /// The conditions under which a decision that begins now is made.
    package let version: Version

    init(
        _ host: DialedHost, in manager: TrustManager, policy: ObservedPolicy?, unknownHosts: UnknownHostRule,
        generation: UInt64
    ) {
        self.manager = manager
        self.host = host
        registered = policy
        self.unknownHosts = unknownHosts
        self.generation = generation
        version = Version(
            registration: policy?.registration, revision: policy?.revision ?? 0,
            unknownHosts: policy == nil ? unknownHosts : nil)
    }

    /// The policy that decides for the host; nil for an unknown one.
    package var policy: (any TrustPolicy)? { registered }

    /// Whether the host is refused because it has no policy, whatever it presents.
    package var isRefused: Bool { registered == nil && unknownHosts == .reject }

    /// Prepares the policy, if it needs that. If preparation fails, the decision states it.
    package func prepare() async { try? await registered?.inNeedOfPreparation?.prepare() }

    /// Evaluates what this host presented without notifying observers; see ``TrustManager/tell(_:)``.
    ///
    /// If the host's policy was replaced in the meantime, its successor decides.
    package func judgment(of trust: ServerTrust, at time: Date) -> TrustDecision {
        versionedJudgment(of: trust, at: time).decision
    }

    /// The same, with the conditions under which the decision was made.
    package func versionedJudgment(
        of trust: ServerTrust, at time: Date
    ) -> (decision: TrustDecision, version: Version) {
        // Preparing the policy may have taken a long time.
        var lookup = manager.generation == generation ? self : manager.lookUp(host)
        for _ in 0..<Self.mostRounds {
            let decision = lookup.decision(about: trust, at: time)
            if manager.generation == lookup.generation { return (decision, lookup.version) }
            let current = manager.lookUp(host)
            if current.decides(like: lookup) { return (decision, lookup.version) }
            // Each further round means that this host's policy was changed in the meantime.
            lookup = current
        }
        let decision = DecisionDraft(host.name, trust, time).rejected(
            TrustFailure(
                .invalidConfiguration, expected: "a policy that stays while it decides",
                found: "\(Self.mostRounds) policies replaced meanwhile",
                remedy: "Do not replace a host's policy from within it, nor without a pause."))
        return (decision, lookup.version)
    }

    /// The limit stops a policy that replaces itself whenever it is evaluated.
    private static let mostRounds = 64

    private func decision(about trust: ServerTrust, at time: Date) -> TrustDecision {
        switch (registered, unknownHosts) {
        case (let policy?, _):
            var decision = policy.policy.evaluate(trust, at: time)
            decision.registration = policy.registration
            return decision
        case (nil, .standardValidation):
            return StandardPolicy(host: HostPattern(host)).evaluate(trust, at: time)
        case (nil, .reject):
            return DecisionDraft(host.name, trust, time).rejected(
                TrustFailure(.noPolicyForHost, expected: "a policy for \(host.name)", found: "none"))
        }
    }

    /// Whether both have the same policy, or the same rule if neither has a policy.
    private func decides(like other: HostLookup) -> Bool {
        registered?.registration == other.registered?.registration
            && (registered != nil || unknownHosts == other.unknownHosts)
    }
}
