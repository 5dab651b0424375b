import Holdfast

/// A reply that a test decides on while its server runs.
final class AnswerBox: Sendable {
    private let state = Lock(TestOrigin.Reply())

    var reply: TestOrigin.Reply {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
