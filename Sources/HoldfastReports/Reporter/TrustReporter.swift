import Dispatch
import Foundation
public import Holdfast

/// Reports failures of pins to collectors, and once per day the numbers of successful and failed connections.
///
/// ```swift
/// try TrustReporter(ReportConfiguration(destinations: [collector], application: "com.example.bank", version: "5.1"))
///     .observe(manager)
/// ```
/// Reports go only to the destinations of the configuration, over a separate transport. They contain the host, or the
/// pattern that covers it, the reason, the pins with their roles and states, and the version of the pin file; they
/// contain no identifier of a device or user, no path, query, header or address.
///
/// Of failures with the same host, reason and version of the document, one is reported per day, also across restarts.
/// While a collector is unavailable, a bounded number of reports is kept, and attempts become rarer.
public final class TrustReporter: Sendable {
    private struct State {
        var ledger: ReportLedger
        var generator: any RandomNumberGenerator & Sendable
        var lastError: ReportingError?
        /// Whether a task waits for the time of the next report.
        var isWorking = false
        /// Whether something was recorded after the task's last step.
        var isStirred = false
        var nap: Task<Void, Never>?
        /// A function per observed manager that returns the name of a pin that covers a host.
        var coverings: [@Sendable (URL) -> String?] = []
    }

    private let configuration: ReportConfiguration
    private let sleeper: any Clock<Duration>
    private let state: Lock<State>
    /// A data store is called by one thread at a time, and may block.
    private let storage = DispatchQueue(label: "holdfast.reports", qos: .utility)

    /// Makes a reporter, and reads stored data, which may block.
    /// - Throws: ``ReportingError`` `invalidConfiguration`.
    public convenience init(_ configuration: ReportConfiguration) throws(ReportingError) {
        try self.init(configuration, spread: ReportLimits.spread)
    }

