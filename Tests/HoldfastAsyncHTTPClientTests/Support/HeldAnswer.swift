import Holdfast
import HoldfastNIO
import NIOCore
import NIOPosix

/// Holds the first answer of a server back until a test lets it go; later ones are not held.
final class HeldAnswer: Sendable {
    private struct State {
        var answers: [@Sendable () -> Void] = []
        var isReleased = false
        var hasRequest = false
    }

    private let state = Lock(State())
    private let requested = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)

    func hold(_ answer: @escaping @Sendable () -> Void) {
        let isHeld = state.withLock { state in
            state.hasRequest = true
            guard !state.isReleased else { return false }
            state.answers.append(answer)
            return true
        }
        requested.succeed()
        if !isHeld { answer() }
    }

    func release() {
        let answers = state.withLock { state in
            state.isReleased = true
            defer { state.answers = [] }
            return state.answers
        }
        for answer in answers { answer() }
    }

    /// Waits for the first request, for five minutes at most.
    func waitForRequest() async throws {
        requested.fail(ChannelError.connectTimeout(.minutes(5)), after: .minutes(5))
        try await requested.futureResult.get()
    }
}
