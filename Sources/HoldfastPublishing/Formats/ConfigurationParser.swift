import Holdfast

/// Reads XML 1.0 in UTF-8, without support for a document's own declarations.
///
/// A configuration needs no more. Foundation's parser would need libxml2, which a program on Linux loads together with
/// its own libraries.
struct ConfigurationParser {
    /// The document cannot be read.
    struct Fault: Error {
        /// The problem, if it has a name; nil if the document is not well-formed in another way.
        var problem: String?
        let line: Int
    }

    /// An element whose end tag has not been read.
    private struct OpenElement {
        let name: String
        let attributes: [String: String]
        let line: Int
        var children: [ConfigurationElement] = []
        var text: [UInt8] = []

        /// The element, at its end tag.
        func closed() throws(Fault) -> ConfigurationElement {
            if !children.isEmpty, !text.allSatisfy(isSpace) {
                throw Fault(problem: "has text beside elements", line: line)
            }
            return ConfigurationElement(
                name: name, attributes: attributes, line: line, children: children,
                text: String(decoding: text, as: UTF8.self))
        }
    }

    /// The maximum nesting depth. Anything deeper is not a configuration but an attack on this program.
    private static let maximumDepth = 32
    private static let longestReference = 16
    /// In bytes. None of the supported systems has names as long.
    private static let longestName = 255
    private static let named: [String: UInt8] = [
        "amp": UInt8(ascii: "&"), "lt": UInt8(ascii: "<"), "gt": UInt8(ascii: ">"), "quot": UInt8(ascii: "\""),
        "apos": UInt8(ascii: "'"),
    ]

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    /// - Parameter bytes: a document in UTF-8.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the document, and returns its outermost element.
    mutating func document() throws(Fault) -> ConfigurationElement {
        _ = take("\u{FEFF}")
        if follows("<?xml"), isSpace(byte(after: 5)) { try declaration() }
        var root: ConfigurationElement?
        var hasType = false
        while position < bytes.count {
            if isSpace(bytes[position]) {
                skipSpace()
            } else if try isSkipped() {
                continue
            } else if root == nil, !hasType, take("<!DOCTYPE") {
                try documentType()
                hasType = true
            } else if root == nil {
                root = try element()
            } else {
                throw fault()
            }
        }
        guard let root else { throw fault() }
        return root
    }

    private mutating func element() throws(Fault) -> ConfigurationElement {
        guard follows("<"), !follows("<!") else { throw fault() }
        var open: [OpenElement] = []
        while true {
            var ended: ConfigurationElement?
            if take("</") {
                let name = try readName()
                skipSpace()
                try expect(">")
                guard let last = open.popLast(), last.name.hasSameOctets(as: name) else { throw fault() }
                ended = try last.closed()
            } else if take("<![CDATA[") {
                Self.add(try text(until: "]]>"), to: &open)
            } else if try isSkipped() {
                continue
            } else if take("<") {
                guard open.count < Self.maximumDepth else { throw fault("nests too deep") }
                let (tag, isEmpty) = try startTag()
                if isEmpty { ended = try tag.closed() } else { open.append(tag) }
            } else if follows("&") {
                Self.add(try reference(), to: &open)
            } else {
                Self.add(try characters(), to: &open)
            }
            guard let ended else { continue }
            if open.isEmpty { return ended }
            open[open.count - 1].children.append(ended)
        }
    }

    private static func add(_ text: [UInt8], to open: inout [OpenElement]) {
        open[open.count - 1].text += text
    }

    /// Reads the rest of a start tag, after its `<`, and whether it is an end tag as well.
    private mutating func startTag() throws(Fault) -> (element: OpenElement, isEmpty: Bool) {
        let line = self.line
        let name = try readName()
        var attributes: [String: String] = [:]
        while true {
            let hasSpace = skipSpace()
            let isEmpty = take("/>")
            if isEmpty || take(">") { return (OpenElement(name: name, attributes: attributes, line: line), isEmpty) }
            guard hasSpace else { throw fault() }
            let key = try readName()
            skipSpace()
            try expect("=")
            skipSpace()
            guard try attributes.updateValue(attributeValue(), forKey: key) == nil else { throw fault() }
        }
    }

    private mutating func attributeValue() throws(Fault) -> String {
        let quote = byte(after: 0)
        guard take("\"") || take("'") else { throw fault() }
        var value: [UInt8] = []
        while byte(after: 0) != quote {
            switch byte(after: 0) {
            case UInt8(ascii: "&"): value += try reference()
            case UInt8(ascii: "<"), nil: throw fault()
            default:
                let read = try character()
                value += read.count == 1 && isSpace(read[0]) ? [0x20] : read
            }
        }
        move(by: 1)
        return String(decoding: value, as: UTF8.self)
    }

