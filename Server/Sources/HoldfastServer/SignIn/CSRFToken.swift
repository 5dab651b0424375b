import Crypto
import Foundation

/// What a page hands back with everything that it asks for in a session, and what no other page can know. It comes out of
/// the session's own token, of which the server keeps only the digest, and is good for nothing else.
struct CSRFToken: Sendable {
    private let digest: Digest

    private static let purpose = "holdfast-csrf-v1"

    /// The one of a session.
    init(of session: AccessToken) {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(Self.purpose.utf8), using: SymmetricKey(data: Data(session.secretText.utf8)))
        digest = Digest(of: code)
    }

    /// What stands in a page: 43 letters, digits, hyphens and underscores.
    var text: String { Base64URL.encode(digest.bytes) }

    /// Whether a text is this one, in a time that says nothing about how close it is.
    func isSame(as text: some Collection<UInt8>) -> Bool {
        guard text.count == 43, let other = Base64URL.decode(text).flatMap({ Digest(bytes: $0) }) else { return false }
        return digest.isSame(as: other)
    }
}
