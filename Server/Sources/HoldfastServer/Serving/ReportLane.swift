import NIOCore
import Synchronization

/// Where reports of clients wait for their turn on an event loop, so that whoever asks for documents and challenge answers
/// does not wait for them: while others ask, they get one report in between for every few answers.
///
/// Each connection has one request at most in here, and is not read meanwhile: a flood of reports waits in its own sockets.
final class ReportLane {
    private let eventLoop: NIOIsolatedEventLoop
    private var waiting = CircularBuffer<() -> Void>()
    /// How many others were answered for which no report has had its turn yet.
    private var others = 0
    /// Whether anybody else was answered since the last turn.
    private var isAsked = false
    private var isScheduled = false

    /// Answers to others for each report.
    static let othersForEach = 16
    /// Reports in a turn at most, and while nobody else asks: whoever comes meanwhile waits until it is over.
    static let greatestTurn = 4
    /// What is scheduled for later lets the loop look at its sockets first; what is executed at once does not.
    private static let pause = TimeAmount.microseconds(100)

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop.assumeIsolated() }

    /// Counts an answer that is not for a report.
    func countOther() {
        others += 1
        isAsked = true
    }

    /// Does something when it has its turn.
    func enter(_ body: @escaping () -> Void) {
        // Whoever was answered before anybody waited leaves no turns to a flood.
        if waiting.isEmpty, !isScheduled { (others, isAsked) = (0, false) }
        waiting.append(body)
        schedule()
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        eventLoop.scheduleTask(in: Self.pause) { self.turn() }
    }

    private func turn() {
        isScheduled = false
        let count = isAsked ? min(Self.greatestTurn, others / Self.othersForEach) : Self.greatestTurn
        // Nobody saves turns.
        others = isAsked ? min(others - count * Self.othersForEach, Self.othersForEach) : 0
        isAsked = false
        for _ in 0..<min(count, waiting.count) { waiting.popFirst()?() }
        if !waiting.isEmpty { schedule() }
    }
}

/// The lanes of a listener, one for each event loop.
final class ReportLanes: Sendable {
    private let lanes = Mutex<[ObjectIdentifier: NIOLoopBound<ReportLane>]>([:])

    /// The lane of an event loop, for what runs there.
    func lane(of eventLoop: any EventLoop) -> ReportLane {
        lanes.withLock { lanes in
            if let lane = lanes[ObjectIdentifier(eventLoop)] { return lane }
            let lane = NIOLoopBound(ReportLane(eventLoop), eventLoop: eventLoop)
            lanes[ObjectIdentifier(eventLoop)] = lane
            return lane
        }.value
    }
}
