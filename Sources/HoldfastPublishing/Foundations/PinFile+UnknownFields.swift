package import Holdfast

package import struct Foundation.Data

extension PinFile {
    /// A field that this version ignores.
    package struct UnknownField: Sendable, Equatable {
        /// The object that has a field. Hosts and pins are numbered in the order of the file.
        package enum Place: Sendable, Hashable {
            case file
            case refresh
            case host(Int)
            case report(Int)
            case pin(Int, Int)
        }

        /// The path of the field, such as `hosts[3].note`, for messages.
        package let path: String
        /// The object that has it.
        package let place: Place
        /// The name of the field; empty if it is not ASCII.
        package let name: String
        /// The value as it is written in the file.
        package let value: [UInt8]
    }

    /// The fields of a pin file that this version ignores. Someone who signs or rewrites the file needs to know them.
    /// - Parameter json: a file that can be read.
    /// - Throws: ``DocumentError`` if it is not JSON.
    package static func unknownFields(in json: Data) throws(DocumentError) -> [UnknownField] {
        var search = PinFileFieldSearch(
            json: try StrictJSONReader([UInt8](json), maximumBytes: PinFileLimits.bytes))
        try search.walk(.file, at: .file)
        return search.found
    }
}

/// Finds fields that the reader does not know in their object.
private struct PinFileFieldSearch {
    var json: StrictJSONReader
    private(set) var found: [PinFile.UnknownField] = []

    init(json: StrictJSONReader) { self.json = json }

    mutating func walk(_ shape: PinFileShape, at place: PinFile.UnknownField.Place) throws(DocumentError) {
        let fields = shape.fields
        try json.beginObject()
        while let name = try json.nextKey() {
            guard let field = fields[name] else {
                // The reader drops names that are not ASCII.
                let path = name.isEmpty ? json.path + ".(a name that is not ASCII)" : json.path
                found.append(
                    PinFile.UnknownField(path: path, place: place, name: name, value: Array(try json.valueOctets())))
                continue
            }
            guard let inner = field else {
                try json.skipValue()
                continue
            }
            guard json.nextKind == .array else {
                try walk(inner, at: Self.place(of: inner, 0, in: place))
                continue
            }
            try json.beginArray()
            var index = 0
            while try json.nextElement() {
                try walk(inner, at: Self.place(of: inner, index, in: place))
                index += 1
            }
        }
    }

    private static func place(
        of shape: PinFileShape, _ index: Int, in outer: PinFile.UnknownField.Place
    ) -> PinFile.UnknownField.Place {
        switch (shape, outer) {
        case (.refresh, _): .refresh
        case (.host, _): .host(index)
        case (.report, .host(let host)): .report(host)
        case (.pin, .host(let host)): .pin(host, index)
        default: .file
        }
    }
}
