import Holdfast

/// A duration in the form of arguments: `21d`, `12h`, `2m` or `10s`, in the largest unit of which it is a multiple.
package enum SpanText {
    package static func text(_ seconds: Int64) -> String {
        for (unit, size) in [("d", Int64(86_400)), ("h", 3_600), ("m", 60)] where seconds > 0 && seconds % size == 0 {
            return "\(seconds / size)\(unit)"
        }
        return "\(seconds)s"
    }

    /// A duration for people: in the largest unit of which it has at least two, rounded down.
    package static func rounded(_ seconds: Int64) -> String {
        for (unit, size) in [("d", Int64(86_400)), ("h", 3_600), ("m", 60)] where seconds >= 2 * size {
            return "\(seconds / size)\(unit)"
        }
        return "\(seconds)s"
    }
}

extension PinFile.Refresh {
    /// When clients fetch new pins, as text.
    var text: String {
        "after \(SpanText.text(Int64(after))), jitter \(jitter.value), grace \(SpanText.text(Int64(grace)))"
    }
}
