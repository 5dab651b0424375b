import Foundation
import Logging
import ServerFoundation
import Synchronization

/// Delivers notices to one target, one after another. It waits for the target in a separate task, which blocks nothing
/// else.
///
/// The queue is not a history: each check replaces it with the current notices, at most ``capacity``. So a target that
/// returns after a week gets the current state, and no memory is used meanwhile. A notice that fails moves behind the
/// others, so that it does not block them.
final class NoticeDelivery: Sendable {
    /// Maximum number of queued notices. A dropped notice is found again while its cause lasts.
    static let capacity = 256

    private struct State {
        var known: KnownNotices
        /// Whether ``known`` has changes that are not stored yet.
        var isDirty = false
        var waiting: [Notice] = []
        /// The number of failed attempts per queued notice.
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
    ///   - target: the target.
    ///   - memory: the ids that it received; ``begin()`` reads them.
    ///   - mayTell: whether this machine delivers notices.
    ///   - backoff: the delays after failures.
    ///   - pause: waits; it ends early when its task is canceled.
    ///   - counters: counts deliveries.
    ///   - logger: receives the first failure after each success.
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

    /// Reads the ids that were sent, at the start and after another machine delivered.
    /// - Throws: ``ServerError`` of the database.
    func begin() async throws(ServerError) {
        let known = try await memory.read()
        state.withLock { state in
            (state.known, state.isDirty, state.waiting) = (known, false, [])
        }
    }

    /// Clears the queue, because another machine delivers from now on.
    func rest() {
        state.withLock { $0.waiting = [] }
        counters.change(target.name) { $0.waiting = 0 }
    }

    /// Replaces the queue with the current notices. It never waits for the target.
    func offer(_ notices: [Notice]) {
        let count = state.withLock { state -> Int in
            let current = Set(notices.map(\.id))
            if state.known.isNew {
                // A new target gets no lasting notices from before its time.
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

    /// Delivers notices until the task is canceled.
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

    /// The notice with the fewest failures, the most urgent first.
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
        // Log only the first failure: a receiver that is offline for long would fill the log.
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
            logger.warning(
                "could not save which notices the \(target.name) received, so it may get them again: \(error)")
        }
    }
}
