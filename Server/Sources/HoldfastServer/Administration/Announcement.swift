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
            guard let blocks = PEMText.blocks("PUBLIC KEY", of: key), blocks.count == 1 else {
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
        guard let blocks = PEMText.blocks("CERTIFICATE", of: text), !blocks.isEmpty else {
            throw ServerError(
                .invalidValue, of: "chain", expected: "certificates in PEM, the server's own first",
                found: "another text")
        }
        self = .chain(try HostChain(blocks), begins: begins)
    }
}
