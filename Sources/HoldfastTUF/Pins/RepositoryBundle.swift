package import Foundation
import Holdfast

/// All files of a pin repository in one file, each as it was served: `bundle.json` (docs/formats.md).
///
/// A file is not trusted because it is in the bundle: it is verified like a file that is downloaded alone. A file that
/// the bundle lacks is treated as missing from the repository.
package struct RepositoryBundle: Sendable, Equatable {
    /// The version of the format.
    package static let schema: Int64 = 1
    /// Enough for a root each week for twenty years.
    static let mostRoots = 1_024

    /// The version of the first of ``roots``. Each following root has the next version.
    package var firstRoot: Int64 = 1
    /// Root files, in ascending order without a gap.
    package var roots: [Data] = []
    /// The file of the timestamp role.
    package var timestamp: Data?
    /// The file of the snapshot role.
    package var snapshot: Data?
    /// The file of the targets role.
    package var targets: Data?
    /// The pin file.
    package var pins: Data?

    /// Makes an empty bundle.
    package init() {}

    /// Reads a bundle. It leaves the size limit of each file to the workflow, so that a file that is too large fails as
    /// it would by itself.
    /// - Throws: ``TUFError`` `malformed` or `tooLarge`.
    package init(_ octets: [UInt8], maximumBytes: Int) throws(TUFError) {
        do throws(DocumentError) {
            var reader = try StrictJSONReader(octets, maximumBytes: maximumBytes)
            try self.init(&reader)
            try reader.finish()
        } catch {
            throw TUFError(reading: error)
        }
    }

    /// Reads a bundle at the reader's position.
    init(_ reader: inout StrictJSONReader) throws(DocumentError) {
        var isOfSchema = false
        var firstRoot: Int64?
        try reader.beginObject()
        while let field = try reader.nextKey() {
            switch field {
            case "schema":
                let schema = try reader.integer()
                guard schema == Self.schema else { throw reader.error(.invalidValue, "\(Self.schema)", "\(schema)") }
                isOfSchema = true
            case "firstRoot":
                let version = try reader.integer()
                guard version >= 1 else { throw reader.error(.invalidValue, "a version of 1 or later", "\(version)") }
                firstRoot = version
            case "roots": roots = try Self.roots(&reader)
            case "timestamp": timestamp = try Self.file(&reader)
            case "snapshot": snapshot = try Self.file(&reader)
            case "targets": targets = try Self.file(&reader)
            case "pins": pins = try Self.file(&reader)
            default: try reader.skipValue()
            }
        }
        guard isOfSchema, let firstRoot else {
            throw reader.error(.missingField, "schema and firstRoot", "a bundle without one of them")
        }
        self.firstRoot = firstRoot
    }

    private static func roots(_ reader: inout StrictJSONReader) throws(DocumentError) -> [Data] {
        var roots: [Data] = []
        try reader.beginArray()
        while try reader.nextElement() {
            guard roots.count < mostRoots else {
                throw reader.error(.tooManyEntries, "at most \(mostRoots) roots", "more")
            }
            roots.append(try file(&reader))
        }
        return roots
    }

    private static func file(_ reader: inout StrictJSONReader) throws(DocumentError) -> Data {
        let text = try reader.octets(of: "the Base64 of a file")
        guard let octets = CanonicalBase64.decode(text) else {
            throw reader.error(.notCanonicalBase64, "the Base64 of a file", "another text")
        }
        return Data(octets)
    }

    /// The root of a version; nil if the bundle does not have it.
    func root(version: Int64) -> Data? {
        let index = version - firstRoot
        return index >= 0 && index < Int64(roots.count) ? roots[Int(clamping: index)] : nil
    }

    /// The issue time of the bundle's pin file, not verified. It is nil without a pin file that states it, and no proof
    /// accepts such a bundle.
    var date: Date? { pins.flatMap { try? PinFile(json: $0) }?.issuedAt }

    /// The bundle as JSON, one file per line. Equal bundles give equal bytes.
    package var json: Data {
        var lines = ["\"schema\": \(Self.schema)", "\"firstRoot\": \(firstRoot)"]
        let all = roots.map { "\"\(CanonicalBase64.encode($0))\"" }
        lines.append(all.isEmpty ? "\"roots\": []" : "\"roots\": [\n    \(all.joined(separator: ",\n    "))\n  ]")
        for (name, file) in [
            ("timestamp", timestamp), ("snapshot", snapshot), ("targets", targets), ("pins", pins),
        ] {
            if let file { lines.append("\"\(name)\": \"\(CanonicalBase64.encode(file))\"") }
        }
        return Data("{\n  \(lines.joined(separator: ",\n  "))\n}\n".utf8)
    }
}
