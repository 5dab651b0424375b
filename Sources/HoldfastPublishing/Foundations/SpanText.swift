import Holdfast

/// A length of time as arguments are written: `21d`, `12h`, `2m` or `10s`, in the largest unit of which it is a multiple.
package enum SpanText {
    package static func text(_ seconds: Int64) -> String {
        for (unit, size) in [("d", Int64(86_400)), ("h", 3_600), ("m", 60)] where seconds > 0 && seconds % size == 0 {
            return "\(seconds / size)\(unit)"
        }
        return "\(seconds)s"
    }

    /// A length of time for people: in the largest unit of which it has two, rounded down.
    package static func rounded(_ seconds: Int64) -> String {
        for (unit, size) in [("d", Int64(86_400)), ("h", 3_600), ("m", 60)] where seconds >= 2 * size {
            return "\(seconds / size)\(unit)"
        }
        return "\(seconds)s"
    }
}

extension PinFile.Refresh {
    /// When clients look for new pins, in words.
    var text: String {
        "after \(SpanText.text(Int64(after))), jitter \(jitter.value), grace \(SpanText.text(Int64(grace)))"
    }
}
