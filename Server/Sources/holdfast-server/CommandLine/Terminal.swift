import Foundation

/// Standard output and standard error. What stands in a database or a file may have been written by a stranger, so
/// nothing in it controls the terminal, and a line stays one: nobody's words look like an answer of the program.
enum Terminal {
    static func line(_ text: String = "") { printAsIs(escaped(text)) }

    static func printAsIs(_ text: String) { write(text + "\n") }

    /// Prints JSON in one line. Only texts in it can have what would control the terminal, which is escaped as JSON has it.
    static func printJSON(_ json: String) { printAsIs(escapedJSON(json)) }

    /// The same JSON, without bytes that would control a terminal.
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

    /// What a shell says of a program that wrote for a reader that had gone away.
    private static let brokenPipe: Int32 = 128 + SIGPIPE

    /// Nobody waits for the rest once a reader of the answer has gone away, and the program ends as others do then.
    private static func write(_ text: String) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            exit(brokenPipe)
        }
    }

    /// Prints on standard error; an error may have several lines.
    static func complain(_ text: String) { report(escaped(text, keepsLines: true)) }

    /// Prints a line on standard error. A server goes on serving when nobody reads it anymore.
    static func report(_ line: String) { try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8)) }

    /// Ends the program, whatever else it does. Commands have an `exit` of their own.
    static func end(_ status: Int32) -> Never { exit(status) }

    /// Asks a question that is answered with yes or anything else.
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

    /// Whether it could act on a terminal: controls, separators of lines, and what turns or hides text. `holdfastctl` has
    /// the same rule.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