    /// Reads text up to markup, a reference, or the end.
    private mutating func characters() throws(Fault) -> [UInt8] {
        var text: [UInt8] = []
        while let next = byte(after: 0), next != UInt8(ascii: "<"), next != UInt8(ascii: "&") {
            guard !follows("]]>") else { throw fault() }
            text += try character()
        }
        // The document ends within an element.
        guard position < bytes.count else { throw fault() }
        return text
    }

    /// Reads everything before a mark, and the mark.
    private mutating func text(until mark: String) throws(Fault) -> [UInt8] {
        var text: [UInt8] = []
        while !take(mark) { text += try character() }
        return text
    }

    /// Reads one character. Every line ending becomes a line feed.
    private mutating func character() throws(Fault) -> [UInt8] {
        guard let first = byte(after: 0) else { throw fault() }
        if first == 0x0D {
            move(by: byte(after: 1) == 0x0A ? 2 : 1)
            return [0x0A]
        }
        guard first >= 0x20 || isSpace(first), !follows("\u{FFFE}"), !follows("\u{FFFF}") else { throw fault() }
        move(by: 1)
        return [first]
    }

    private mutating func reference() throws(Fault) -> [UInt8] {
        let start = position + 1
        guard let end = bytes[start...].prefix(Self.longestReference).firstIndex(of: UInt8(ascii: ";")) else {
            throw fault()
        }
        let name = String(decoding: bytes[start..<end], as: UTF8.self)
        move(by: end + 1 - position)
        if let byte = Self.named[name] { return [byte] }
        let digits = name.hasPrefix("#x") ? name.dropFirst(2) : name.dropFirst()
        // Swift's own parser accepts a sign as well.
        guard name.hasPrefix("#"), digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let number = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10), let scalar = Unicode.Scalar(number),
            number >= 0x20 || [0x09, 0x0A, 0x0D].contains(number), ![0xFFFE, 0xFFFF].contains(number)
        else { throw fault() }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func readName() throws(Fault) -> String {
        let name = bytes[position...].prefix(while: isOfName)
        guard let first = name.first, !"-.0123456789".utf8.contains(first), name.count <= Self.longestName else {
            throw fault()
        }
        move(by: name.count)
        return String(decoding: name, as: UTF8.self)
    }

    /// Reads a comment or a processing instruction if one follows.
    private mutating func isSkipped() throws(Fault) -> Bool {
        if take("<!--") {
            _ = try text(until: "--")
            try expect(">")
            return true
        }
        guard take("<?") else { return false }
        let target = try readName()
        guard target.lowercased() != "xml", isSpace(byte(after: 0)) || follows("?>") else { throw fault() }
        _ = try text(until: "?>")
        return true
    }

    /// Reads the declaration of version and encoding.
    private mutating func declaration() throws(Fault) {
        move(by: 5)
        while skipSpace(), !follows("?>") {
            let key = try readName()
            skipSpace()
            try expect("=")
            skipSpace()
            let value = try attributeValue()
            if key == "encoding", !["utf-8", "us-ascii"].contains(value.lowercased()) {
                throw fault("is not UTF-8; convert a copy of it")
            }
        }
        try expect("?>")
    }

    /// Skips the rest of a document type: a name and the address of its grammar, which is never read.
    private mutating func documentType() throws(Fault) {
        while !take(">") {
            switch byte(after: 0) {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): _ = try attributeValue()
            case UInt8(ascii: "["): throw fault("has declarations of its own")
            case UInt8(ascii: "<"): throw fault()
            default: _ = try character()
            }
        }
    }

    private func fault(_ problem: String? = nil) -> Fault { Fault(problem: problem, line: line) }

    private func byte(after offset: Int) -> UInt8? {
        position + offset < bytes.count ? bytes[position + offset] : nil
    }

    private func follows(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    private mutating func take(_ text: String) -> Bool {
        guard follows(text) else { return false }
        move(by: text.utf8.count)
        return true
    }

    private mutating func expect(_ text: String) throws(Fault) {
        guard take(text) else { throw fault() }
    }

    /// Whether any white space was skipped.
    @discardableResult
    private mutating func skipSpace() -> Bool {
        let space = bytes[position...].prefix(while: isSpace).count
        move(by: space)
        return space > 0
    }

    private mutating func move(by count: Int) {
        for byte in bytes[position..<(position + count)] where byte == 0x0A { line += 1 }
        position += count
    }
}

private func isSpace(_ byte: UInt8?) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

private func isOfName(_ byte: UInt8) -> Bool {
    byte >= 0x80 || (0x30...0x3A).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
        || [0x2D, 0x2E, 0x5F].contains(byte)
}
