import Foundation

/// Standard output and standard error. Text from a database or a file may come from an attacker, so it must not control
/// the terminal or add lines that look like output of the program.
enum Terminal {
    static func line(_ text: String = "") { printAsIs(escaped(text)) }

    static func printAsIs(_ text: String) { write(text + "\n") }

    /// Prints JSON in one line. Only its texts can contain terminal controls, which are escaped as in JSON.
    static func printJSON(_ json: String) { printAsIs(escapedJSON(json)) }

    /// The same JSON without terminal controls.
    static func escapedJSON(_ json: String) -> String {
        var escaped = ""
        for scalar in json.unicodeScalars {
            if isUnsafe(scalar) {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// The exit code that shells report for a program whose reader has closed the pipe.
    private static let brokenPipe: Int32 = 128 + SIGPIPE

    /// After the reader has closed the pipe, the program ends like other programs do.
    private static func write(_ text: String) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            exit(brokenPipe)
        }
    }

    /// Prints on standard error; an error may have several lines.
    static func complain(_ text: String) { report(escaped(text, keepsLines: true)) }

    /// Prints a line on standard error. A server continues even if standard error is closed.
    static func report(_ line: String) { try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8)) }

    /// Ends the program immediately. It exists because commands have an `exit` of their own.
    static func end(_ status: Int32) -> Never { exit(status) }

    /// Asks a question; only "yes" agrees.
    static func agrees(to question: String) -> Bool {
        write("\(escaped(question)) Type yes: ")
        return readLine(strippingNewline: true).map { $0.utf8.elementsEqual("yes".utf8) } ?? false
    }

    static func escaped(_ text: String, keepsLines: Bool = false) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) && !(keepsLines && scalar == "\n") {
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Whether it could act on a terminal: a control, a separator of lines, or a character that turns or hides text.
    /// `holdfastctl` has the same rule.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
