import Holdfast

/// What the owner of a host announces: `{"chain","begins"}` or `{"key"}`, both in PEM.
enum Announcement: Sendable {
    case chain(HostChain, begins: Int64)
    /// DER of a SubjectPublicKeyInfo.
    case key([UInt8])

    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, with the field.
    init(_ fields: inout JSONFields) throws(ServerError) {
        if let key = try fields.optionalText("key") {
            try fields.finish()
            guard let blocks = Self.pem(key, "PUBLIC KEY"), blocks.count == 1 else {
                throw ServerError(
                    .invalidValue, of: "key", expected: "one block PUBLIC KEY in PEM", found: "another text",
                    remedy: "Send what openssl req -in next.csr -noout -pubkey prints.")
            }
            self = .key(blocks[0])
            return
        }
        let text = try fields.text("chain")
        let begins = try fields.text("begins", "a time such as 2026-12-24T12:00:00Z") { UTCText.decode($0) }
        try fields.finish()
        guard let blocks = Self.pem(text, "CERTIFICATE"), !blocks.isEmpty else {
            throw ServerError(
                .invalidValue, of: "chain", expected: "certificates in PEM, the server's own first",
                found: "another text")
        }
        self = .chain(try HostChain(blocks), begins: begins)
    }

    /// The blocks of a text that has nothing else (RFC 7468 3); nil for any other text.
    private static func pem(_ text: [UInt8], _ label: String) -> [[UInt8]]? {
        var blocks: [[UInt8]] = []
        var base64: [UInt8]?
        for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            if line.elementsEqual("-----BEGIN \(label)-----".utf8) {
                guard base64 == nil else { return nil }
                base64 = []
            } else if line.elementsEqual("-----END \(label)-----".utf8) {
                guard let octets = base64.flatMap({ Base64.decode($0) }), !octets.isEmpty else { return nil }
                blocks.append(octets)
                base64 = nil
            } else {
                guard base64 != nil else { return nil }
                base64?.append(contentsOf: line)
            }
        }
        return base64 == nil ? blocks : nil
    }
}
