package import ServerFoundation
package import ServerModel

/// A document of a content, ready to be published.
package struct SignedDocument: Sendable, Hashable {
    /// Its format.
    package let kind: ContentFormat.Kind
    /// Its path, without a slash at the beginning.
    package let path: String
    /// The value of `Content-Type`.
    package let mediaType: String
    /// The bytes.
    package let bytes: [UInt8]
    /// The refresh interval of clients, in seconds.
    package let refresh: Int64
    /// The last second at which clients accept it, in seconds since 1970.
    package let end: Int64

    package init(kind: ContentFormat.Kind, path: String, mediaType: String, bytes: [UInt8], refresh: Int64, end: Int64)
    {
        self.kind = kind
        self.path = path
        self.mediaType = mediaType
        self.bytes = bytes
        self.refresh = refresh
        self.end = end
    }
}

extension ContentFormat {
    /// The path at which clients find the document; nil for formats that are not one file.
    package func path(of app: AppName) -> String? {
        switch kind {
        case .challenge, .repository: nil
        case .list: "lists/\(app).json"
        case .trustServer: "trust/\(customer ?? "").json.signed"
        case .pinFile: "pins/\(app).pins.json"
        }
    }

    package var mediaType: String {
        switch kind {
        case .challenge, .list, .pinFile, .repository: "application/json"
        case .trustServer: "application/pkcs7-mime"
        }
    }
}
