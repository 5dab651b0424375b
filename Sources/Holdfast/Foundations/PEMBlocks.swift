import struct Foundation.Data

/// The blocks of a PEM file (RFC 7468), read line by line from octets: text between the blocks may be of any encoding
/// and lines of any length, and a block that cannot be decoded takes no other with it.
struct PEMBlocks {
    struct Block {
        /// What follows `BEGIN`, for example `CERTIFICATE`.
        let label: String
        /// nil where the block is not Base64, or does not end as it began.
        let content: [UInt8]?
    }

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    static func read(_ data: Data) -> [Block] {
        var blocks: [Block] = []
        var label: [UInt8]?
        var base64: [UInt8] = []
        func close(_ label: [UInt8], with content: [UInt8]?) {
            // Labels are compared: one that is not ASCII and short (RFC 7468 3) is none that is known.
            let isLabel = label.count <= 64 && label.allSatisfy { $0 < 0x80 }
            blocks.append(Block(label: isLabel ? String(decoding: label, as: UTF8.self) : "", content: content))
        }
        var bytes = Array(data)[...]
        if bytes.starts(with: byteOrderMark) { bytes = bytes.dropFirst(byteOrderMark.count) }
        for line in bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            let line = trimmed(line)
            if let next = name(in: line, after: begin) {
                if let label { close(label, with: nil) }
                (label, base64) = (next, [])
            } else if let open = label, let last = name(in: line, after: end) {
                let content = last == open ? Data(base64Encoded: Data(base64)) : nil
                close(open, with: content.map { Array($0) })
                label = nil
            } else if label != nil {
                base64 += line
            }
        }
        if let label { close(label, with: nil) }
        return blocks
    }

    private static func name(in line: ArraySlice<UInt8>, after prefix: [UInt8]) -> [UInt8]? {
        guard line.starts(with: prefix), line.count >= prefix.count + dashes.count,
            line.suffix(dashes.count) == dashes[...]
        else { return nil }
        return Array(line.dropFirst(prefix.count).dropLast(dashes.count))
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (octet: UInt8) in octet == UInt8(ascii: " ") || octet == UInt8(ascii: "\t") }
        var line = line.drop(while: isSpace)
        while let last = line.last, isSpace(last) { line = line.dropLast() }
        return line
    }
}
