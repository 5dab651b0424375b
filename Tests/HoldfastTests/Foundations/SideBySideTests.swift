import Holdfast
import HoldfastTesting
import Testing

@Suite("Work side by side", .timeLimit(.minutes(15)))
struct SideBySideTests {
    private final class Crowd: Sendable {
        private let values = Lock((now: 0, most: 0))
        var most: Int { values.withLock { $0.most } }
        func enter() {
            values.withLock { values in
                values.now += 1
                values.most = max(values.most, values.now)
            }
        }
        func leave() { values.withLock { $0.now -= 1 } }
    }

    @Test("As many as are allowed run at once, never more, and the results are in order", arguments: [1, 3, 8])
    func limit(limit: Int) async {
        let crowd = Crowd()
        let items = Array(1...50)
        let results = await SideBySide.map(items, atMost: limit) { item in
            crowd.enter()
            // No item leaves before the limit is reached.
            try? await waitUntil { crowd.most >= limit }
            for _ in 0..<(item % 7) { await Task.yield() }
            crowd.leave()
            return item * 2
        }
        #expect(results == items.map { $0 * 2 })
        #expect(crowd.most == limit)
    }

    @Test("Fewer items than may run are no trouble")
    func few() async {
        #expect(await SideBySide.map([1, 2], atMost: 8) { $0 } == [1, 2])
        #expect(await SideBySide.map([Int](), atMost: 8) { $0 }.isEmpty)
    }
}
