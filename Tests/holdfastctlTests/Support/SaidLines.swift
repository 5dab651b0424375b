import Holdfast

/// The output of the command inside this process.
final class SaidLines: Sendable {
    private struct Values {
        var text = ""
        var output = ""
        var errors = ""
    }

    private let values = Lock(Values())

    /// Everything, in its order.
    var text: String { values.withLock { $0.text } }
    /// Standard output alone.
    var output: String { values.withLock { $0.output } }
    /// Standard error alone.
    var errors: String { values.withLock { $0.errors } }

    @Sendable func add(_ text: String, isForErrors: Bool) {
        values.withLock { values in
            values.text += text
            if isForErrors { values.errors += text } else { values.output += text }
        }
    }
}
