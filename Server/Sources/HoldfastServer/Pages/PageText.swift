import Holdfast

/// How pages write things.
enum PageText {
    /// In the place of what is not there.
    static let nothing = "–"

    /// Text as HTML has it between tags and in attributes. What cannot be seen, or turns around what stands beside it,
    /// is named instead, so that two texts that differ look different.
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

    /// Controls, what sets the direction of text, what joins and separates without a trace, and tags.
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

    /// A time to the minute, such as `2026-11-24 12:00`.
    static func time(_ seconds: Int64) -> String {
        guard let text = UTCText.encode(seconds) else { return nothing }
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }

    /// A day, such as `2026-11-24`.
    static func day(_ seconds: Int64) -> String { UTCText.encode(seconds).map { String($0.prefix(10)) } ?? nothing }

    /// How far away a time is, such as `in 3 days` or `2 hours ago`.
    static func distance(to time: Int64, from now: Int64) -> String {
        let (distance, isPast) = time.subtractingReportingOverflow(now).overflow ? (0, false) : (time - now, time < now)
        guard distance.magnitude >= 60 else { return "now" }
        let words = QuantityText.span(Int64(clamping: distance.magnitude))
        return isPast ? "\(words) ago" : "in \(words)"
    }

    /// A time, and how far away it is.
    static func timeAndDistance(_ time: Int64, from now: Int64) -> String {
        "\(self.time(time)), \(distance(to: time, from: now))"
    }

    // MARK: Keys and certificates

    /// The beginning of a digest, where the whole stands elsewhere.
    static func short(_ digest: Digest) -> String { String("\(digest)".prefix(16)) }

    /// A pin as pin files have it.
    static func pin(_ digest: Digest) -> String { "sha256/\(Base64.encode(digest.bytes))" }

    /// What a key of an approver is kept in.
    static func kind(of member: ApproverSet.Member) -> String {
        member.isPasskey ? "passkey" : "key file or signer"
    }
}

/// How much something should be looked at, as the style sheet has it. Words always say the same.
enum PageRank: String, Sendable, Hashable {
    /// Something is wrong.
    case bad
    /// Something will be.
    case warn
    /// Nothing is.
    case usual = ""

    var value: PageValue { .text(rawValue) }
}
