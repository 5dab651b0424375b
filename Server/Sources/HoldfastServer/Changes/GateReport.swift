/// What the gates say about a change, in their order.
public struct GateReport: Sendable, Hashable {
    /// What one gate says.
    public struct Result: Sendable, Hashable {
        /// The gate.
        public let gate: Gate
        /// Why it refuses, a sentence each; empty if the change passes.
        public let refusals: [String]
        /// Whether the change passes all the same, because its approvers were asked to let it.
        public let isForced: Bool

        /// Whether the change goes on.
        public var isPassed: Bool { refusals.isEmpty || isForced }
    }

    /// The results so far: gates after one that refuses are not asked.
    public let results: [Result]

    /// Whether the change passes all gates that were asked.
    public var isPassed: Bool { results.allSatisfy(\.isPassed) }

    /// The gate that stops the change; nil if none does.
    public var refusal: Result? { results.first { !$0.isPassed } }

    /// Throws what the first gate says that stops the change.
    func requirePassed(_ change: RandomID) throws(ServerError) {
        guard let refusal else { return }
        throw ServerError(
            .gate, of: "change \(change)", expected: "a change that passes the gate \(refusal.gate.rawValue)",
            found: refusal.refusals.joined(separator: "; "), remedy: refusal.gate.remedy)
    }
}

extension Gate {
    /// What to do about a change that it refuses.
    fileprivate var remedy: String? {
        switch self {
        case .signatures:
            "Have the holders of the repository's keys sign what was approved (app repository export and import), and "
                + "publish again; no change can skip this gate."
        case .validation, .base:
            "Correct what the gate names, and propose the change again; no change can skip this gate."
        case .lint, .replay, .outlook, .canary, .readback: nil
        }
    }
}
