package import Holdfast

package import struct Foundation.Data

extension PinFile {
    /// A field that this version ignores.
    package struct UnknownField: Sendable, Equatable {
        /// Where it stands, such as `hosts[3].note`.
        package let path: String
        /// Its value as it stands there.
        package let value: [UInt8]
    }

    /// The fields of a pin file that this version ignores. Someone who signs or rewrites the file needs to know them.
    /// - Parameter json: a file that can be read.
    /// - Throws: ``DocumentError`` if it is not JSON.
    package static func unknownFields(in json: Data) throws(DocumentError) -> [UnknownField] {
        var search = PinFileFieldSearch(
            json: try StrictJSONReader([UInt8](json), maximumBytes: PinFileLimits.bytes))
        try search.walk(.file)
        return search.found
    }
}

/// Finds fields that the reader does not know at their place.
private struct PinFileFieldSearch {
    var json: StrictJSONReader
    private(set) var found: [PinFile.UnknownField] = []

    init(json: StrictJSONReader) { self.json = json }

    mutating func walk(_ shape: PinFileShape) throws(DocumentError) {
        let fields = shape.fields
        try json.beginObject()
        while let name = try json.nextKey() {
            guard let field = fields[name] else {
                // The reader drops names that are not ASCII.
                let path = name.isEmpty ? json.path + ".(a name that is not ASCII)" : json.path
                found.append(PinFile.UnknownField(path: path, value: Array(try json.valueOctets())))
                continue
            }
            guard let inner = field else {
                try json.skipValue()
                continue
            }
            guard json.nextKind == .array else {
                try walk(inner)
                continue
            }
            try json.beginArray()
            while try json.nextElement() { try walk(inner) }
        }
    }
}
