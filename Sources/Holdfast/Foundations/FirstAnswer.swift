/// Keeps the first of several answers and ignores later ones. One task waits for it.
package final class FirstAnswer<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, Never>?
        var answer: Value?
    }

    private let state = Lock(State())

    package init() {}

    package var isSettled: Bool { state.withLock { $0.answer != nil } }

    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state in
                    if state.answer == nil { state.continuation = continuation }
                    return state.answer
                }
                if let answer { continuation.resume(returning: answer) }
            }
        }
    }

    package func settle(_ value: Value) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, Never>? in
            guard state.answer == nil else { return nil }
            state.answer = value
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: value)
    }
}
