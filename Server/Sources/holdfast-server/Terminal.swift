import Foundation

/// Standard output and standard error. What stands in a database or a file may have been written by a stranger, so
/// nothing in it controls the terminal, and a line stays one: nobody's words look like an answer of the program.
enum Terminal {
    static func line(_ text: String = "") { printAsIs(escaped(text)) }

    static func printAsIs(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    /// Prints on standard error; an error may have several lines.
    static func complain(_ text: String) {
        FileHandle.standardError.write(Data((escaped(text, keepsLines: true) + "\n").utf8))
    }

    /// Asks a question that is answered with yes or anything else.
    static func agrees(to question: String) -> Bool {
        FileHandle.standardOutput.write(Data("\(escaped(question)) Type yes: ".utf8))
        return readLine(strippingNewline: true).map { $0.utf8.elementsEqual("yes".utf8) } ?? false
    }

    static func escaped(_ text: String, keepsLines: Bool = false) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            let isControl =
                (scalar.value < 0x20 && !(keepsLines && scalar == "\n")) || (0x7F...0x9F).contains(scalar.value)
            let turns =
                [0x200E, 0x200F].contains(scalar.value) || (0x202A...0x202E).contains(scalar.value)
                || (0x2066...0x2069).contains(scalar.value)
            if isControl || turns {
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
