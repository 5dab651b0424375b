public import struct Foundation.Date

/// Combines several policies for one host: all of them must trust, or any of them.
///
/// ```swift
/// let policy = try CompositePolicy(host: host, anyOf: [pinnedToNewKey, pinnedToOldAuthority])
/// ```
/// Each member decides by its own host or pattern: a member that does not cover the dialed host rejects. Any-of accepts
/// only members that prove something by themselves: a member that is disabled, queries the application or only reports
/// would decide for all the others. Your own policies allow it with ``TrustPolicy/objection(asMemberOf:)``. A trust
/// without a host is rejected, since the members may be for different hosts.
public struct CompositePolicy: TrustPolicy {
    /// How many members must trust.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        /// Every member; the first rejection is the decision.
        case all
        /// One member; the first that trusts decides.
        case any
    }

    /// The hosts that the policy applies to.
    public let scope: PolicyScope
    /// How many members must trust.
    package let rule: Rule
    /// The members, in the order in which they are evaluated.
    package let members: [any TrustPolicy]

    /// Makes a policy that trusts if every member does.
    /// - Parameters:
    ///   - host: the host, or the pattern of hosts, that it applies to.
    ///   - members: at least one.
    /// - Throws: ``PolicyConfigurationError`` if there are no members, and if a member's own configuration is wrong.
    public init(host: HostPattern, allOf members: [any TrustPolicy]) throws(PolicyConfigurationError) {
        try self.init(host, .all, members)
    }

    /// Makes a policy that trusts if some member does.
    /// - Parameters:
    ///   - host: the host, or the pattern of hosts, that it applies to.
    ///   - members: at least one, and none with an objection (``TrustPolicy/objection(asMemberOf:)``).
    /// - Throws: ``PolicyConfigurationError`` if there are no members, if one may not be a member, and if a member's
    ///   own configuration is wrong.
    public init(host: HostPattern, anyOf members: [any TrustPolicy]) throws(PolicyConfigurationError) {
        try self.init(host, .any, members)
    }

    private init(_ host: HostPattern, _ rule: Rule, _ members: [any TrustPolicy]) throws(PolicyConfigurationError) {
        scope = .hosts(host)
        self.rule = rule
        self.members = members.map(\.unwrapped)
        guard !members.isEmpty else {
            throw PolicyConfigurationError(
                .noMembers, hostName: host.description, expected: "at least one member", found: "none",
                remedy: "Give the policies to combine.")
        }
        for member in self.members {
            guard let objection = member.objection(asMemberOf: rule) else { continue }
            throw PolicyConfigurationError(
                .unacceptableMember, hostName: host.description,
                expected: rule == .any
                    ? "members that validate, each by itself" : "members whose configuration is sound",
                found: "\(objection) for \(member.hostName.quoted)", remedy: "Leave the member out, or mend it.")
        }
    }

    /// The evidence that the members need: the most demanding one's, or with any-of the least demanding one's.
    public var evidence: PolicyEvidence {
        let judged = members.map(\.evidence)
        // With all-of, one rejection rejects; with any-of, one acceptance accepts.
        guard rule == .any else { return judged.max() ?? .chain }
        // A member with its own rules must see the whole chain at once.
        return judged.contains(.chain) ? .chain : judged.min() ?? .chain
    }

    /// The objection of a member, at any depth.
    public func objection(asMemberOf rule: Rule) -> String? {
        members.lazy.compactMap { $0.objection(asMemberOf: rule) }.first
    }

    /// A number that changes with the revision of each member.
    public var revision: UInt64 { members.reduce(0) { $0 &+ $1.revision } }

    /// Whether a member waits for something.
    public var needsPreparation: Bool { members.contains(where: \.needsPreparation) }

    /// Prepares the members that need it, all at the same time.
    /// - Throws: the reason of a member that cannot decide; with any-of, only if no member can.
    public func prepare() async throws {
        let reasons = await members.prepare()
        guard let reason = reasons.first, rule == .all || reasons.count == members.count else { return }
        throw reason
    }

    /// Passes each member that was evaluated its own decision.
    public func tell(_ decision: TrustDecision) {
        for (member, own) in zip(members, decision.members) { member.tell(own) }
    }

    /// Evaluates the members; see ``TrustPolicy/evaluate(_:at:)``.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        let draft = DecisionDraft(hostName, trust, time)
        do throws(TrustFailure) {
            if trust.purpose == .server(identity: nil) {
                throw .hostUnknown(expected: "the host that was dialed, for each member of the composite")
            }
            _ = try scope.purpose(of: trust)
        } catch {
            return draft.rejected(error)
        }
        // All members share one budget: however many there are, a hostile chain costs no more than under one policy.
        let trust = trust.sharingBudget()
        var decisions: [TrustDecision] = []
        for member in members {
            let decision = member.evaluate(trust, at: time)
            decisions.append(decision)
            if decision.isTrusted == (rule == .any) { break }
        }
        return combined(decisions, trust, time)
    }

    private func combined(_ decisions: [TrustDecision], _ trust: ServerTrust, _ time: Date) -> TrustDecision {
        let failures = decisions.compactMap(\.failure)
        let accepting = decisions.filter(\.isTrusted)
        var draft = DecisionDraft(hostName, trust, time)
        draft.pins = decisions.flatMap(\.configuredPins).distinct
        for decision in decisions { draft.effort += decision.effort }
        draft.members = decisions
        draft.entry = decisions.lazy.compactMap(\.entry).first
        draft.pathsToFollow = decisions.flatMap(\.pathsToFollow)
        // Notices of members that rejected are dropped.
        draft.notices = accepting.flatMap(\.notices)
        for decision in accepting { draft.restsOnWhat(endsAt: decision.holdsUntil) }
        switch rule {
        case .all:
            if let failure = failures.first { return draft.rejected(failure) }
        case .any:
            if accepting.isEmpty { return draft.rejected(Self.none(of: decisions)) }
        }
        guard let first = accepting.first else { return draft.rejected(DecisionDraft.unexplained) }
        return draft.trusted(
            path: accepting.lazy.compactMap(\.path).first ?? first.path,
            matching: accepting.flatMap(\.matchedPins).distinct)
    }

    /// The failure if no member trusts: the reason of the first member, with the text of each.
    private static func none(of decisions: [TrustDecision]) -> TrustFailure {
        let failures = decisions.compactMap { decision in decision.failure.map { (decision.policyName, $0) } }
        let reasons = failures.enumerated().map { position, one in
            "(\(position + 1)) \(one.0): \(one.1.code.rawValue), expected \(one.1.expected), found \(one.1.found)"
        }
        guard let first = failures.first?.1 else { return DecisionDraft.unexplained }
        var failure = TrustFailure(
            first.code, expected: "one member of \(decisions.count) to trust", found: reasons.joined(separator: "; "),
            remedy: first.remedy, certificate: first.certificate)
        failure.paths = failures.flatMap(\.1.paths).distinct
        failure.timestamps = first.timestamps
        failure.unusable = first.unusable
        return failure
    }
}
