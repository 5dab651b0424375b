import NIOCore
import Synchronization

/// Where reports of clients wait for their turn on an event loop, so that whoever asks for documents and challenge answers
/// does not wait for them: while others ask, they get one report in between for every few answers.
///
/// Each connection has one request at most in here, and is not read meanwhile: a flood of reports waits in its own sockets.
final class ReportLane {
    private let eventLoop: NIOIsolatedEventLoop
    private var waiting = CircularBuffer<Place>()
    /// How many others were answered for which no report has had its turn yet.
    private var others = 0
    /// Whether anybody else was answered since the last turn.
    private var isAsked = false
    private var isScheduled = false

    /// A place in the lane, which whoever has it may leave.
    final class Place {
        fileprivate var body: (() -> Void)?

        fileprivate init(_ body: @escaping () -> Void) { self.body = body }

        /// Leaves: the connection is gone, and takes no turn from others.
        func leave() { body = nil }
    }

    /// Answers to others for each report.
    static let othersForEach = 32
    /// Reports in a turn at most, and while nobody else asks: whoever comes meanwhile waits until it is over.
    static let maximumTurn = 4
    /// What is scheduled for later lets the loop look at its sockets first; what is executed at once does not.
    private static let pause = TimeAmount.microseconds(100)

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop.assumeIsolated() }

    /// Counts an answer that is not for a report.
    func countOther() {
        others += 1
        isAsked = true
    }

    /// Does something when it has its turn.
    /// - Returns: the place, to leave it.
    func enter(_ body: @escaping () -> Void) -> Place {
        // Whoever was answered before anybody waited leaves no turns to a flood.
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
        // Nobody saves turns.
        others = isAsked ? min(others - count * Self.othersForEach, Self.othersForEach) : 0
        isAsked = false
        // Whoever enters meanwhile waits for the next turn.
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
