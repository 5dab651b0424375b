import Foundation
import Holdfast
import HoldfastTesting
import Testing

/// Passes on to another policy whatever its conformances below say.
private protocol Passing: TrustPolicy {
    var base: any TrustPolicy { get }
}

private protocol PassesScope: Passing {}
extension PassesScope {
    var scope: PolicyScope { base.scope }
}

private protocol PassesEvidence: Passing {}
extension PassesEvidence {
    var evidence: PolicyEvidence { base.evidence }
}

private protocol PassesRevision: Passing {}
extension PassesRevision {
    var revision: UInt64 { base.revision }
}

private protocol PassesNeedsPreparation: Passing {}
extension PassesNeedsPreparation {
    var needsPreparation: Bool { base.needsPreparation }
}

private protocol PassesPrepare: Passing {}
extension PassesPrepare {
    func prepare() async throws { try await base.prepare() }
}

private protocol PassesObjection: Passing {}
extension PassesObjection {
    func objection(asMemberOf rule: CompositePolicy.Rule) -> String? { base.objection(asMemberOf: rule) }
}

private protocol PassesTell: Passing {}
extension PassesTell {
    func tell(_ decision: TrustDecision) { base.tell(decision) }
}

private protocol PassesEvaluate: Passing {}
extension PassesEvaluate {
    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision { base.evaluate(trust, at: time) }
}

private protocol PassesWithoutTrust: Passing {}
extension PassesWithoutTrust {
    func decisionWithoutTrust(at time: Date) -> TrustDecision { base.decisionWithoutTrust(at: time) }
}

private typealias PassesQuestions = PassesScope & PassesEvidence & PassesObjection
private typealias PassesReadiness = PassesRevision & PassesNeedsPreparation & PassesPrepare
private typealias PassesDecisions = PassesTell & PassesEvaluate & PassesWithoutTrust

/// A wrapper that forgets one requirement, named as the protocol names it.
enum Forgetful: String, CaseIterable, Sendable {
    case scope, evidence, objection, revision, needsPreparation, prepare, tell, evaluate, decisionWithoutTrust

    func wrap(_ base: any TrustPolicy) -> any TrustPolicy {
        switch self {
        case .scope: Scope(base: base)
        case .evidence: Evidence(base: base)
        case .objection: Objection(base: base)
        case .revision: Revision(base: base)
        case .needsPreparation: NeedsPreparation(base: base)
        case .prepare: Prepare(base: base)
        case .tell: Tell(base: base)
        case .evaluate: Evaluate(base: base)
        case .decisionWithoutTrust: WithoutTrust(base: base)
        }
    }

    // The compiler asks for these two, so that they can only be answered otherwise.
    private struct Scope: PassesEvidence, PassesObjection, PassesReadiness, PassesDecisions {
        let base: any TrustPolicy
        let scope = PolicyScope(hostName: "wrapper.example")
    }
    private struct Evaluate: PassesQuestions, PassesReadiness, PassesTell, PassesWithoutTrust {
        let base: any TrustPolicy
        func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
            TrustDecision(.trusted, policyName: hostName, host: trust.host, time: time, chain: trust.chain)
        }
    }
    private struct Evidence: PassesScope, PassesObjection, PassesReadiness, PassesDecisions {
        let base: any TrustPolicy
    }
    private struct Objection: PassesScope, PassesEvidence, PassesReadiness, PassesDecisions {
        let base: any TrustPolicy
    }
    private struct Revision: PassesQuestions, PassesNeedsPreparation, PassesPrepare, PassesDecisions {
        let base: any TrustPolicy
    }
    private struct NeedsPreparation: PassesQuestions, PassesRevision, PassesPrepare, PassesDecisions {
        let base: any TrustPolicy
    }
    private struct Prepare: PassesQuestions, PassesRevision, PassesNeedsPreparation, PassesDecisions {
        let base: any TrustPolicy
    }
    private struct Tell: PassesQuestions, PassesReadiness, PassesEvaluate, PassesWithoutTrust {
        let base: any TrustPolicy
    }
    private struct WithoutTrust: PassesQuestions, PassesReadiness, PassesTell, PassesEvaluate {
        let base: any TrustPolicy
    }
}

private struct Complete: PassesQuestions, PassesReadiness, PassesDecisions {
    let base: any TrustPolicy
}

@Suite("The conformance suite of policies", .timeLimit(.minutes(15)))
struct TrustPolicyConformanceTests {
    private let pki: PolicyFixture

    init() throws { pki = try PolicyFixture() }

    /// The requirements of which the suite finds something.
    private func violated(_ body: () async throws -> Void) async throws -> [String] {
        do {
            try await body()
            return []
        } catch let error as TrustPolicyConformance.Violations {
            return error.violations.map(\.requirement)
        }
    }

