import Holdfast

/// What the command prints inside this process.
final class SaidLines: Sendable {
    private let lines = Lock("")

    var text: String { lines.withLock { $0 } }

    func add(_ text: String) { lines.withLock { $0 += text } }
}
