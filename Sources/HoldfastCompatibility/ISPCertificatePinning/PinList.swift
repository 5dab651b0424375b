import Foundation
import Holdfast

/// Reads the one kind of property list in which pins are stored, binary or XML: a dictionary of arrays of data.
///
/// Foundation's decoder reads every kind, and an attacker can make it crash the process: with elements nested ten
/// thousand deep, or with a binary list whose entries are all the same large object, which it copies for each entry.
/// This reader does not recurse, and its output has a budget.
struct PinList {
    /// Maximum number of bytes of all certificates together, plus some for each: more than any file can contain unless
    /// its entries share objects.
    static let maximumDecodedBytes = 2 * CertificateFile.maximumBytes
    private static let overhead = 64
    /// Maximum number of bytes of a domain in its canonical form, which is ASCII.
    private static let maximumKeyBytes = 1_024

    private let bytes: [UInt8]
    private var spent = 0

    /// The certificates of each domain, as written in the list.
    /// - Throws: `CocoaError` `propertyListReadCorrupt`; `fileReadTooLarge` past the budget.
    static func read(_ data: Data) throws -> [String: [Data]] {
        var list = PinList(bytes: Array(data))
        return try list.bytes.starts(with: Array("bplist0".utf8)) ? list.readBinary() : list.readXML()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private static let corrupt = CocoaError(.propertyListReadCorrupt)

    private mutating func spend(_ count: Int) throws {
        spent += count + Self.overhead
        guard spent <= Self.maximumDecodedBytes else { throw CocoaError(.fileReadTooLarge) }
    }
}

// MARK: - Binary

extension PinList {
    /// An object: the meaning of its marker, and where its content begins.
    private struct Object {
        let kind: UInt8
        let count: Int
        let start: Int
    }

    private struct Trailer {
        let offsetSize: Int
        let referenceSize: Int
        let objects: Int
        let table: Int
    }

    private mutating func readBinary() throws -> [String: [Data]] {
        let end = bytes.count - 32
        guard end > 8 else { throw Self.corrupt }
        let trailer = Trailer(
            offsetSize: Int(bytes[end + 6]), referenceSize: Int(bytes[end + 7]),
            objects: try number(at: end + 8, size: 8),
            table: try number(at: end + 24, size: 8))
        let top = try object(try number(at: end + 16, size: 8), trailer)
        guard top.kind == 0xD0 else { throw Self.corrupt }
        var found: [String: [Data]] = [:]
        for index in 0..<top.count {
            let key = try text(of: try object(try reference(index, of: top, trailer), trailer))
            let list = try object(try reference(top.count + index, of: top, trailer), trailer)
            guard list.kind == 0xA0, found[key] == nil else { throw Self.corrupt }
            try spend(key.utf8.count)
            var certificates: [Data] = []
            for place in 0..<list.count {
                let one = try object(try reference(place, of: list, trailer), trailer)
                guard one.kind == 0x40 else { throw Self.corrupt }
                let octets = try content(at: one.start, count: one.count)
                try spend(one.count)
                certificates.append(Data(octets))
            }
            found[key] = certificates
        }
        return found
    }

    private func object(_ number: Int, _ trailer: Trailer) throws -> Object {
        guard number < trailer.objects else { throw Self.corrupt }
        let (place, overflow) = number.multipliedReportingOverflow(by: trailer.offsetSize)
        guard !overflow, place <= bytes.count, trailer.table <= bytes.count else { throw Self.corrupt }
        var start = try self.number(at: trailer.table + place, size: trailer.offsetSize)
        guard start < bytes.count else { throw Self.corrupt }
        let marker = bytes[start]
        start += 1
        guard marker & 0x0F == 0x0F else {
            return Object(kind: marker & 0xF0, count: Int(marker & 0x0F), start: start)
        }
        // The count is an integer object of 1, 2, 4 or 8 bytes.
        guard start < bytes.count, bytes[start] & 0xFC == 0x10 else { throw Self.corrupt }
        let size = 1 << Int(bytes[start] & 0x03)
        return Object(kind: marker & 0xF0, count: try self.number(at: start + 1, size: size), start: start + 1 + size)
    }

    /// The number of the object at a position in a dictionary or an array.
    private func reference(_ place: Int, of object: Object, _ trailer: Trailer) throws -> Int {
        let (distance, overflow) = place.multipliedReportingOverflow(by: trailer.referenceSize)
        guard !overflow, distance <= bytes.count else { throw Self.corrupt }
        return try number(at: object.start + distance, size: trailer.referenceSize)
    }

    private func text(of object: Object) throws -> String {
        guard object.count <= Self.maximumKeyBytes else { throw Self.corrupt }
        let text: String? =
            switch object.kind {
            case 0x50: String(strictUTF8: try content(at: object.start, count: object.count))
            case 0x60: String(strictUTF16: try units(of: object))
            default: nil
            }
        guard let text, text.isASCII(atMost: Self.maximumKeyBytes) else { throw Self.corrupt }
        return text
    }

