import Holdfast

import struct Foundation.Date

/// Answers every requirement of a policy differently from its default implementation, and counts the calls.
final class ProbePolicy: TrustPolicy {
    /// The error of the probe's preparation.
    struct NotReady: Error {}

    private struct State {
        var revision: UInt64 = 41
        var needsPreparation = false
        var preparations = 0
        var told = 0
    }

    private let state = Lock(State())

    let scope = PolicyScope(hostName: "**.probe.example")
    let evidence = PolicyEvidence.leaf
    let notices = [TrustFailure(.validationDisabled, expected: "the decision of the probe", found: "this one")]
    let trust = ServerTrust(
        chain: PresentedChain([[0]]), purpose: .server(identity: try? DialedHost("www.probe.example")),
        validator: PathValidator(anchors: TrustAnchors([])))

    var revision: UInt64 { state.withLock { $0.revision } }
    var needsPreparation: Bool { state.withLock { $0.needsPreparation } }
    /// The number of preparations.
    var preparations: Int { state.withLock { $0.preparations } }
    /// The number of notifications of decisions.
    var told: Int { state.withLock { $0.told } }

    /// Changes the revision and the need for preparation.
    func change() {
        state.withLock { state in
            state.revision += 1
            state.needsPreparation.toggle()
        }
    }

    func prepare() async throws {
        state.withLock { $0.preparations += 1 }
        throw NotReady()
    }

    func objection(asMemberOf rule: CompositePolicy.Rule) -> String? { rule == .any ? nil : "a probe" }

    func tell(_ decision: TrustDecision) { state.withLock { $0.told += 1 } }

    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        TrustDecision(
            .trusted, policyName: hostName, host: trust.host, time: time, chain: trust.chain, notices: notices)
    }

    func decisionWithoutTrust(at time: Date) -> TrustDecision {
        TrustDecision(.trusted, policyName: hostName, host: nil, time: time, chain: nil, notices: notices)
    }
}
