public import Holdfast

public import struct Foundation.Date

/// Checks that a policy of your own fulfills the requirements of `TrustPolicy`. For tests, in any test framework.
///
/// ```swift
/// try await TrustPolicyConformance.check(policy, accepting: trust, at: time)
/// try await TrustPolicyConformance.check(wrapper: { LoggingPolicy(wrapping: $0) })
/// ```
/// The first call is for a policy that decides by itself, the second for one that forwards the decisions of another. If
/// such a policy leaves out a requirement, it gets the default of a policy that decides by itself, without a message
/// from the compiler: its connections would outlive a changed policy, or a first document would never be waited for.
public enum TrustPolicyConformance {
    /// One requirement that is not fulfilled.
    public struct Violation: Error, Sendable, Hashable, CustomStringConvertible {
        /// The requirement of the protocol, such as `revision`.
        public let requirement: String
        /// The expected and the found behavior.
        public let text: String

        /// `requirement: text`.
        public var description: String { "\(requirement): \(text)" }
    }

    /// All requirements that are not fulfilled.
    public struct Violations: Error, Sendable, Hashable, CustomStringConvertible {
        /// The violations, at least one, in the order of the checks.
        public let violations: [Violation]

        /// One line for each.
        public var description: String { violations.map(\.description).joined(separator: "\n") }
    }

    private struct Findings {
        var violations: [Violation] = []

        mutating func expect(_ isKept: Bool, _ requirement: String, _ text: @autoclosure () -> String) {
            if !isKept { violations.append(Violation(requirement: requirement, text: text())) }
        }

        func report() throws(Violations) {
            if !violations.isEmpty { throw Violations(violations: violations) }
        }
    }

    // MARK: Policies that decide by themselves

    /// Checks a policy that decides by itself.
    /// - Parameters:
    ///   - policy: the policy.
    ///   - trust: a handshake's trust that the policy accepts, with the dialed host.
    ///   - time: a time at which the policy accepts it.
    /// - Throws: ``Violations`` with every unfulfilled requirement, `TestKitError` if a certificate cannot be made.
    public static func check(
        _ policy: any TrustPolicy, accepting trust: ServerTrust, at time: Date
    ) async throws {
        var findings = Findings()
        do {
            try await policy.prepare()
            findings.expect(
                !policy.needsPreparation, "needsPreparation", "it is still true after prepare() has returned")
        } catch {
            findings.expect(
                false, "prepare", "it throws \(error); a policy that waits for nothing returns at once")
        }
        let revision = policy.revision
        let decision = policy.evaluate(trust, at: time)
        check(decision, of: policy, about: trust, at: time, &findings)
        findings.expect(
            policy.evaluate(trust, at: time).verdict == decision.verdict, "evaluate",
            "asked twice, it decides differently; what it decides by may change only with the revision")
        findings.expect(
            policy.revision == revision, "revision", "evaluating changes it, so no connection is ever reused")
        try checkRejections(of: policy, like: trust, at: time, &findings)
        try findings.report()
    }

    private static func check(
        _ decision: TrustDecision, of policy: any TrustPolicy, about trust: ServerTrust, at time: Date,
        _ findings: inout Findings
    ) {
        findings.expect(
            decision.isTrusted, "evaluate",
            "it rejects what it was said to accept: \(decision.failure?.description ?? "")")
        findings.expect(
            decision.policyName == policy.hostName, "evaluate",
            "its decision is by the policy \(decision.policyName), expected \(policy.hostName)")
        findings.expect(
            decision.host == trust.host, "evaluate",
            "its decision is about \(decision.host?.name ?? "no host"), expected the host of the trust")
        findings.expect(
            decision.time >= time, "evaluate", "its decision is for \(decision.time), before the time that was asked")
        findings.expect(
            decision.chain == trust.chain, "evaluate", "its decision is not about the chain that was presented")
        findings.expect(decision.holds(at: time), "evaluate", "its decision ends before the time that was asked")
    }

