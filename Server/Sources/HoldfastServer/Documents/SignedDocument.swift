/// A document of a content, as it is to be published.
struct SignedDocument: Sendable, Hashable {
    /// Its format.
    let kind: ContentFormat.Kind
    /// Its path, without a slash at the beginning.
    let path: String
    /// The value of `Content-Type`.
    let mediaType: String
    /// The bytes.
    let bytes: [UInt8]
    /// After how many seconds clients ask again.
    let refresh: Int64
    /// The last second at which clients accept it, in seconds since 1970.
    let end: Int64
}

extension ContentFormat {
    /// Where clients find the document; nil for formats that are not one file.
    func path(of app: AppName) -> String? {
        switch kind {
        case .challenge, .repository: nil
        case .list: "lists/\(app).json"
        case .trustServer: "trust/\(customer ?? "").json.signed"
        case .pinFile: "pins/\(app).pins.json"
        }
    }

    var mediaType: String {
        switch kind {
        case .challenge, .list, .pinFile, .repository: "application/json"
        case .trustServer: "application/pkcs7-mime"
        }
    }
}
