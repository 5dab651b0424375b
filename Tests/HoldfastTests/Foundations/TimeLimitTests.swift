import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Waiting with an end", .timeLimit(.minutes(15)))
struct TimeLimitTests {
    @Test("Whoever does not answer in time is given up, and goes on")
    func limit() async {
        let gate = Gate()
        let endless = Task {
            await gate.wait()
            return 2
        }
        #expect(await TimeLimit.value(of: endless, within: .milliseconds(1)) == nil)
        gate.open()
        #expect(await TimeLimit.value(of: endless, within: .seconds(600)) == 2)
    }

    @Test("A caller that is canceled waits no longer")
    func canceled() async {
        let gate = Gate()
        let endless = Task { await gate.wait() }
        let waiting = Task { await TimeLimit.value(of: endless, within: .seconds(Int64.max)) == nil }
        waiting.cancel()
        #expect(await waiting.value)
        gate.open()
    }
}
