import Synchronization

/// What gates say about open changes, for their pages. Clients judge for that, which takes a processor for seconds: few
/// pages do it at a time, one of each session, and what was said counts for a minute unless something happens.
final class GateAnswers: Sendable {
    /// What the gates say.
    struct Answer: Sendable {
        let report: GateReport
        /// The earliest time at which the canary lets the change pass, in seconds since 1970; nil if it does not have it.
        let canaryEnd: Int64?
        /// When they were asked.
        let time: Int64
    }

    private struct Known {
        let answer: Answer
        /// The place of the audit up to which they knew it.
        let place: Int64
    }

    private let known = Mutex<[RandomID: Known]>([:])
    private let turns: JudgingTurns

    private static let lifetime: Int64 = 60
    /// More changes than people look at in a minute.
    private static let greatestCount = 256

    /// - Parameter turns: how many pages judge at a time.
    init(turns: JudgingTurns = JudgingTurns(1)) { self.turns = turns }

    /// What the gates say about a change.
    /// - Parameters:
    ///   - change: the change.
    ///   - viewer: whose turn it is.
    ///   - publisher: asks them.
    /// - Returns: nil if the viewer waits for too many answers already.
    /// - Throws: ``ServerError``.
    func answer(
        about change: Change, to viewer: Viewer, from publisher: Publisher
    ) async throws(ServerError) -> Answer? {
        let now = try await publisher.catalog.now()
        if let answer = current(change, publisher.catalog.ledger, at: now) { return answer }
        guard await turns.begin("\(viewer.session)") else { return nil }
        defer { turns.end("\(viewer.session)") }
        // Somebody else may have asked about the same change meanwhile.
        let ledger = publisher.catalog.ledger
        if let answer = current(change, ledger, at: now) { return answer }
        let rehearsed = try await publisher.rehearsed(change.id)
        let answer = Answer(
            report: rehearsed.report,
            canaryEnd: rehearsed.canary.flatMap { $0.change == change.id ? $0.end : nil }, time: now)
        known.withLock { known in
            if known.count >= Self.greatestCount { known = [:] }
            known[change.id] = Known(answer: answer, place: ledger.touches.latest(of: change.content.app))
        }
        return answer
    }

    private func current(_ change: Change, _ ledger: Ledger, at now: Int64) -> Answer? {
        guard let known = known.withLock({ $0[change.id] }),
            known.place == ledger.touches.latest(of: change.content.app),
            (0..<Self.lifetime).contains(now - known.answer.time)
        else { return nil }
        return known.answer
    }
}

extension Publisher {
    /// What the gates say, and how the canary of the app stands.
    fileprivate func rehearsed(
        _ id: RandomID
    ) async throws(ServerError) -> (report: GateReport, canary: CanaryStanding?) {
        let change = try await catalog.change(id)
        let scene = try await catalog.scene(of: change.content.app)
        return (await GateKeeper(scene: scene, change: change).report().report, canaryStanding(scene))
    }
}
