package import struct Foundation.Data

/// The blocks of a PEM file (RFC 7468), read line by line from bytes: text between the blocks may be of any encoding
/// and lines of any length, and a block that cannot be decoded does not affect the others.
package struct PEMBlocks {
    /// Why a block cannot be decoded, without quoting the file: a damaged key is still a secret.
    package struct Problem: Error, Sendable {
        /// The line at fault, counted from 1.
        package let line: Int
        package let expected: String
        package let found: String

        /// `expected … in line n, found …`
        package var text: String { "expected \(expected) in line \(line), found \(found)" }
    }

    package struct Block: Sendable {
        /// The text after `BEGIN`, for example `CERTIFICATE`; empty if that is not a label (RFC 7468 3).
        package let label: String
        /// The line of its BEGIN, counted from 1.
        package let line: Int
        package let content: Result<[UInt8], Problem>

        /// The kind of block, safe for a message: a mistyped label may contain anything.
        package var name: String { PEMBlocks.knownLabels.contains(label) ? label : "an unknown kind" }

        /// The content of the block according to its label.
        package var kind: Kind {
            switch label {
            case "CERTIFICATE", "X509 CERTIFICATE": .certificate
            case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": .certificateRequest
            case "PUBLIC KEY": .publicKey
            case "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY": .privateKey
            case "ENCRYPTED PRIVATE KEY": .encryptedPrivateKey
            default: .other
            }
        }
    }

    /// The kinds of content that Holdfast reads from PEM. Older labels of openssl mean the same as those of RFC 7468.
    package enum Kind: Sendable {
        case certificate, certificateRequest, publicKey, privateKey, encryptedPrivateKey, other
    }

    /// The labels of RFC 7468 and those that openssl writes.
    private static let knownLabels: Set<String> = [
        "ATTRIBUTE CERTIFICATE", "CERTIFICATE", "CERTIFICATE REQUEST", "CMS", "DH PARAMETERS", "DSA PARAMETERS",
        "DSA PRIVATE KEY", "EC PARAMETERS", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "NEW CERTIFICATE REQUEST",
        "OPENSSH PRIVATE KEY", "PKCS7", "PRIVATE KEY", "PUBLIC KEY", "RSA PRIVATE KEY", "RSA PUBLIC KEY",
        "TRUSTED CERTIFICATE", "X509 CERTIFICATE", "X509 CRL",
    ]

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// A block whose end has not been read yet.
    private struct Open {
        let label: [UInt8]
        let line: Int
        var base64: [UInt8] = []
        var problem: Problem?

        var block: Block {
            let label = PEMBlocks.text(label)
            if let problem { return Block(label: label, line: line, content: .failure(problem)) }
            guard let content = Data(base64Encoded: Data(base64)) else {
                let problem = Problem(
                    line: line, expected: "a block of whole Base64",
                    found: "\(base64.count) characters that are not Base64")
                return Block(label: label, line: line, content: .failure(problem))
            }
            return Block(label: label, line: line, content: .success(Array(content)))
        }

        mutating func add(_ line: ArraySlice<UInt8>, at number: Int) {
            base64 += line
            guard problem == nil, !line.allSatisfy(PEMBlocks.isBase64) else { return }
            problem = Problem(line: number, expected: "Base64 or \(ending)", found: "other characters")
        }

        mutating func end(at number: Int, found: String) {
            guard problem == nil else { return }
            problem = Problem(line: number, expected: ending, found: found)
        }

        private var ending: String {
            let label = PEMBlocks.text(label)
            return PEMBlocks.knownLabels.contains(label) ? "-----END \(label)-----" : "the END of the block"
        }
    }

    package static func read(_ data: Data) -> [Block] {
        var blocks: [Block] = []
        var open: Open?
        var bytes = Array(data)[...]
        if bytes.starts(with: byteOrderMark) { bytes = bytes.dropFirst(byteOrderMark.count) }
        var number = 0
        forEachLine(of: bytes) { line in
            number += 1
            let line = trimmed(line)
            if let next = name(in: line, after: begin) {
                open?.end(at: number, found: "the BEGIN of another block")
                if let open { blocks.append(open.block) }
                open = Open(label: next, line: number)
            } else if open != nil, let last = name(in: line, after: end) {
                if last != open?.label { open?.end(at: number, found: "another END") }
                if let open { blocks.append(open.block) }
                open = nil
            } else {
                open?.add(line, at: number)
            }
        }
        open?.end(at: number, found: "the end of the file")
        if let open { blocks.append(open.block) }
        return blocks
    }

    /// Lines end with LF, CR LF or CR; a last line may have no end.
    private static func forEachLine(of bytes: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
        var start = bytes.startIndex
        var position = start
        while position < bytes.endIndex {
            let octet = bytes[position]
            guard octet == UInt8(ascii: "\n") || octet == UInt8(ascii: "\r") else {
                position += 1
                continue
            }
            body(bytes[start..<position])
            position += 1
            if octet == UInt8(ascii: "\r"), position < bytes.endIndex, bytes[position] == UInt8(ascii: "\n") {
                position += 1
            }
            start = position
        }
        if start < bytes.endIndex { body(bytes[start...]) }
    }

    private static func name(in line: ArraySlice<UInt8>, after prefix: [UInt8]) -> [UInt8]? {
        guard line.starts(with: prefix), line.count >= prefix.count + dashes.count,
            line.suffix(dashes.count) == dashes[...]
        else { return nil }
        return Array(line.dropFirst(prefix.count).dropLast(dashes.count))
    }

    /// A label as text: short and ASCII, so that comparing it costs nothing.
    private static func text(_ label: [UInt8]) -> String {
        guard label.count <= 64, label.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return "" }
        return String(decoding: label, as: UTF8.self)
    }

    private static func isBase64(_ octet: UInt8) -> Bool {
        CanonicalBase64.value(of: octet) != nil || octet == UInt8(ascii: "=")
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (octet: UInt8) in octet == UInt8(ascii: " ") || octet == UInt8(ascii: "\t") }
        var line = line.drop(while: isSpace)
        while let last = line.last, isSpace(last) { line = line.dropLast() }
        return line
    }
}
