import Holdfast
import HostMonitoring
import Logging
import PublicAPI
import ServerFoundation
import ServerModel
import ServerStore
import ServiceLifecycle

/// Reads client reports, stores the counts every few seconds, and logs warnings.
struct ReportService: Service {
    private let catalog: Catalog
    private let inbox: ReportInbox
    private let counting: ReportCounting
    private let logger: Logger

    /// How often counts are stored and the apps that take reports are read again.
    private static let step: Duration = .seconds(5)
    /// How often the status of reports is read.
    private static let looking: Duration = .seconds(15)
    /// The minimum interval between two warnings about an app, so that forged reports cannot fill the log.
    private static let warning: Duration = .seconds(600)
    /// How often old counts are deleted.
    private static let pruning: Duration = .seconds(3_600)

    init(_ catalog: Catalog, _ inbox: ReportInbox, logger: Logger) {
        (self.catalog, self.inbox, self.logger) = (catalog, inbox, logger)
        counting = ReportCounting(inbox, in: catalog)
    }

    /// The state between steps.
    struct State {
        fileprivate var troubles: RepeatedErrorLog
        fileprivate var contents: [Digest: [ContentHost]] = [:]
        /// The length of the audit when the apps were read.
        fileprivate var seen: Int64?
        fileprivate var nextLook: ContinuousClock.Instant
        fileprivate var nextPruning: ContinuousClock.Instant
        fileprivate var hasRemembered = false
        fileprivate var apps: [AppName] = []
        /// The time of the last warning per app.
        fileprivate var warned: [AppName: ContinuousClock.Instant] = [:]
    }

    /// Runs until the task is canceled or a shutdown is requested, then stores the remaining counts.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await BackgroundThread.run { await read() } }
                group.addTask { await write() }
            }
        }
        readWaiting()
        try? await counting.write()
    }

    /// Counts every queued body. Between two of them, other threads get the processor.
    func readWaiting() { while counting.countNext() { BackgroundThread.giveWay() } }

    private func read() async {
        for await _ in inbox.intake.arrivals { readWaiting() }
    }

    private func write() async {
        var state = begin(at: ContinuousClock.now)
        while !Task.isCancelled {
            await step(&state, ContinuousClock.now)
            try? await Task.sleep(for: Self.step)
        }
    }

    /// The state before the first step.
    func begin(at now: ContinuousClock.Instant) -> State {
        State(troubles: RepeatedErrorLog(logger), nextLook: now, nextPruning: now)
    }

    /// Does everything that is due.
    func step(_ state: inout State, _ now: ContinuousClock.Instant) async {
        await attempt("taking reports", &state, now) { state throws(ServerError) in
            if !state.hasRemembered { try await counting.remember() }
            state.hasRemembered = true
            let count = try await catalog.look { _, ledger throws(ServerError) in ledger.chain.head.count }
            guard count != state.seen else { return }
            let found = try await catalog.reportHosts(remembering: state.contents)
            (state.contents, state.seen) = (found.contents, count)
            inbox.intake.replace(with: found.apps)
            let apps = catalog.apps.filter { found.apps[$0] != nil }
            guard apps != state.apps else { return }
            state.apps = apps
            let names = apps.map(\.description).joined(separator: ", ")
            logger.info("taking reports of \(apps.isEmpty ? "no app" : names)")
        }
        await attempt("writing down reports", &state, now) { _ throws(ServerError) in try await counting.write() }
        if now >= state.nextPruning {
            await attempt("removing old reports", &state, now) { state throws(ServerError) in
                try await catalog.pruneReports(at: try await catalog.now())
                state.nextPruning = now + Self.pruning
            }
        }
        guard now >= state.nextLook else { return }
        state.nextLook = now + Self.looking
        await attempt("looking at reports", &state, now) { state throws(ServerError) in
            try await look(&state, now)
        }
    }

    private func look(_ state: inout State, _ now: ContinuousClock.Instant) async throws(ServerError) {
        var standings: [AppName: ReportStanding] = [:]
        for app in state.apps {
            let standing = try await catalog.reportStanding(of: app)
            standings[app] = standing
            guard !standing.warnings.isEmpty, state.warned[app].map({ now - $0 >= Self.warning }) ?? true else {
                continue
            }
            state.warned[app] = now
            let words = standing.warnings.prefix(4).joined(separator: "; ")
            logger.warning("client reports of \(app), which can be forged: \(words)")
        }
        inbox.counters.set(standings)
    }

    private func attempt(
        _ subject: String, _ state: inout State, _ now: ContinuousClock.Instant,
        _ body: (inout State) async throws(ServerError) -> Void
    ) async {
        do throws(ServerError) {
            try await body(&state)
            state.troubles.end(subject)
        } catch {
            state.troubles.note(subject, "\(error)", at: now)
        }
    }
}
