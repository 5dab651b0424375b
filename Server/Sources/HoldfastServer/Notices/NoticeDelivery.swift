import Foundation
import Logging
import Synchronization

/// Tells one target what there is to tell, one notice after another. It waits for the target in a task of its own, and
/// nobody waits for it.
///
/// What waits is not a history: each look at the server replaces it by what is news then, at most ``capacity`` notices.
/// So a target that is away for a week gets what is true when it is back, and costs no memory meanwhile. A notice that is
/// refused goes behind the others, so that it holds up none of them.
final class NoticeDelivery: Sendable {
    /// What waits at most. What is beyond is found again as long as it is news.
    static let capacity = 256

    private struct State {
        var known: KnownNotices
        /// Whether something of that is not kept yet.
        var isDirty = false
        var waiting: [Notice] = []
        /// How often each that waits was refused.
        var refusals: [RandomID: Int] = [:]
    }

    private let target: any NoticeTarget
    private let memory: any NoticeMemory
    private let mayTell: @Sendable () -> Bool
    private let backoff: NoticeBackoff
    private let pause: @Sendable (Duration) async -> Void
    private let counters: NoticeCounters
    private let logger: Logger
    private let state: Mutex<State>
    private let calls = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - target: whom to tell.
    ///   - memory: what it was told already; ``begin()`` reads it.
    ///   - mayTell: whether it is this machine that tells.
    ///   - backoff: how long to wait after a failure.
    ///   - pause: waits; it ends early when its task is canceled.
    ///   - counters: counts.
    ///   - logger: for what fails, once until it works again.
    init(
        to target: any NoticeTarget, remembering memory: any NoticeMemory,
        while mayTell: @escaping @Sendable () -> Bool = { true }, backoff: NoticeBackoff = .usual,
        pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) },
        counters: NoticeCounters, logger: Logger
    ) {
        self.target = target
        self.memory = memory
        self.mayTell = mayTell
        self.backoff = backoff
        self.pause = pause
        self.counters = counters
        self.logger = logger
        state = Mutex(State(known: KnownNotices([], isNew: true)))
        counters.change(target.name) { $0.waiting = 0 }
    }

    /// Begins, or begins anew after another machine had told: reads what was told.
    /// - Throws: ``ServerError`` of the database.
    func begin() async throws(ServerError) {
        let known = try await memory.read()
        state.withLock { state in
            (state.known, state.isDirty, state.waiting) = (known, false, [])
        }
    }

    /// Another machine tells from now on.
    func rest() {
        state.withLock { $0.waiting = [] }
        counters.change(target.name) { $0.waiting = 0 }
    }

    /// Says what is news now. It never waits for the target.
    func offer(_ notices: [Notice]) {
        let count = state.withLock { state -> Int in
            let current = Set(notices.map(\.id))
            if state.known.isNew {
                // What has no end and was there before anybody listened is no news.
                state.known.add(notices.filter(\.isLasting).map(\.id))
                state.isDirty = true
            }
            state.known.keep(current)
            let known = state.known.ids
            state.waiting = Array(notices.lazy.filter { !known.contains($0.id) }.prefix(Self.capacity))
            state.refusals = state.refusals.filter { current.contains($0.key) }
            return state.waiting.count
        }
        counters.change(target.name) { $0.waiting = count }
        calls.continuation.yield()
    }

    /// Tells the target, until the task is canceled.
    func run() async {
        var failures = 0
        for await _ in calls.stream {
            await keep()
            while !Task.isCancelled, mayTell(), let notice = next() {
                if let problem = await target.deliver(notice) {
                    failures += 1
                    refuse(notice, problem, failures)
                    var generator = SystemRandomNumberGenerator()
                    await pause(backoff.delay(after: failures, using: &generator))
                } else {
                    if failures > 0 { logger.notice("telling the \(target.name): works again") }
                    failures = 0
                    await take(notice)
                }
            }
        }
    }

    /// What was refused least often, the most urgent first.
    private func next() -> Notice? {
        state.withLock { state in
            state.waiting.enumerated().min { left, right in
                (state.refusals[left.element.id] ?? 0, left.offset)
                    < (state.refusals[right.element.id] ?? 0, right.offset)
            }?.element
        }
    }

    private func refuse(_ notice: Notice, _ problem: String, _ failures: Int) {
        state.withLock { $0.refusals[notice.id, default: 0] += 1 }
        counters.change(target.name) { $0.failures += 1 }
        // A receiver that is away for long would fill the log.
        if failures == 1 { logger.error("telling the \(target.name): \(problem)") }
    }

    private func take(_ notice: Notice) async {
        let count = state.withLock { state in
            state.waiting.removeAll { $0.id == notice.id }
            state.refusals[notice.id] = nil
            state.known.add([notice.id])
            state.isDirty = true
            return state.waiting.count
        }
        await keep()
        counters.change(target.name) { counts in
            counts.waiting = count
            counts.delivered += 1
        }
    }

    private func keep() async {
        let known = state.withLock { state -> KnownNotices? in
            defer { state.isDirty = false }
            return state.isDirty ? state.known : nil
        }
        guard let known else { return }
        do throws(ServerError) {
            try await memory.keep(known)
        } catch {
            logger.warning("a restart, or another machine, tells the \(target.name) this again: \(error)")
        }
    }
}
