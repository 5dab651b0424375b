package import Holdfast

/// Changes a manager's policies and records which of them are gone. With this, a test can check that every decision
/// comes from exactly one policy, and not from one that was gone when the decision was requested.
package final class PolicyLedger: Sendable {
    private struct State {
        /// Whether a policy trusts the server, by the pin that marks the policy.
        var isLenient: [Pin: Bool] = [:]
        var gone: Set<Pin> = []
        var decisions = 0
    }

    private let leafPin: Pin
    private let state = Lock(State())

    package init(leafPin: Pin) { self.leafPin = leafPin }

    /// The marks of the policies whose removal or replacement has returned.
    package var gone: Set<Pin> { state.withLock { $0.gone } }

    /// The number of checked decisions.
    package var decisions: Int { state.withLock { $0.decisions } }

    /// Steps that add a policy that trusts, make it stricter, replace all policies, and remove one. Each step takes
    /// effect when it returns.
    package func steps(of manager: TrustManager, host: String) throws -> [() -> Void] {
        let lenient = try policy(for: host, isLenient: true)
        let strict = try policy(for: host, isLenient: false)
        let again = try policy(for: host, isLenient: true)
        return [
            { manager.add(policy: lenient.policy) },
            {
                manager.add(policy: strict.policy)
                self.retire(lenient.mark)
            },
            {
                manager.policies = [host: again.policy]
                self.retire(strict.mark)
            },
            {
                manager.removePolicy(name: host)
                self.retire(again.mark)
            },
        ]
    }

    /// The objection to a decision that was requested when these policies were gone; nil if it is correct.
    package func objection(to decision: TrustDecision, afterwardsTo gone: Set<Pin>) -> String? {
        state.withLock { $0.decisions += 1 }
        let marks = decision.configuredPins.filter { $0 != leafPin }
        if marks.isEmpty {
            return decision.failure?.code == .noPolicyForHost ? nil : "a decision of no policy: \(decision)"
        }
        guard marks.count == 1, let mark = marks.first, let isLenient = state.withLock({ $0.isLenient[mark] }) else {
            return "a decision of \(marks.count) policies"
        }
        if gone.contains(mark) { return "a decision of a policy that was gone" }
        let pinsAreItsOwn = decision.configuredPins.contains(leafPin) == isLenient
        let matches = decision.matchedPins == (isLenient ? [leafPin] : [])
        let verdictIsItsOwn = isLenient ? decision.isTrusted : decision.failure?.code == .pinMismatch
        return pinsAreItsOwn && matches && verdictIsItsOwn ? nil : "a decision that mixes policies: \(decision)"
    }

    private func retire(_ mark: Pin) { state.withLock { _ = $0.gone.insert(mark) } }

    private func policy(for host: String, isLenient: Bool) throws -> (policy: any TrustPolicy, mark: Pin) {
        let mark = state.withLock { state in
            let mark = Pin.certificate(Array("policy \(state.isLenient.count)".utf8))
            state.isLenient[mark] = isLenient
            return mark
        }
        let pins = try PinSet(pins: isLenient ? [leafPin, mark] : [mark])
        return (try PinnedPolicy(host: HostPattern(host), pins: pins), mark)
    }
}
