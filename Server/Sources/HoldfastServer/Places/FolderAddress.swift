public import Foundation

/// Where clients find the server's folder (`holdfast-folder-address-v1`): what is written there counts as published once it
/// was read back at this address.
public struct FolderAddress: Sendable, Hashable {
    /// The address below which clients find documents.
    public let url: URL
    /// The canonical octets.
    public let octets: [UInt8]

    private static let format = "holdfast-folder-address-v1"
    private static let greatestSize = 4 << 10

    /// Names an address.
    /// - Throws: ``ServerError`` `invalidValue` for a text that is no address.
    public init(_ text: String) throws(ServerError) {
        url = try Place.address(text)
        octets = CanonicalJSON.object(["format": .text(Self.format), "url": .text(text)]).octets
    }

    /// Reads what is stored.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    init(_ octets: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(
            try CanonicalJSONReader.read(octets, "folder", limit: Self.greatestSize), "folder")
        try fields.text("format", Self.format) { $0.elementsEqual(Self.format.utf8) ? () : nil }
        let text = try fields.text("url", "an address") {
            ASCIIText.isPrintable($0, 1...1_024) ? String(decoding: $0, as: UTF8.self) : nil
        }
        try fields.finish()
        try self.init(text)
        guard self.octets == octets else {
            throw ServerError(.malformed, of: "folder", expected: "the one spelling", found: "another")
        }
    }
}
