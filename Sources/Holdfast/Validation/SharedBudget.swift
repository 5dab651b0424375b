import struct Foundation.Date

/// The one budget of a decision that several policies make together, with the cost and the results of its validations
/// so far.
///
/// Members of a composite usually need the same path. A validation reuses the results of an earlier one, so members do
/// not use up the budget, and a hostile chain costs no more than under one policy.
final class SharedBudget: Sendable {
    /// The input of a validation.
    private struct Question: Hashable {
        let purpose: ValidationPurpose
        let time: Date
    }

    private struct State {
        var spent = ValidationEffort()
        var outcomes: [Question: ValidationOutcome] = [:]
    }

    private let state = Lock(State())

    /// The total cost so far.
    var spent: ValidationEffort { state.withLock { $0.spent } }

    /// Charges work done outside of ``validate(for:at:accepting:by:)``.
    func charge(_ effort: ValidationEffort) { state.withLock { $0.spent += effort } }

    /// Reuses an earlier validation if possible, and otherwise runs another.
    /// - Parameter validation: validates, given the cost of earlier validations.
    func validate(
        for purpose: ValidationPurpose, at time: Date, accepting: (ValidatedPath) -> Bool,
        by validation: (ValidationEffort) -> ValidationOutcome
    ) -> ValidationOutcome {
        let question = Question(purpose: purpose, time: time)
        let (known, spent) = state.withLock { ($0.outcomes[question], $0.spent) }
        if let known, let answer = answer(from: known, accepting) { return answer }
        let outcome = validation(spent)
        state.withLock { state in
            state.spent += outcome.effort
            state.outcomes[question] = outcome
        }
        return outcome
    }

    /// - Returns: nil if the earlier search ended with a path that is not accepted here, because another path may be.
    private func answer(from known: ValidationOutcome, _ accepting: (ValidatedPath) -> Bool) -> ValidationOutcome? {
        var effort = ValidationEffort()
        var others: [ValidatedPath] = []
        for path in known.otherPaths + [known.path].compactMap(\.self) {
            effort.work += path.certificates.reduce(0) { $0 + $1.hashingWork }
            guard accepting(path) else {
                others.append(path)
                continue
            }
            charge(effort)
            return ValidationOutcome(
                path: path, otherPaths: others, failure: nil, effort: effort, unusable: known.unusable,
                notices: known.notices)
        }
        guard known.path == nil else { return nil }
        charge(effort)
        return ValidationOutcome(
            path: nil, otherPaths: others, failure: known.failure, effort: effort, unusable: known.unusable,
            notices: known.notices)
    }
}
