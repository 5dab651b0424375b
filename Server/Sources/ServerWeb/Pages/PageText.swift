import Holdfast
import ServerApprovals
import ServerFoundation

/// The formatting of text on pages.
enum PageText {
    /// The placeholder for a missing value.
    static let nothing = "–"

    /// Escapes text for HTML content and attributes. Invisible characters, and those that change the direction of text,
    /// are replaced by their code points, so that different texts look different.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "&": escaped += "&amp;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n", "\t": escaped.unicodeScalars.append(scalar)
            default:
                if isUnseen(scalar) {
                    escaped += "[U+\(hexadecimal(scalar))]"
                } else {
                    escaped.unicodeScalars.append(scalar)
                }
            }
        }
        return escaped
    }

    /// Whether a character is a control, sets the direction of text, joins or separates invisibly, or is a tag.
    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }

    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    // MARK: Times

    /// Formats a time to the minute, such as `2026-11-24 12:00`.
    static func time(_ seconds: Int64) -> String {
        guard let text = UTCText.encode(seconds) else { return nothing }
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }

    /// Formats a day, such as `2026-11-24`.
    static func day(_ seconds: Int64) -> String { UTCText.encode(seconds).map { String($0.prefix(10)) } ?? nothing }

    /// Formats the distance to a time, such as `in 3 days` or `2 hours ago`.
    static func distance(to time: Int64, from now: Int64) -> String {
        let (distance, isPast) = time.subtractingReportingOverflow(now).overflow ? (0, false) : (time - now, time < now)
        guard distance.magnitude >= 60 else { return "now" }
        let words = QuantityText.span(Int64(clamping: distance.magnitude))
        return isPast ? "\(words) ago" : "in \(words)"
    }

    /// Formats a time and its distance.
    static func timeAndDistance(_ time: Int64, from now: Int64) -> String {
        "\(self.time(time)), \(distance(to: time, from: now))"
    }

    // MARK: Keys and certificates

    /// The first 16 characters of a digest, for places where the full digest is shown elsewhere.
    static func short(_ digest: Digest) -> String { String("\(digest)".prefix(16)) }

    /// A pin as pin files spell it.
    static func pin(_ digest: Digest) -> String { "sha256/\(Base64.encode(digest.bytes))" }

    /// The kind of key of an approver.
    static func kind(of member: ApproverSet.Member) -> String {
        member.isPasskey ? "passkey" : "key file or signer"
    }
}

/// The urgency of a text, as a class in the style sheet. The text always states the same.
enum PageRank: String, Sendable, Hashable {
    /// Something is wrong.
    case bad
    /// Something will be wrong.
    case warn
    /// Nothing is wrong.
    case usual = ""

    var value: PageValue { .text(rawValue) }
}
