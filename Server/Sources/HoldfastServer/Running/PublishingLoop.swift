import Holdfast
import Logging
import PinChanges
import PinPublication
import ServerFoundation
import ServerHTTP
import ServerModel
import ServerStore
import ServiceLifecycle

/// The regular work of a server: it follows the writes of commands, signs documents again when needed, and writes
/// pending documents to the folder. Failures are logged and retried, and the previous state is served in the meantime.
struct PublishingLoop: Service {
    private let publisher: Publisher
    private let identities: [TLSIdentity]
    private let logger: Logger

    /// How often it checks for writes of other processes.
    private static let step: Duration = .seconds(1)
    /// How often it tries to write to the folder.
    private static let delivery: Duration = .seconds(5)
    /// How often it checks that the folder still has the documents that were written.
    private static let mending: Duration = .seconds(60)
    /// How often trust-server documents are signed: twice in the time after which outlooks assume stopped rounds.
    private static let round: Duration = .seconds(OutlookMaker.round / 2)
    /// The age in seconds below which other machines leave a document alone, because one of them has just signed it.
    private static let youth = OutlookMaker.round / 2 - 5
    /// How often they check the age again: after a machine has stopped, another one signs within this time.
    private static let sparing: Duration = .seconds(15)
    /// The delay after a failed round.
    private static let retry: Duration = .seconds(10)
    /// How often certificates are read and the served state is made again even without writes, because entries expire.
    private static let refreshing: Duration = .seconds(60)
    /// How often everything is read again, even without an audit entry, because it may have been damaged.
    private static let rereading: Duration = .seconds(3_600)

    /// - Parameters:
    ///   - publisher: the publisher, with the catalog.
    ///   - identities: the certificates of the listeners, which are read again after a renewal.
    ///   - logger: receives failures, and the head of the audit after each round.
    init(_ publisher: Publisher, renewing identities: [TLSIdentity], logger: Logger) {
        self.publisher = publisher
        self.identities = identities
        self.logger = logger
    }

    /// The times of the next actions, and the results of the last ones.
    private struct State {
        var nextRound: ContinuousClock.Instant
        var nextDelivery: ContinuousClock.Instant
        var nextRefresh: ContinuousClock.Instant
        var nextMending: ContinuousClock.Instant
        /// The times of the next refresh and the next round that skip nothing as unchanged.
        var nextRereading: ContinuousClock.Instant
        var nextWholeRound: ContinuousClock.Instant
        var seen: Int64
        /// The length of the audit when the folder was filled; nil if something is missing.
        var filled: Int64?
        var nextComparison: ContinuousClock.Instant
        /// Whether to leave alone what another machine has signed recently; not in the first round.
        var spares = false
        /// Whether the clock was trusted.
        var isTimely = true
        var generations: [AppName: Int64] = [:]
        var troubles: RepeatedErrorLog
    }