    /// - Parameters:
    ///   - spread: the maximum delay of a report about a failure.
    ///   - sleeper: the clock for delays.
    ///   - generator: the generator for sampling and for spreading the load.
    package init(
        _ configuration: ReportConfiguration, spread: Duration,
        sleepingOn sleeper: any Clock<Duration> = ContinuousClock(),
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws(ReportingError) {
        let settings = try configuration.ledgerSettings(spread: spread)
        self.configuration = configuration
        self.sleeper = sleeper
        let stored = configuration.store.loadData(forKey: configuration.storageKey).flatMap(StoredLedger.read)
        let ledger = ReportLedger(settings, stored: stored, at: configuration.clock.now)
        state = Lock(State(ledger: ledger, generator: generator))
        if !ledger.isEmpty { stir() }
    }

    deinit { state.withLock { $0.nap }?.cancel() }

    // MARK: Watching

    /// Reports on every decision of a manager's policies from now on. The manager keeps the reporter.
    /// - Throws: ``ReportingError`` `coveredDestination` if a pin covers a destination.
    @discardableResult
    public func observe(_ manager: TrustManager) throws(ReportingError) -> ObserverToken {
        for destination in configuration.destinations {
            if let cover = manager.cover(of: destination) { throw Self.covered(destination, by: cover.name) }
        }
        state.withLock { state in
            state.coverings.append { [weak manager] url in manager?.cover(of: url)?.name }
        }
        return manager.addObserver { self.record($0) }
    }

    /// Reports on a decision, for code that makes decisions without a manager.
    public func record(_ decision: TrustDecision) {
        guard let observation = Observation(decision, namesHosts: configuration.namesHostsOfPatterns) else { return }
        let now = configuration.clock.now
        let (new, isFirstChange) = state.withLock { state in
            let hadChanged = state.ledger.changedAt != nil
            let (new, problem) = state.ledger.record(observation, at: now, using: &state.generator)
            if let problem { state.lastError = problem }
            return (new, !hadChanged && state.ledger.changedAt != nil)
        }
        if let onReport = configuration.onReport { for report in new { onReport(report) } }
        if isFirstChange || !new.isEmpty { stir() }
    }

    // MARK: State

    /// The last problem with a destination, a collector or the data store; nil if none occurred since the last accepted
    /// report.
    public var lastError: ReportingError? { state.withLock { $0.lastError } }

    /// The number of pending reports.
    public var pendingReports: Int { state.withLock { $0.ledger.state.pending.count } }

    /// Sends the pending reports, except to collectors that failed and need a pause, and stores the rest: for the end
    /// of a process, and for background tasks. It is not needed otherwise.
    public func send() async {
        while true {
            let now = configuration.clock.now
            let step = state.withLock { $0.ledger.step(at: now, isHurried: true, using: &$0.generator) }
            guard case .send(let report) = step else { break }
            await send(report)
        }
        await keep(isForced: true)
    }

    // MARK: Working

    /// Makes the task check for work, or starts it.
    private func stir() {
        let (starts, nap) = state.withLock { state in
            state.isStirred = state.isWorking
            let starts = !state.isWorking
            state.isWorking = true
            return (starts, state.nap)
        }
        nap?.cancel()
        guard starts else { return }
        Task { [weak self] in
            // Between two steps nothing retains the reporter.
            while let nap = await self?.work() { await nap.value }
        }
    }

    /// Performs the due work.
    /// - Returns: a task that ends when work is due again; nil if none will be.
    private func work() async -> Task<Void, Never>? {
        while true {
            await keep(isForced: false)
            let now = configuration.clock.now
            let step = state.withLock { state in
                let step = state.ledger.step(at: now, isHurried: false, using: &state.generator)
                state.isStirred = false
                state.nap = nil
                if case .rest = step { state.isWorking = false }
                return step
            }
            switch step {
            case .rest: return nil
            case .send(let report): await send(report)
            case .wait(let time):
                if let nap = nap(until: time, from: now) { return nap }
            }
        }
    }

    /// The maximum delay after a clock was set, or a device slept.
    private static let longestNap = Duration.seconds(900)

    private func nap(until time: Date, from now: Date) -> Task<Void, Never>? {
        let span = min(Self.longestNap, Duration(exactSeconds: time.timeIntervalSince(now)) ?? Self.longestNap)
        let sleeper = sleeper
        let nap = Task { _ = try? await sleeper.sleep(for: span) }
        let isStirred = state.withLock { state in
            if !state.isStirred { state.nap = nap }
            return state.isStirred
        }
        guard isStirred else { return nap }
        nap.cancel()
        return nil
    }

    private func send(_ report: PendingReport) async {
        // A report in flight is not stored: if the process ends meanwhile, it may have arrived, and is not sent twice.
        await keep(isForced: true)
        let (result, error) = await attempt(report)
        let now = configuration.clock.now
        state.withLock { state in
            state.ledger.finish(report, result, at: now, using: &state.generator)
            state.lastError = error
        }
        await keep(isForced: true)
    }

    private func attempt(_ report: PendingReport) async -> (ReportLedger.Result, ReportingError?) {
        guard let url = configuration.destinations.first(where: { $0.absoluteString == report.destination }) else {
            return (.refused, nil)
        }
        // Pins may have been added since the configuration was checked.
        let coverings = state.withLock { $0.coverings }
        if let name = coverings.lazy.compactMap({ $0(url) }).first {
            return (.failed(pause: nil), Self.covered(url, by: name))
        }
        let (contentType, body) = report.body(as: configuration.shape, at: configuration.clock.now)
        do {
            let answer = try await configuration.sender.send(
                ReportUpload(url: url, contentType: contentType, body: body))
            return Self.result(of: answer, from: url)
        } catch {
            return (
                .failed(pause: nil),
                ReportingError(
                    .notSent, expected: "an answer of \(url.quotedAddress)", found: ForeignErrorText.found(error))
            )
        }
    }

    private static func result(of answer: ReportAnswer, from url: URL) -> (ReportLedger.Result, ReportingError?) {
        func error(_ code: ReportingError.Code) -> ReportingError {
            ReportingError(
                code, expected: "HTTP status 200 to 299 of \(url.quotedAddress)", found: "\(answer.status)")
        }
        return switch answer.status {
        case 200..<300: (.taken, nil)
        // The collector is busy, or requests the same again later.
        case 408, 425, 429: (.failed(pause: answer.retryAfter), error(.notSent))
        case 400..<500: (.refused, error(.refusedByCollector))
        default: (.failed(pause: answer.retryAfter), error(.notSent))
        }
    }

    private static func covered(_ url: URL, by name: String) -> ReportingError {
        ReportingError(
            .coveredDestination, expected: "a destination whose host no pin covers",
            found: "\(url.quotedAddress), which the pins of \(name) cover")
    }

    /// Stores what has changed.
    private func keep(isForced: Bool) async {
        await storage.run {
            let now = self.configuration.clock.now
            guard let data = self.state.withLock({ $0.ledger.dataToStore(at: now, isForced: isForced) }) else { return }
            let key = self.configuration.storageKey
            guard !self.configuration.store.save(data: data, forKey: key) else { return }
            self.state.withLock { state in
                state.lastError = ReportingError(
                    .notStored, expected: "a data store that saves", found: "one that refuses")
            }
        }
    }
}
