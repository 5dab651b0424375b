import Foundation
import HoldfastTesting
import Security
import Testing

@testable import Holdfast

@Suite("Evaluations on the main thread")
struct MainThreadTests {
    @Test("On the main thread an evaluation is made by a queue, with the same answer")
    func mainThread() throws {
        let fixture = try AppleFixture()
        #expect(SystemTrust.failureAwayFromMainThread(of: fixture.secTrust()) == nil)
        let failure = SystemTrust.failureAwayFromMainThread(of: fixture.secTrust(systemAnchors: []))
        #expect(failure?.text.contains("-67843") == true)
    }
}