    private func units(of object: Object) throws -> [UInt16] {
        let (count, overflow) = object.count.multipliedReportingOverflow(by: 2)
        guard !overflow else { throw Self.corrupt }
        // Checked first, so that no more memory is reserved than the file has bytes.
        let octets = try content(at: object.start, count: count)
        return stride(from: octets.startIndex, to: octets.endIndex, by: 2).map {
            UInt16(octets[$0]) << 8 | UInt16(octets[$0 + 1])
        }
    }

    private func content(at start: Int, count: Int) throws -> ArraySlice<UInt8> {
        guard count <= bytes.count, start <= bytes.count - count else { throw Self.corrupt }
        return bytes[start..<start + count]
    }

    private func number(at start: Int, size: Int) throws -> Int {
        guard (1...8).contains(size) else { throw Self.corrupt }
        let value = try content(at: start, count: size).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        // Every file that is read has fewer bytes than this.
        guard value <= UInt64(Int32.max) else { throw Self.corrupt }
        return Int(value)
    }
}

// MARK: - XML

extension PinList {
    private mutating func readXML() throws -> [String: [Data]] {
        var scanner = Scanner(bytes: bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanner.position = 3 }
        try scanner.skip()
        if try scanner.takes("<plist version=\"1.0\">") == false { try scanner.take("<plist>") }
        var found: [String: [Data]] = [:]
        if try scanner.takes("<dict/>") == false {
            try scanner.take("<dict>")
            while try scanner.takes("</dict>") == false {
                try scanner.take("<key>")
                let key = try scanner.text(before: "</key>")
                guard found[key] == nil else { throw Self.corrupt }
                try spend(key.utf8.count)
                found[key] = try certificates(from: &scanner)
            }
        }
        try scanner.take("</plist>")
        guard scanner.position == bytes.count else { throw Self.corrupt }
        return found
    }

    private mutating func certificates(from scanner: inout Scanner) throws -> [Data] {
        if try scanner.takes("<array/>") { return [] }
        try scanner.take("<array>")
        var certificates: [Data] = []
        while try scanner.takes("</array>") == false {
            if try scanner.takes("<data/>") {
                try spend(0)
                certificates.append(Data())
                continue
            }
            try scanner.take("<data>")
            let base64 = try scanner.octets(before: "</data>").filter { !Scanner.isSpace($0) }
            try scanner.skip()
            guard let certificate = Data(base64Encoded: Data(base64)) else { throw Self.corrupt }
            try spend(certificate.count)
            certificates.append(certificate)
        }
        return certificates
    }

    /// A cursor over the tags of such a list.
    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        static func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || (0x09...0x0D).contains(octet) }

        /// Skips white space, comments and declarations.
        mutating func skip() throws {
            while true {
                while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
                if starts("<!--") {
                    _ = try octets(before: "-->")
                } else if starts("<?") {
                    _ = try octets(before: "?>")
                } else if starts("<!DOCTYPE") {
                    guard try !octets(before: ">").contains(UInt8(ascii: "[")) else { throw PinList.corrupt }
                } else {
                    return
                }
            }
        }

        /// Whether this tag comes next; if so, skips it and anything meaningless after it.
        mutating func takes(_ tag: StaticString) throws -> Bool {
            guard starts(tag) else { return false }
            position += tag.utf8CodeUnitCount
            // Within these, every byte has a meaning.
            if tag.description != "<key>", tag.description != "<data>" { try skip() }
            return true
        }

        mutating func take(_ tag: StaticString) throws {
            guard try takes(tag) else { throw PinList.corrupt }
        }

        /// The bytes before a mark; skips the mark.
        mutating func octets(before mark: StaticString) throws -> ArraySlice<UInt8> {
            let start = position
            while position < bytes.count {
                guard let next = bytes[position...].firstIndex(of: mark.description.utf8.first ?? 0) else { break }
                position = next
                if starts(mark) {
                    position += mark.utf8CodeUnitCount
                    return bytes[start..<next]
                }
                position += 1
            }
            throw PinList.corrupt
        }

        mutating func text(before mark: StaticString) throws -> String {
            var text = String(decoding: try octets(before: mark), as: UTF8.self)
            guard text.isASCII(atMost: PinList.maximumKeyBytes), !text.contains("<") else { throw PinList.corrupt }
            try skip()
            for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'")] {
                text = text.replacingOccurrences(of: entity, with: character)
            }
            guard !text.replacingOccurrences(of: "&amp;", with: "").contains("&") else { throw PinList.corrupt }
            return text.replacingOccurrences(of: "&amp;", with: "&")
        }

        private func starts(_ text: StaticString) -> Bool {
            bytes[position...].starts(with: text.description.utf8)
        }
    }
}
