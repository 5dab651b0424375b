import NIOCore
import NIOEmbedded
import Testing

@testable import ServerHTTP

@Suite("The turns of reports")
struct ReportLaneTests {
    private let loop = EmbeddedEventLoop()

    /// Lets the lane have a turn.
    private func turn() { loop.advanceTime(by: .microseconds(100)) }

    @Test("While others ask, one report comes after thirty-two answers to them; once nobody does, a turn is full")
    func besideOthers() {
        let lane = ReportLane(loop)
        var done: [Int] = []
        for number in 0..<20 { _ = lane.enter { done.append(number) } }
        #expect(done.isEmpty)
        for _ in 0..<72 { lane.countOther() }
        turn()
        #expect(done == [0, 1])
        // Eight of the seventy-two are left, and twenty-three more are not thirty-two.
        for _ in 0..<23 { lane.countOther() }
        turn()
        #expect(done == [0, 1])
        lane.countOther()
        turn()
        #expect(done == [0, 1, 2])
        // No other request has come since.
        turn()
        #expect(done == Array(0..<(3 + ReportLane.maximumTurn)))
    }

    @Test("A turn has an end, so that whoever comes meanwhile is heard")
    func ends() {
        let lane = ReportLane(loop)
        var done = 0
        for _ in 0..<(ReportLane.maximumTurn + 1) { _ = lane.enter { done += 1 } }
        turn()
        #expect(done == ReportLane.maximumTurn)
        turn()
        #expect(done == ReportLane.maximumTurn + 1)
    }

    @Test("Answers of before anybody waited give no turns, and no number of answers gives more than a turn has")
    func credit() {
        let lane = ReportLane(loop)
        var done = 0
        for _ in 0..<10_000 { lane.countOther() }
        for _ in 0..<200 { _ = lane.enter { done += 1 } }
        lane.countOther()
        turn()
        #expect(done == 0)
        for _ in 0..<10_000 { lane.countOther() }
        turn()
        #expect(done == ReportLane.maximumTurn)
        // Credit beyond a turn is not saved, but for one.
        lane.countOther()
        turn()
        #expect(done == ReportLane.maximumTurn + 1)
    }

    @Test("Whoever has left takes no turn, however many have")
    func left() {
        let lane = ReportLane(loop)
        var done: [Int] = []
        let places = (0..<1_000).map { number in lane.enter { done.append(number) } }
        for place in places.prefix(998) { place.leave() }
        for _ in 0..<ReportLane.othersForEach { lane.countOther() }
        turn()
        #expect(done == [998])
    }

    @Test("Whoever enters from within a turn waits for the next")
    func reentrant() {
        let lane = ReportLane(loop)
        var done: [String] = []
        _ = lane.enter {
            done.append("first")
            _ = lane.enter { done.append("second") }
        }
        turn()
        #expect(done == ["first"])
        turn()
        #expect(done == ["first", "second"])
    }
}
