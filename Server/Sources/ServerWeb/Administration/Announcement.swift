import Holdfast
package import ServerFoundation
package import ServerModel
import ServerStore

/// An announcement by the owner of a host: `{"chain","begins"}`, `{"request"}` or `{"key"}`, all in PEM.
package enum Announcement: Sendable {
    case chain(CertificateChain, begins: Int64)
    /// DER of a SubjectPublicKeyInfo.
    case key([UInt8])
    /// DER of a certificate request (PKCS #10), signed with its key.
    case request([UInt8])

    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, naming the field.
    init(_ fields: inout JSONFields) throws(ServerError) {
        if let request = try fields.optionalText("request") {
            try fields.finish()
            try self.init(request: request)
            return
        }
        if try fields.optionalText("key") != nil {
            try fields.finish()
            // A token may be stolen, so it must not announce a key without proof of possession.
            throw ServerError(
                .invalidValue, of: "key", expected: "a certificate request, in the field request", found: "a bare key",
                remedy:
                    "Send what openssl req -new -key next.key prints, which is signed with the key, in the field request."
            )
        }
        let text = try fields.text("chain")
        let begins = try fields.text("begins", "a time such as 2026-12-24T12:00:00Z") { UTCText.decode($0) }
        try fields.finish()
        try self.init(chain: text, begins: begins)
    }

    /// - Parameter key: PEM of a public key.
    /// - Throws: ``ServerError`` `invalidValue`.
    init(key: [UInt8]) throws(ServerError) {
        guard let blocks = PEMText.blocks("PUBLIC KEY", of: key), blocks.count == 1 else {
            throw ServerError(
                .invalidValue, of: "key", expected: "one block PUBLIC KEY in PEM", found: "another text",
                remedy: "Send what openssl req -in next.csr -noout -pubkey prints.")
        }
        self = .key(blocks[0])
    }

    /// - Parameter request: PEM of a certificate request.
    /// - Throws: ``ServerError`` `invalidValue`.
    init(request: [UInt8]) throws(ServerError) {
        let blocks =
            PEMText.blocks("CERTIFICATE REQUEST", of: request) ?? PEMText.blocks("NEW CERTIFICATE REQUEST", of: request)
        guard let blocks, blocks.count == 1 else {
            throw ServerError(
                .invalidValue, of: "request", expected: "one block CERTIFICATE REQUEST in PEM", found: "another text",
                remedy: "Send what openssl req -new -key next.key prints.")
        }
        self = .request(blocks[0])
    }

    /// - Parameters:
    ///   - chain: PEM of certificates, the server's certificate first.
    ///   - begins: the first second at which the host may present it, in seconds since 1970.
    /// - Throws: ``ServerError`` `invalidValue`.
    init(chain: [UInt8], begins: Int64) throws(ServerError) {
        // As in the command: some tools write bag attributes between the blocks, and CRLF.
        self = .chain(
            try CertificateChain(try PEMFile.blocks("CERTIFICATE", of: chain, named: "chain")), begins: begins)
    }
}

extension Catalog {
    /// Stores an announcement of a host's owner.
    /// - Throws: ``ServerError`` `notFound`, `invalidValue`, or `constraint` if there are too many.
    package func announce(
        _ announcement: Announcement, on host: CatalogHost, of app: AppName, by actor: String
    ) async throws(ServerError) {
        switch announcement {
        case .chain(let chain, let begins): try await announce(chain, from: begins, on: host, of: app, by: actor)
        case .key(let key): try await announce(key: key, on: host, of: app, by: actor)
        case .request(let request):
            let key = try AnnouncementCheck.key(ofRequest: request, for: host)
            try await announce(key: key, on: host, of: app, by: actor)
        }
    }
}
