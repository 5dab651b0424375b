import Foundation
import Holdfast
import HoldfastSigning

/// The fields of a pin file that this version does not know, so that a rewritten file keeps them. Each field stays at
/// its position as long as its host or pin is in the file.
struct PinFileKeptFields: Sendable {
    /// The object that has a field.
    private enum Place: Hashable {
        case file
        case refresh
        case host(HostPattern)
        case report(HostPattern)
        case pin(HostPattern, Pin, PinFile.KeyPin.Role)
    }

    private struct Field: Hashable {
        let place: Place
        let name: String
        let value: [UInt8]
    }

    private let fields: [Field]
    private let file: String

    /// - Parameters:
    ///   - data: the file as it was read, which is valid.
    ///   - name: its name for messages.
    init(_ data: Data, of file: PinFileDocument, named name: String) throws(PublishingError) {
        var fields: [Field] = []
        for field in file.fields {
            guard let found = Self.field(field, in: file.file) else {
                throw PublishingError(
                    .invalidDocument, of: "\(name), \(field.path)", expected: "a field that can be kept as it is",
                    found: "one whose name is not plain ASCII", remedy: "Edit the file by other means.")
            }
            fields.append(found)
        }
        // `critical` is known, but it lists fields that are kept here.
        if let critical = try Self.critical(data, named: name) {
            fields.append(Field(place: .file, name: "critical", value: critical))
        }
        self.fields = fields
        self.file = name
    }

    private static func critical(_ data: Data, named name: String) throws(PublishingError) -> [UInt8]? {
        do throws(DocumentError) {
            var json = try StrictJSONReader([UInt8](data), maximumBytes: PinFileLimits.bytes)
            try json.beginObject()
            while let key = try json.nextKey() {
                guard key != "critical" else { return Array(try json.valueOctets()) }
                try json.skipValue()
            }
            return nil
        } catch {
            throw PublishingError(
                .invalidDocument, of: name, expected: "a pin file", found: ForeignErrorText.found(error))
        }
    }

    /// - Returns: nil for a name that cannot be written as it was.
    private static func field(_ field: PinFile.UnknownField, in file: PinFile) -> Field? {
        guard !field.name.isEmpty,
            field.name.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else { return nil }
        let place: Place
        switch field.place {
        case .file: place = .file
        case .refresh: place = .refresh
        case .host(let host), .report(let host), .pin(let host, _):
            guard file.hosts.indices.contains(host) else { return nil }
            let entry = file.hosts[host]
            switch field.place {
            case .report: place = .report(entry.pattern)
            case .pin(_, let pin):
                guard entry.pins.indices.contains(pin) else { return nil }
                place = .pin(entry.pattern, entry.pins[pin].pin, entry.pins[pin].role)
            default: place = .host(entry.pattern)
            }
        }
        return Field(place: place, name: field.name, value: field.value)
    }

    /// The file as JSON, with the kept fields.
    /// - Throws: if the output would not read as the expected file.
    func write(_ file: PinFile) throws(PublishingError) -> Data {
        guard !fields.isEmpty else { return file.json }
        var lines: [String] = []
        var host = -1
        var pin = -1
        func texts(_ place: Place) -> [String] {
            fields.filter { $0.place == place }.map { "\"\($0.name)\": \(String(decoding: $0.value, as: UTF8.self))" }
        }
        /// Adds the fields to an object in one line.
        func adding(_ place: Place, to line: Substring) -> String {
            let added = texts(place)
            guard !added.isEmpty, let end = line.lastIndex(of: "}") else { return String(line) }
            return line[..<end] + ", " + added.joined(separator: ", ") + line[end...]
        }
        // The writer puts each pin on one line, and the beginning and the end of a host on separate lines.
        for line in String(decoding: file.json, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        {
            switch line {
            case _ where line.hasPrefix("  \"schema\":"):
                lines.append(String(line))
                lines += texts(.file).map { "  \($0)," }
            case _ where line.hasPrefix("  \"refresh\": {"): lines.append(adding(.refresh, to: line))
            case "    {":
                (host, pin) = (host + 1, -1)
                lines.append(String(line))
            case _ where line.hasPrefix("        {\"pin\":"):
                pin += 1
                let entry = file.hosts[host]
                lines.append(adding(.pin(entry.pattern, entry.pins[pin].pin, entry.pins[pin].role), to: line))
            case _ where line.hasPrefix("      \"report\": {"):
                lines.append(adding(.report(file.hosts[host].pattern), to: line))
            case "    }", "    },":
                for text in texts(.host(file.hosts[host].pattern)) {
                    lines[lines.count - 1] += ","
                    lines.append("      \(text)")
                }
                lines.append(String(line))
            default: lines.append(String(line))
            }
        }
        let data = Data(lines.joined(separator: "\n").utf8)
        try check(data, says: file)
        return data
    }

    /// Reads the output as a client does, and compares it.
    private func check(_ data: Data, says expected: PinFile) throws(PublishingError) {
        let written = try PinFileDocument(data, named: file)
        let read = try PinFileKeptFields(data, of: written, named: file)
        let present = Set(
            expected.hosts.flatMap { host in
                [.host(host.pattern)] + (host.report == nil ? [] : [Place.report(host.pattern)])
                    + host.pins.map { .pin(host.pattern, $0.pin, $0.role) }
            } + [.file] + (expected.refresh == nil ? [] : [.refresh]))
        guard written.file == expected, Set(read.fields) == Set(fields.filter { present.contains($0.place) }) else {
            throw PublishingError(
                .invalidDocument, of: file, expected: "fields that can be kept as they are",
                found: "a field that would be read differently", remedy: "Edit the file by other means.")
        }
    }
}
