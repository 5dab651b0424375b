/// Text that may come from a stranger's certificate, made fit for a terminal: what could move the cursor, change
/// colours or turn the direction of writing is shown as its number instead.
enum SafeText {
    /// For a terminal or a file: nothing but line breaks acts on it.
    static func escaped(_ text: String) -> String {
        replacing(in: text) { "\\u{\(String($0.value, radix: 16))}" }
    }

    /// For JSON that is encoded already: the same, in the way that JSON itself writes such characters, so that a reader
    /// gets what was there.
    static func escapedInJSON(_ json: String) -> String {
        replacing(in: json) { scalar in
            String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }

    /// For one line of a comment in generated code: no line breaks either.
    static func escapedLine(_ text: String) -> String {
        escaped(text).split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\u{a}")
    }

    private static func replacing(in text: String, with replacement: (Unicode.Scalar) -> String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) { result += replacement(scalar) } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar != "\n" else { return false }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
