import Crypto
import Foundation

/// What a receiver and this server share, so that a notice has a signature only they can make.
///
/// A file with one line: `whsec_` and the Base64 of 24 to 64 bytes, as the Standard Webhooks specification has it.
public struct WebhookSecret: Sendable {
    private let key: SymmetricKey

    private static let prefix = Array("whsec_".utf8)
    private static let lengths = 24...64

    /// Reads the line.
    /// - Throws: ``ServerError`` `secretFile`, without a word of the secret.
    public init(_ content: [UInt8]) throws(ServerError) {
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

    /// Signs what a request has: HMAC with SHA-256 over its id, the time and the body, with periods between them.
    /// - Parameters:
    ///   - id: the id of the notice, as `webhook-id` has it.
    ///   - time: seconds since 1970, as `webhook-timestamp` has it: receivers refuse what is older than five minutes.
    ///   - body: the body.
    /// - Returns: the value of `webhook-signature`.
    public func signature(id: RandomID, time: Int64, body: [UInt8]) -> String {
        let signed = Array("\(id).\(time).".utf8) + body
        return "v1,\(Base64.encode(Array(HMAC<SHA256>.authenticationCode(for: signed, using: key))))"
    }
}
