import PinChanges
import PinPublication
import ServerFoundation
import ServerModel
import ServerStore
import Synchronization

/// Reads changes for their pages. For an open change, an evaluation takes seconds of processor time and reads all data
/// of its app. So few pages do that at a time, one per session, and results are cached for a minute unless the app
/// changes. The facts about a change that has ended never change.
package final class ChangeReader: Sendable {
    private struct Known {
        let facts: ChangeFacts
        /// The latest audit entry of the app when they were read.
        let place: Int64
        /// The time of reading, in seconds since 1970.
        let time: Int64
    }

    private let known = Mutex<[RandomID: Known]>([:])
    private let turns: EvaluationLimiter
    private let room: Int

    private static let lifetime: Int64 = 60

    /// - Parameters:
    ///   - turns: limits how many pages read at a time.
    ///   - room: the number of cached changes, more than people view in a minute.
    init(turns: EvaluationLimiter = EvaluationLimiter(1), room: Int = 128) {
        self.turns = turns
        self.room = room
    }

    /// Returns the facts for the page of a change.
    /// - Parameters:
    ///   - change: the change.
    ///   - isOpen: whether the change can still be published.
    ///   - viewer: the viewer whose turn it is.
    ///   - publisher: the publisher that runs the gates.
    /// - Returns: nil if the viewer waits for too many changes already.
    /// - Throws: ``ServerError``.
    func facts(
        about change: ChangeStatus, isOpen: Bool, to viewer: Viewer, from publisher: Publisher
    ) async throws(ServerError) -> ChangeFacts? {
        if let facts = try await current(change, isOpen, publisher.catalog) { return facts }
        guard await turns.begin("\(viewer.session)") else { return nil }
        defer { turns.end("\(viewer.session)") }
        // Another request may have read the same change in the meantime.
        if let facts = try await current(change, isOpen, publisher.catalog) { return facts }
        let place = publisher.catalog.ledger.touches.latest(of: change.app)
        let now = try await publisher.catalog.now()
        let facts = try await publisher.facts(of: change.id, isOpen: isOpen, at: now)
        known.withLock { [room] known in
            if known.count >= room, let oldest = known.min(by: { $0.value.time < $1.value.time })?.key {
                known[oldest] = nil
            }
            known[change.id] = Known(facts: facts, place: place, time: now)
        }
        return facts
    }

    private func current(
        _ change: ChangeStatus, _ isOpen: Bool, _ catalog: Catalog
    ) async throws(ServerError) -> ChangeFacts? {
        guard let known = known.withLock({ $0[change.id] }) else { return nil }
        guard isOpen else { return known.facts }
        // Read the time again, because the wait for a turn may have been long.
        let now = try await catalog.now()
        guard known.facts.answer != nil, known.place == catalog.ledger.touches.latest(of: change.app),
            (0..<Self.lifetime).contains(now - known.time)
        else { return nil }
        return known.facts
    }
}

extension Publisher {
    fileprivate func facts(of id: RandomID, isOpen: Bool, at now: Int64) async throws(ServerError) -> ChangeFacts {
        let (change, base) = try await catalog.changeAndBase(id)
        guard isOpen else { return ChangeFacts(of: change, replacing: base, unannounced: [], nil) }
        let scene = try await catalog.scene(of: change.content.app, for: change.content)
        let canary = canaryStanding(scene).flatMap { $0.change == id ? $0.end : nil }
        let answer = ChangeFacts.Answer(
            report: await GateRunner(scene: scene, change: change).report().report, canaryEnd: canary, time: now)
        return ChangeFacts(
            of: change, replacing: base, unannounced: scene.unannounced(in: change.content),
            origins: scene.origins(of: change.content), answer)
    }
}

extension Catalog {
    /// A change and the content that it replaces, even if another publication has replaced that content since.
    fileprivate func changeAndBase(_ id: RandomID) async throws(ServerError) -> (change: Change, base: Content?) {
        try await look { session, ledger throws(ServerError) in
            let change = try Self.change(id, session, ledger)
            let app = change.content.app
            let base = ledger.apps[app]?.last { $0.generation <= change.baseGeneration }
            return (
                change,
                try base.map { publication throws(ServerError) in
                    try Self.content(of: publication, app: app, in: session)
                }
            )
        }
    }
}
