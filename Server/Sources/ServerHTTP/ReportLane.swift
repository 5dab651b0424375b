import NIOCore
import Synchronization

/// The queue in which client reports wait for their turn on an event loop, so that they do not delay documents and
/// challenge answers. While there are other requests, one report is handled per several of them.
///
/// Each connection has at most one request here and is not read meanwhile: a flood waits in its own sockets.
final class ReportLane {
    private let eventLoop: NIOIsolatedEventLoop
    private var waiting = CircularBuffer<Place>()
    /// The number of other responses for which no report has had a turn yet.
    private var others = 0
    /// Whether another request was answered since the last turn.
    private var isAsked = false
    private var isScheduled = false

    /// An entry in the queue, which its owner may cancel.
    final class Place {
        fileprivate var body: (() -> Void)?

        fileprivate init(_ body: @escaping () -> Void) { self.body = body }

        /// Cancels the entry after its connection has closed, so that it uses up no turn.
        func leave() { body = nil }
    }

    /// The number of other responses per report.
    static let othersForEach = 32
    /// Maximum number of reports per turn. A request that arrives during a turn waits until its end.
    static let maximumTurn = 4
    /// A scheduled task lets the event loop read its sockets first; an immediate one does not.
    private static let pause = TimeAmount.microseconds(100)

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop.assumeIsolated() }

    /// Counts a response that is not for a report.
    func countOther() {
        others += 1
        isAsked = true
    }

    /// Runs a closure when it is its turn.
    /// - Returns: the entry, to cancel it.
    func enter(_ body: @escaping () -> Void) -> Place {
        // Responses sent while no report was waiting give a flood no additional turns.
        if waiting.isEmpty, !isScheduled { (others, isAsked) = (0, false) }
        let place = Place(body)
        waiting.append(place)
        schedule()
        return place
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        eventLoop.scheduleTask(in: Self.pause) { self.turn() }
    }

    private func turn() {
        isScheduled = false
        let count = isAsked ? min(Self.maximumTurn, others / Self.othersForEach) : Self.maximumTurn
        // Turns cannot be saved up.
        others = isAsked ? min(others - count * Self.othersForEach, Self.othersForEach) : 0
        isAsked = false
        // Entries added in the meantime wait for the next turn.
        var (left, seen) = (count, waiting.count)
        while seen > 0, let first = waiting.first, left > 0 || first.body == nil {
            waiting.removeFirst()
            seen -= 1
            guard let body = first.body else { continue }
            left -= 1
            body()
        }
        if !waiting.isEmpty { schedule() }
    }
}

/// The queues of a listener, one per event loop.
final class ReportLanes: Sendable {
    private let lanes = Mutex<[ObjectIdentifier: NIOLoopBound<ReportLane>]>([:])

    /// The queue of an event loop; call it only there.
    func lane(of eventLoop: any EventLoop) -> ReportLane {
        lanes.withLock { lanes in
            if let lane = lanes[ObjectIdentifier(eventLoop)] { return lane }
            let lane = NIOLoopBound(ReportLane(eventLoop), eventLoop: eventLoop)
            lanes[ObjectIdentifier(eventLoop)] = lane
            return lane
        }.value
    }
}
