import Crypto
import Foundation
import ServerFoundation

/// The secret that a receiver shares with this server, for signatures that only these two can make.
///
/// A file with one line: `whsec_` and the Base64 of 24 to 64 bytes, as in the Standard Webhooks specification.
struct WebhookSecret: Sendable {
    private let key: SymmetricKey

    private static let prefix = Array("whsec_".utf8)
    private static let lengths = 24...64

    /// Parses the line.
    /// - Throws: ``ServerError`` `secretFile`, without any part of the secret.
    init(_ content: [UInt8]) throws(ServerError) {
        let text = content.last == 0x0A ? content.dropLast() : content[...]
        guard text.starts(with: Self.prefix), let bytes = Base64.decode(Array(text.dropFirst(Self.prefix.count))),
            Self.lengths.contains(bytes.count)
        else {
            throw ServerError(
                .secretFile, of: "webhook-secret", expected: "whsec_ and the Base64 of 24 to 64 bytes, in one line",
                found: "another text of \(content.count) bytes",
                remedy: "Make one: (printf whsec_; openssl rand -base64 32) >FILE; chmod 600 FILE.")
        }
        key = SymmetricKey(data: bytes)
    }

    /// Signs a request: HMAC with SHA-256 over its id, the time and the body, separated by periods.
    /// - Parameters:
    ///   - id: the id of the notice, as in `webhook-id`.
    ///   - time: seconds since 1970, as in `webhook-timestamp`: receivers refuse requests older than five minutes.
    ///   - body: the body.
    /// - Returns: the value of `webhook-signature`.
    func signature(id: RandomID, time: Int64, body: [UInt8]) -> String {
        let signed = Array("\(id).\(time).".utf8) + body
        return "v1,\(Base64.encode(Array(HMAC<SHA256>.authenticationCode(for: signed, using: key))))"
    }
}
