package import ServerApprovals
package import ServerFoundation
import ServerModel

/// The results of the gates for a change, in their order.
package struct GateReport: Sendable, Hashable {
    /// The result of one gate.
    package struct Result: Sendable, Hashable {
        /// The gate.
        package let gate: Gate
        /// The reasons why it refuses, a sentence each; empty if the change passes.
        package let refusals: [String]
        /// Whether the change passes anyway, because its approvers were asked to force the gate.
        package let isForced: Bool

        /// Whether the change continues to the next gate.
        package var isPassed: Bool { refusals.isEmpty || isForced }
    }

    /// The results so far: gates after a refusal do not run.
    package let results: [Result]

    /// Whether the change passes all gates that ran.
    package var isPassed: Bool { results.allSatisfy(\.isPassed) }

    /// The gate that stops the change; nil if none does.
    package var refusal: Result? { results.first { !$0.isPassed } }

    /// Throws the refusal of the first gate that stops the change.
    package func requirePassed(_ change: Change) throws(ServerError) {
        guard let refusal else { return }
        throw ServerError(
            .gate, of: "change \(change.id)", expected: "a change that passes the gate \(refusal.gate.rawValue)",
            found: refusal.refusals.joined(separator: "; "), remedy: refusal.gate.remedy(for: change))
    }
}

extension Gate {
    /// The remedy for a change that the gate refuses.
    fileprivate func remedy(for change: Change) -> String {
        let app = change.content.app
        return switch self {
        case .signatures:
            "Have the holders of the repository's keys sign what was approved (app repository export and import), and "
                + "publish again; no change can skip this gate."
        case .base:
            "Propose it again on what is published: `holdfast-server change propose \(app) --again \(change.id) "
                + "--reason WHY --no-proposer --data DIR`; no change can skip this gate."
        case .validation:
            "Correct what the gate names, and propose the change again; no change can skip this gate."
        case .canary:
            "Wait until the canary's time is over, and publish again. A person must decide whether it is an emergency, "
                + "which skips the canary: `holdfast-server change propose \(app) --again \(change.id) --emergency WHY "
                + "--no-proposer --data DIR`."
        case .outlook:
            "Have the server look at the hosts again: `holdfast-server host see \(app) --data DIR`; then publish. If "
                + "clients are locked out all the same, correct what the gate names. \(Self.force(self, change))"
        case .lint, .replay, .readback:
            "Correct what the gate names, and propose the change again. \(Self.force(self, change))"
        }
    }

    private static func force(_ gate: Gate, _ change: Change) -> String {
        "A person must decide whether to force it, which every approver sees: `holdfast-server change propose "
            + "\(change.content.app) --again \(change.id) --force \(gate.rawValue) --reason WHY --no-proposer "
            + "--data DIR`."
    }
}
