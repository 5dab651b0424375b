public import Foundation

/// A place besides the server's folder to which documents of an app go, such as a bucket (`holdfast-place-v1`): a program
/// of the operator uploads them, and a client reads them back at the public address.
public struct Place: Sendable, Hashable {
    /// Its name: 1 to 32 lower-case letters, digits and hyphens.
    public let name: String
    /// The address below which clients find documents.
    public let url: URL
    /// What uploads.
    public let program: ProgramCommand
    /// The host name of the only machine that may upload, for a program that cannot write on a condition; nil for one that
    /// can, which several machines may run at a time.
    public let onlyPublisher: String?

    /// The canonical bytes.
    public let bytes: [UInt8]

    private static let format = "holdfast-place-v1"
    private static let maximumSize = 32 << 10

    /// Describes a place.
    /// - Throws: ``ServerError`` `invalidValue` for a name, an address or a host name that is not one.
    public init(
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

    /// Reads what is stored.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    init(_ bytes: [UInt8]) throws(ServerError) {
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
    /// - Throws: ``ServerError`` `invalidValue` for a text that is none.
    static func address(_ text: String) throws(ServerError) -> URL {
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
        (1...32).contains(bytes.count) && !bytes.elementsEqual(Catalog.folderPlace.utf8)
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// How long an uploader holds what it uploads, in seconds: its program has ended long before.
    var hold: Int64 { program.limit + 60 }
}