    /// Checks the trusts that every policy with any requirement must reject.
    private static func checkRejections(
        of policy: any TrustPolicy, like trust: ServerTrust, at time: Date, _ findings: inout Findings
    ) throws {
        func isTrusted(_ chain: PresentedChain, _ purpose: ValidationPurpose) -> Bool {
            let other = ServerTrust(chain: chain, purpose: purpose, validator: trust.validator)
            return policy.evaluate(other, at: time).isTrusted
        }
        if case .hosts(let pattern) = policy.scope {
            let stranger = try DialedHost("stranger.invalid")
            findings.expect(
                pattern.matches(stranger) || !isTrusted(trust.chain, .server(identity: stranger)), "evaluate",
                "it trusts \(stranger.name), which its scope does not cover; ask scope.host(of:) first")
            findings.expect(
                pattern.scope == .exact || policy.evidence == .nothing
                    || !isTrusted(trust.chain, .server(identity: nil)), "evaluate",
                "it trusts without knowing which of its hosts was dialed; ask scope.host(of:) first")
        } else if case .nothing(let name) = policy.scope {
            findings.expect(false, "scope", "\(name) is neither a host nor a pattern, so that no manager finds it")
        }
        let nothing = isTrusted(PresentedChain([]), trust.purpose)
        if policy.evidence == .nothing {
            findings.expect(nothing, "evidence", "it is .nothing, and yet an empty chain is rejected")
            return
        }
        findings.expect(!nothing, "evaluate", "it trusts an empty chain; only with evidence .nothing may it")
        findings.expect(
            !policy.decisionWithoutTrust(at: time).isTrusted, "decisionWithoutTrust",
            "it trusts where nothing was presented; only with evidence .nothing may it")
        guard policy.objection(asMemberOf: .any) == nil else { return }
        let name = trust.host?.name ?? "stranger.invalid"
        let stranger = try TestAuthority.selfSigned(names: [.dns(name)], clock: ManualClock(now: time))
        findings.expect(
            !isTrusted(PresentedChain(stranger.chain), trust.purpose), "objection",
            "it stands in any-of and trusts a stranger's certificate, so it would decide for all others")
    }

    // MARK: Policies that pass on

    /// Checks a policy that forwards the decisions of another one.
    /// - Parameter wrap: puts the policy around the given one.
    /// - Throws: ``Violations`` with every requirement that is not forwarded; errors of `wrap`.
    public static func check(wrapper wrap: (any TrustPolicy) throws -> any TrustPolicy) async throws {
        let probe = ProbePolicy()
        let policy = try wrap(probe)
        var findings = Findings()
        func expect(_ isPassedOn: Bool, _ requirement: String) {
            findings.expect(isPassedOn, requirement, "it is not that of the wrapped policy; pass it on")
        }
        expect(policy.scope == probe.scope, "scope")
        expect(policy.evidence == probe.evidence, "evidence")
        expect(
            CompositePolicy.Rule.allCases.allSatisfy {
                policy.objection(asMemberOf: $0) == probe.objection(asMemberOf: $0)
            }, "objection")
        // Check after a change as well, because a cached answer is not forwarded.
        let isCurrent = (0..<2).map { _ in
            probe.change()
            return (policy.revision == probe.revision, policy.needsPreparation == probe.needsPreparation)
        }
        expect(isCurrent.allSatisfy(\.0), "revision")
        expect(isCurrent.allSatisfy(\.1), "needsPreparation")
        let error = await reason { try await policy.prepare() }
        expect(probe.preparations == 1 && error is ProbePolicy.NotReady, "prepare")
        checkDecisions(of: policy, by: probe, &findings)
        try findings.report()
    }

    private static func reason(_ body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    private static func checkDecisions(
        of policy: any TrustPolicy, by probe: ProbePolicy, _ findings: inout Findings
    ) {
        let time = Date(timeIntervalSince1970: 1_900_000_000)
        let decision = policy.evaluate(probe.trust, at: time)
        findings.expect(
            decision.isTrusted && decision.notices == probe.notices && decision.time == time, "evaluate",
            "its decision is not that of the wrapped policy")
        findings.expect(
            probe.told == 0, "evaluate", "it tells of its decision by itself; whoever hands a decision out does that")
        policy.tell(decision)
        findings.expect(
            probe.told == 1, "tell", "the wrapped policy learns of a decision \(probe.told) times, expected once")
        let withoutTrust = policy.decisionWithoutTrust(at: time)
        findings.expect(
            withoutTrust.isTrusted && withoutTrust.notices == probe.notices, "decisionWithoutTrust",
            "it is not that of the wrapped policy; pass it on")
    }
}
