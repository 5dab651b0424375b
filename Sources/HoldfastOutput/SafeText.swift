/// Makes text safe for a terminal, because it may come from an untrusted certificate. Characters that could move the
/// cursor, change colors or reverse the direction of writing are shown as numbers.
package enum SafeText {
    /// For a terminal or a file: only line breaks keep their effect.
    package static func escaped(_ text: String) -> String {
        replacing(in: text) { "\\u{\(String($0.value, radix: 16))}" }
    }

    /// For encoded JSON: escapes the same characters as JSON does, so that a reader gets the original text.
    package static func escapedInJSON(_ json: String) -> String {
        replacing(in: json) { scalar in
            String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }

    /// For one line of a comment in generated code: no line breaks either.
    package static func escapedLine(_ text: String) -> String {
        escaped(text).split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\u{a}")
    }

    /// For a command line that a user may copy into a shell: one word, in quotation marks if it needs them.
    package static func shellWord(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { octet in
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= octet || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= octet
                || UInt8(ascii: "a")...UInt8(ascii: "z") ~= octet || "./_-+@%:,=".utf8.contains(octet)
        }
        if isPlain, !text.isEmpty { return text }
        return "'" + escapedLine(text).replacing("'", with: "'\\''") + "'"
    }

    private static func replacing(in text: String, with replacement: (Unicode.Scalar) -> String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) { result += replacement(scalar) } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }

    /// Whether a character could act on a terminal. A line feed could not.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar != "\n" else { return false }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
