import ServerFoundation

/// A request to replace a key: `{"replaces","customer"}`.
struct KeyBody: Sendable {
    /// The SHA-256 of the public key to replace, so that a repeated call replaces nothing twice.
    let replaces: Digest
    /// The customer of a trust server; nil for the one whose document is published.
    let customer: String?

    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, naming the field.
    init(_ fields: inout JSONFields) throws(ServerError) {
        replaces = try fields.text("replaces", "64 lower-case hexadecimal digits") { Digest(hex: $0) }
        let bytes = try fields.optionalText("customer")
        if let bytes, !ASCIIText.isPrintable(bytes, 1...64) {
            throw fields.invalid("customer", "1 to 64 printable ASCII characters")
        }
        customer = bytes.map { String(decoding: $0, as: UTF8.self) }
        try fields.finish()
    }
}
