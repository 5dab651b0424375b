package import Foundation
package import ServerFoundation

/// A destination other than the server's folder for documents of an app, such as a bucket (`holdfast-place-v1`). A
/// program of the operator uploads the documents, and a client reads them back at the public address.
package struct Place: Sendable, Hashable {
    /// The destination of all documents: the folder of the server.
    package static let folder = "folder"

    /// Its name: 1 to 32 lower-case letters, digits and hyphens.
    package let name: String
    /// The address below which clients find documents.
    package let url: URL
    /// The program that uploads.
    package let program: ProgramCommand
    /// The host name of the only machine that may upload, for a program without conditional writes; nil for a program
    /// with conditional writes, which several machines may run at a time.
    package let onlyPublisher: String?

    /// The canonical bytes.
    package let bytes: [UInt8]

    private static let format = "holdfast-place-v1"
    private static let maximumSize = 32 << 10

    /// Describes a destination.
    /// - Throws: ``ServerError`` `invalidValue` for an invalid name, address or host name.
    package init(
        name: String, url: String, program: ProgramCommand, onlyPublisher: String? = nil
    ) throws(ServerError) {
        guard Self.isName(name.utf8) else {
            throw ServerError(
                .invalidValue, of: "place", expected: "1 to 32 lower-case letters, digits and hyphens, not folder",
                found: "another name")
        }
        let address = try Self.address(url)
        guard onlyPublisher.map({ ASCIIText.isPrintable($0.utf8, 1...255) }) ?? true else {
            throw ServerError(.invalidValue, of: "publisher", expected: "the name of a machine", found: "another text")
        }
        self.name = name
        self.url = address
        self.program = program
        self.onlyPublisher = onlyPublisher
        var members: [String: CanonicalJSON] = [
            "format": .text(Self.format), "name": .text(name), "url": .text(url),
            "program": .text(String(decoding: program.bytes, as: UTF8.self)),
        ]
        if let onlyPublisher { members["publisher"] = .text(onlyPublisher) }
        bytes = CanonicalJSON.object(members).bytes
    }

    /// Reads the stored bytes.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(try CanonicalJSONReader.read(bytes, "place", limit: Self.maximumSize), "place")
        try fields.text("format", Self.format) { $0.elementsEqual(Self.format.utf8) ? () : nil }
        let name = try fields.text("name", "a name") { Self.isName($0) ? String(decoding: $0, as: UTF8.self) : nil }
        let url = try fields.text("url", "an address") {
            ASCIIText.isPrintable($0, 1...1_024) ? String(decoding: $0, as: UTF8.self) : nil
        }
        let program = try ProgramCommand(try fields.text("program"))
        let publisher = try fields.optionalText("publisher").map { String(decoding: $0, as: UTF8.self) }
        try fields.finish()
        try self.init(name: name, url: url, program: program, onlyPublisher: publisher)
        guard self.bytes == bytes else {
            throw ServerError(.malformed, of: "place", expected: "the one spelling", found: "another")
        }
    }

    /// The address below which clients find documents.
    /// - Throws: ``ServerError`` `invalidValue` for a text that is not an address.
    package static func address(_ text: String) throws(ServerError) -> URL {
        guard ASCIIText.isPrintable(text.utf8, 1...1_024), let address = URL(string: text), let host = address.host,
            !host.isEmpty, address.scheme == "https" || address.scheme == "http", address.query == nil,
            address.fragment == nil, address.user() == nil, address.password() == nil
        else {
            throw ServerError(
                .invalidValue, of: "url", expected: "an address such as https://pins.example.com", found: "another text"
            )
        }
        return address
    }

    private static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        (1...32).contains(bytes.count) && !bytes.elementsEqual(Place.folder.utf8)
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// The duration of an uploader's lease, in seconds: longer than its program may run.
    package var hold: Int64 { program.limit + 60 }
}