    /// Runs until the task is canceled or a shutdown is requested.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            let starting = publisher.live.current.starting
            do throws(ServerError) {
                try await publisher.readWhatIsServed()
            } catch {
                logger.error("reading what is published: \(error)")
            }
            // Services stop in order, and this one is stopped after those that wait for the start.
            while starting?.isStopped == true, !Task.isCancelled { try? await Task.sleep(for: Self.step) }
            guard !Task.isCancelled else { return }
            holdSpaceBack()
            let now = ContinuousClock.now
            var state = State(
                nextRound: now, nextDelivery: now, nextRefresh: now, nextMending: now,
                // The start has just read everything.
                nextRereading: now + Self.rereading, nextWholeRound: now + Self.rereading,
                seen: publisher.live.current.sequence, nextComparison: now, troubles: RepeatedErrorLog(logger))
            while !Task.isCancelled {
                await step(&state)
                try? await Task.sleep(for: Self.step)
            }
        }
    }

    private func step(_ state: inout State) async {
        let now = ContinuousClock.now
        if let warning = publisher.catalog.engine.reserve?.warning {
            state.troubles.note(Self.reserving, warning, at: now)
            if now >= state.nextDelivery { holdSpaceBack() }
        } else {
            state.troubles.end(Self.reserving)
        }
        await follow(&state, now)
        await fill(&state, now)
        guard await isTimely(&state, now) else { return }
        if now >= state.nextRound { await renew(&state, now) }
        guard now >= state.nextDelivery else { return }
        state.nextDelivery = now + Self.delivery
        await attempt("writing to the folder", &state, now) { state throws(ServerError) in
            let problems = try await publisher.deliver().problems
            guard now >= state.nextMending else { return problems }
            state.nextMending = now + Self.mending
            let mended = try await publisher.mendFolder()
            for path in mended.confirmed {
                logger.warning("written again: \(path), which was missing from the folder or had been changed there")
            }
            return problems + mended.problems
        }
    }

    private static let reserving = "holding back space for a full disk"

    /// Reserves disk space, if available, for the case that the disk is full.
    private func holdSpaceBack() {
        if publisher.catalog.engine.reserve?.make() == true { logger.info("space is held back for a full disk") }
    }

    /// While the clock is not trusted, nothing is signed or evaluated, and nothing is written with its time.
    private func isTimely(_ state: inout State, _ now: ContinuousClock.Instant) async -> Bool {
        let subject = "signing and evaluating"
        if let problem = publisher.catalog.clockProblem {
            state.isTimely = false
            state.troubles.note(subject, "\(problem)", at: now)
            return false
        }
        if !state.isTimely {
            // Snapshots read in the meantime sign nothing.
            (state.isTimely, state.nextRefresh, state.nextRound) = (true, now, now)
            await follow(&state, now)
        }
        state.troubles.end(subject)
        await attempt("keeping the time", &state, now) { _ throws(ServerError) in
            try publisher.catalog.noteTime()
            return []
        }
        return true
    }

    /// Writes the documents that other machines signed to this machine's folder.
    private func fill(_ state: inout State, _ now: ContinuousClock.Instant) async {
        let count = publisher.catalog.ledger.chain.head.count
        guard state.filled != count, state.filled != nil || now >= state.nextDelivery else { return }
        await attempt("filling the folder", &state, now) { state throws(ServerError) in
            let problems = try await publisher.deliver().problems
            state.filled = problems.isEmpty ? count : nil
            return problems
        }
    }

    private func follow(_ state: inout State, _ now: ContinuousClock.Instant) async {
        var count = state.seen
        let compares = now >= state.nextComparison
        await attempt("reading the database", &state, now) { state throws(ServerError) in
            let catalog = publisher.catalog
            count = try await catalog.look { session, ledger throws(ServerError) in
                if compares { try catalog.compareClocks(session) }
                return ledger.chain.head.count
            }
            if compares { state.nextComparison = now + Self.delivery }
            try await catalog.signHead()
            return []
        }
        let isDue = now >= state.nextRefresh
        guard count != state.seen || isDue else { return }
        if isDue {
            renewIdentities(&state, now)
            holdSpaceBack()
        }
        await attempt("reading what is published", &state, now) { state throws(ServerError) in
            let rereads = now >= state.nextRereading
            let snapshot = try await publisher.refresh(keepingUnchanged: !rereads)
            if rereads { state.nextRereading = now + Self.rereading }
            state.seen = snapshot.sequence
            state.nextRefresh = now + Self.refreshing
            announce(&state)
            return snapshot.problems
        }
    }

    private func announce(_ state: inout State) {
        let ledger = publisher.catalog.ledger
        for app in publisher.catalog.apps {
            let generation = ledger.generation(of: app)
            if generation > 0, state.generations.updateValue(generation, forKey: app) != generation {
                logger.info("serving \(app): generation \(generation)")
            }
        }
    }

    private func renew(_ state: inout State, _ now: ContinuousClock.Instant) async {
        state.nextRound = now + Self.retry
        await attempt("signing again", &state, now) { state throws(ServerError) in
            let isWhole = now >= state.nextWholeRound
            let round = try await publisher.renew(
                skippingSettled: !isWhole, sparing: state.spares ? Self.youth : 0)
            state.spares = !publisher.catalog.engine.isOfOneMachine
            if isWhole { state.nextWholeRound = now + Self.rereading }
            for words in round.settled { logger.info("\(words)") }
            if !round.signed.isEmpty {
                let paths = round.signed.joined(separator: ", ")
                logger.info("signed again: \(paths); head \(publisher.catalog.ledger.chain.head)")
            }
            if round.problems.isEmpty {
                state.nextRound = now + (round.hasSpared ? Self.sparing : Self.round)
            }
            return round.problems
        }
    }

    private func renewIdentities(_ state: inout State, _ now: ContinuousClock.Instant) {
        for identity in identities {
            do throws(ServerError) {
                try identity.reload()
                state.troubles.end("reading a certificate again")
            } catch {
                state.troubles.note("reading a certificate again", "\(error)", at: now)
            }
        }
    }

    /// Runs an operation that may fail or return problems.
    private func attempt(
        _ subject: String, _ state: inout State, _ now: ContinuousClock.Instant,
        _ body: (inout State) async throws(ServerError) -> [String]
    ) async {
        let problems: [String]
        do throws(ServerError) {
            problems = try await body(&state)
        } catch {
            problems = ["\(error)"]
        }
        if problems.isEmpty {
            state.troubles.end(subject)
        } else {
            state.troubles.note(subject, problems.prefix(4).joined(separator: "; "), at: now)
        }
    }
}
