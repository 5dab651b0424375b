import Foundation
import Holdfast

/// A word, a sign or a string literal of Kotlin or Java code; comments and white space are left out.
struct CodeToken {
    enum Kind: Equatable {
        /// A string literal; nil if it contains escapes or interpolated values.
        case text(String?)
        /// A word or a sign.
        case other(String)
    }

    let kind: Kind
    /// The line on which it begins.
    let line: Int

    /// - Throws: ``PublishingError`` `invalidDocument` if a comment or a text does not end.
    static func tokens(of data: Data) throws(PublishingError) -> [CodeToken] {
        var octets = [UInt8](data)
        if octets.starts(with: [0xEF, 0xBB, 0xBF]) { octets.removeFirst(3) }
        guard String(strictUTF8: octets) != nil else { throw PinImport.failure("is not UTF-8; convert a copy of it") }
        try refuseEscapes(in: octets)
        var scanner = Scanner(octets: octets)
        return try scanner.tokens()
    }

    /// Java replaces a Unicode escape with the character before it recognizes strings and comments (JLS 3.3), so an
    /// escape for an ASCII character may end either; Kotlin supports escapes only in strings.
    private static func refuseEscapes(in octets: [UInt8]) throws(PublishingError) {
        var (line, backslashes) = (1, 0)
        for (index, octet) in octets.enumerated() {
            if octet == UInt8(ascii: "\n") { line += 1 }
            if octet == UInt8(ascii: "u"), backslashes % 2 == 1 {
                let digits = octets[index...].drop { $0 == UInt8(ascii: "u") }.prefix(4)
                if digits.starts(with: "00".utf8), let high = digits.dropFirst(2).first, high < UInt8(ascii: "8") {
                    throw PinImport.failure("has a Unicode escape of an ASCII character (line \(line))")
                }
            }
            backslashes = octet == UInt8(ascii: "\\") ? backslashes + 1 : 0
        }
    }

    private struct Scanner {
        let octets: [UInt8]
        var index = 0
        var line = 1

        mutating func tokens() throws(PublishingError) -> [CodeToken] {
            var tokens: [CodeToken] = []
            while index < octets.count {
                let start = line
                let octet = octets[index]
                if octet <= 0x20 {
                    advance()
                } else if starts(with: "//") {
                    // A carriage return alone also ends a line.
                    while index < octets.count, !"\n\r".utf8.contains(octets[index]) { index += 1 }
                } else if starts(with: "/*") {
                    try skipComment()
                } else if starts(with: "\"\"\"") {
                    tokens.append(CodeToken(kind: .text(try text(until: "\"\"\"")), line: start))
                } else if octet == UInt8(ascii: "\"") {
                    tokens.append(CodeToken(kind: .text(try text(until: "\"")), line: start))
                } else if octet == UInt8(ascii: "'") {
                    _ = try text(until: "'")
                } else {
                    tokens.append(CodeToken(kind: .other(word()), line: start))
                }
            }
            return tokens
        }

        private func starts(with text: String) -> Bool { octets[index...].starts(with: text.utf8) }

        private mutating func advance() {
            if isLineEnd(at: index) { line += 1 }
            index += 1
        }

        private func isLineEnd(at index: Int) -> Bool {
            if octets[index] == UInt8(ascii: "\n") { return true }
            return octets[index] == UInt8(ascii: "\r") && octets[(index + 1)...].first != UInt8(ascii: "\n")
        }

        /// Kotlin's comments nest and Java's do not, so a nested comment would be code in one of the languages.
        private mutating func skipComment() throws(PublishingError) {
            let start = line
            index += 2
            while index < octets.count, !starts(with: "*/") {
                if starts(with: "/*") { throw PinImport.failure("has a comment inside of a comment (line \(line))") }
                advance()
            }
            guard index < octets.count else {
                throw PinImport.failure("has a comment that does not end (line \(start))")
            }
            index += 2
        }

        private mutating func text(until end: String) throws(PublishingError) -> String? {
            let start = line
            index += end.utf8.count
            var content: [UInt8] = []
            var isPlain = true
            while index < octets.count, !starts(with: end) {
                let octet = octets[index]
                if end.utf8.count == 1, "\n\r".utf8.contains(octet) { break }
                if octet == UInt8(ascii: "\\") || octet == UInt8(ascii: "$") { isPlain = false }
                content.append(octet)
                advance()
                if octet == UInt8(ascii: "\\"), end.utf8.count == 1, index < octets.count { advance() }
            }
            guard index < octets.count, starts(with: end) else {
                throw PinImport.failure("has a text that does not end (line \(start))")
            }
            index += end.utf8.count
            return isPlain ? String(decoding: content, as: UTF8.self) : nil
        }

        private mutating func word() -> String {
            let start = index
            while index < octets.count, isOfWord(octets[index]) { index += 1 }
            if index == start { index += 1 }
            return String(decoding: octets[start..<index], as: UTF8.self)
        }

        private func isOfWord(_ octet: UInt8) -> Bool {
            octet >= 0x80 || octet == 0x5F || (0x30...0x39).contains(octet) || (0x61...0x7A).contains(octet | 0x20)
        }
    }
}