    @Test("Holdfast's own policies keep every promise")
    func own() async throws {
        let host = try HostPattern("**.example.com")
        let key = try pki.keyPin(pki.leaf)
        let policies: [any TrustPolicy] = [
            StandardPolicy(host: host), DisabledPolicy(host: host, log: RecordingLog().policyLog),
            CustomPolicy(host: host) { $0?.chain.leaf != nil },
            try pki.pinned([key], host: "**.example.com"), try pki.pinned([key], pinOnly: true),
            try CompositePolicy(host: host, allOf: [StandardPolicy(host: host)]),
            try CompositePolicy(host: host, anyOf: [try pki.pinned([key])]),
        ]
        for policy in policies {
            try await TrustPolicyConformance.check(policy, accepting: try pki.trust(), at: pki.now)
        }
    }

    @Test("A policy that trusts whatever it is shown is found out")
    func credulous() async throws {
        struct Credulous: TrustPolicy {
            let scope = PolicyScope(hostName: "**.example.com")
            func objection(asMemberOf rule: CompositePolicy.Rule) -> String? { nil }
            func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
                TrustDecision(.trusted, policyName: hostName, host: trust.host, time: time, chain: trust.chain)
            }
        }
        let found = try await violated {
            try await TrustPolicyConformance.check(Credulous(), accepting: pki.trust(), at: pki.now)
        }
        #expect(found == ["evaluate", "evaluate", "evaluate", "objection"])
    }

    @Test("A policy that changes with each call, never gets ready and cannot be found is found out")
    func restless() async throws {
        final class Restless: TrustPolicy {
            private let count = ManualClock(now: .distantPast)
            let scope = PolicyScope(hostName: "no host")
            let needsPreparation = true
            var revision: UInt64 { UInt64(count.now.timeIntervalSince(.distantPast)) }
            func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
                count.advance(by: .seconds(1))
                let failure = TrustFailure(.noUsablePins, expected: "pins", found: "none")
                return TrustDecision(
                    revision % 2 == 1 ? .trusted : .rejected(failure), policyName: "another", host: nil,
                    time: time - 1, chain: nil, holdsUntil: time)
            }
        }
        let found = try await violated {
            try await TrustPolicyConformance.check(Restless(), accepting: pki.trust(), at: pki.now)
        }
        #expect(Set(found) == ["needsPreparation", "evaluate", "revision", "scope"] && found.count >= 9)
    }

    @Test("A policy that says it needs less than it does is found out")
    func demanding() async throws {
        struct Demanding: TrustPolicy {
            let base: any TrustPolicy
            var evidence: PolicyEvidence { .nothing }
            var scope: PolicyScope { base.scope }
            func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision { base.evaluate(trust, at: time) }
        }
        let base = StandardPolicy(host: try HostPattern(PolicyFixture.host))
        let found = try await violated {
            try await TrustPolicyConformance.check(Demanding(base: base), accepting: pki.trust(), at: pki.now)
        }
        #expect(found == ["evidence"])
    }

    @Test("A wrapper that passes everything on keeps every promise")
    func complete() async throws {
        try await TrustPolicyConformance.check(wrapper: { Complete(base: $0) })
    }

    @Test("So does what a manager puts around its policies")
    func managed() async throws {
        try await TrustPolicyConformance.check(wrapper: { policy in
            try #require(TrustManager(policies: [policy]).policy(for: policy.hostName))
        })
    }

    @Test("A wrapper that forgets one requirement is found out, by its name", arguments: Forgetful.allCases)
    func forgetful(_ forgotten: Forgetful) async throws {
        let found = try await violated { try await TrustPolicyConformance.check(wrapper: forgotten.wrap) }
        #expect(found == [forgotten.rawValue])
    }

    @Test("Every requirement of the protocol is forgotten once")
    func everyRequirement() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let source = try String(
            contentsOf: root.appending(path: "Sources/Holdfast/Policies/TrustPolicy.swift"), encoding: .utf8)
        let body = try #require(
            source.components(separatedBy: "public protocol TrustPolicy").last?.components(separatedBy: "\n}").first)
        let requirements = body.matches(of: /\n    (?:var|func) (\w+)/).map { String($0.1) }
        #expect(requirements.sorted() == Forgetful.allCases.map(\.rawValue).sorted())
    }

    @Test("A wrapper that tells of decisions by itself is found out")
    func talkative() async throws {
        struct Talkative: PassesQuestions, PassesReadiness, PassesTell, PassesWithoutTrust {
            let base: any TrustPolicy
            func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
                let decision = base.evaluate(trust, at: time)
                base.tell(decision)
                return decision
            }
        }
        let found = try await violated { try await TrustPolicyConformance.check(wrapper: { Talkative(base: $0) }) }
        #expect(found == ["evaluate", "tell"])
    }
}
