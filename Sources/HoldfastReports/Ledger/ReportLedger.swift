import Foundation
import Holdfast

/// The pending reports: a value without I/O. It decides which reports are sent, and when; ``TrustReporter`` sends.
struct ReportLedger: Sendable {
    /// The next action.
    enum Step: Sendable {
        /// Send this report. It is not in the ledger anymore: return it with ``finish(_:_:at:using:)``.
        case send(PendingReport)
        /// Do nothing before this time.
        case wait(until: Date)
        /// Do nothing before the next decision.
        case rest
    }

    /// The result of an attempt.
    enum Result: Sendable {
        case taken
        /// Sending it again would be useless.
        case refused
        /// - Parameter pause: the pause that the collector requests.
        case failed(pause: Duration?)
    }

    let settings: ReportLedgerSettings
    private(set) var state = StoredLedger()
    /// The time of the first change that is not stored.
    private(set) var changedAt: Int64?

    init(_ settings: ReportLedgerSettings, stored: StoredLedger?, at now: Date) {
        self.settings = settings
        guard var stored else { return }
        stored.correct(for: Set(settings.destinations), at: now.wholeSeconds)
        state = stored
    }

    /// Whether no report and no count is pending.
    var isEmpty: Bool { state.pending.isEmpty && state.counts.isEmpty }

    // MARK: Recording

    /// Adds one decision.
    /// - Returns: the reports that are new today, for the application's callback.
    mutating func record(
        _ observation: Observation, at now: Date, using generator: inout some RandomNumberGenerator
    ) -> (new: [TrustReport], problem: ReportingError?) {
        let seconds = now.wholeSeconds
        guard (0...ReportLimits.lastSecond).contains(seconds) else { return ([], nil) }
        closeDay(at: seconds, using: &generator)
        let (destination, sampling, problem) = settings.target(of: observation)
        guard let destination, let sampling else { return ([], problem) }
        let sampled = observation.failures.filter { _ in generator.unit() < sampling.failures }
        let isCountedSuccess = observation.isSuccess && generator.unit() < sampling.successes
        if settings.sendsSummaries, isCountedSuccess || !sampled.isEmpty {
            state.counts.add(
                observation, to: destination, sampling: sampling, isSuccess: isCountedSuccess,
                failures: sampled.map { ($0.failure.code.rawValue, $0.outcome) }, on: DayCounts.day(of: seconds),
                by: settings.application)
            noteChange(at: seconds)
        }
        var new: [TrustReport] = []
        for (failure, outcome) in sampled {
            let subject = ReportSubject(
                host: observation.host, code: failure.code.rawValue, documentVersion: observation.documentVersion)
            guard state.subjects.isNew(subject, at: seconds) else { continue }
            let facts = observation.facts(
                of: failure, outcome, by: settings.application, at: now, fraction: sampling.failures,
                withChains: settings.includesChains)
            new.append(TrustReport(facts, about: failure))
            if !destination.isEmpty {
                let delay = Int64(settings.spread.inSeconds * generator.unit())
                state.append(
                    PendingReport(
                        .failure(facts), to: destination, madeAt: seconds, notBefore: seconds + delay))
            }
            noteChange(at: seconds)
        }
        return (new, problem)
    }

    /// Makes the summaries of a completed day.
    mutating func closeDay(at seconds: Int64, using generator: inout some RandomNumberGenerator) {
        guard let day = state.counts.day, day != DayCounts.day(of: seconds) else { return }
        for (destination, facts) in state.counts.close() where !destination.isEmpty {
            let delay = Int64(ReportLimits.summarySpread.inSeconds * generator.unit())
            state.append(
                PendingReport(
                    .summary(facts), to: destination, madeAt: seconds, notBefore: (day + 1) * 86_400 + delay))
        }
        noteChange(at: seconds)
    }

    private mutating func noteChange(at seconds: Int64) { changedAt = changedAt ?? seconds }

    // MARK: Sending

    /// The next action.
    /// - Parameter isHurried: whether reports that are delayed only to spread the load are due.
    mutating func step(
        at now: Date, isHurried: Bool, using generator: inout some RandomNumberGenerator
    ) -> Step {
        let seconds = now.wholeSeconds
        guard (0...ReportLimits.lastSecond).contains(seconds) else { return .rest }
        closeDay(at: seconds, using: &generator)
        if state.drop(madeBefore: seconds - Int64(ReportLimits.longestWait.inSeconds), correctedTo: seconds) {
            noteChange(at: seconds)
        }
        var times: [Int64] = []
        for (index, one) in state.pending.enumerated() {
            let retryAt = state.collectors[one.destination]?.retryAt ?? 0
            let dueAt = isHurried ? retryAt : max(retryAt, one.notBefore)
            guard dueAt > seconds else {
                noteChange(at: seconds)
                return .send(state.take(index))
            }
            times.append(dueAt)
        }
        if let changedAt { times.append(changedAt + Int64(ReportLimits.savingInterval.inSeconds)) }
        if let day = state.counts.day, !state.counts.isEmpty { times.append((day + 1) * 86_400) }
        return times.min().map { .wait(until: Date(wholeSeconds: max($0, seconds + 1))) } ?? .rest
    }

    /// Records the result of an attempt.
    mutating func finish(
        _ report: PendingReport, _ result: Result, at now: Date, using generator: inout some RandomNumberGenerator
    ) {
        let seconds = max(0, min(now.wholeSeconds, ReportLimits.lastSecond))
        var collector = state.collectors[report.destination] ?? CollectorState()
        switch result {
        case .taken, .refused:
            collector.answered()
        case .failed(let pause):
            collector.failed(at: seconds, pause: pause, using: &generator)
            state.putBack(report)
        }
        state.collectors[report.destination] = collector
        noteChange(at: seconds)
    }

    // MARK: Storing

    /// The data to store now; nil if nothing has changed for long enough.
    /// - Parameter isForced: whether all changes are stored at once.
    mutating func dataToStore(at now: Date, isForced: Bool) -> Data? {
        guard let changedAt else { return nil }
        let age = now.wholeSeconds - changedAt
        guard isForced || age < 0 || age >= Int64(ReportLimits.savingInterval.inSeconds) else { return nil }
        self.changedAt = nil
        return ReportJSON.data(state)
    }
}
