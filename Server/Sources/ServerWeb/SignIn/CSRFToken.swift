import Crypto
import Foundation
import ServerFoundation
import ServerModel

import struct ServerFoundation.Digest

/// A token that a page sends back with each call of its session, and that no other page can know. It is derived from
/// the session's token, of which the server stores only the digest, and has no other use.
struct CSRFToken: Sendable {
    private let digest: Digest

    private static let purpose = "holdfast-csrf-v1"

    /// Derives the token of a session.
    init(of session: AccessToken) {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(Self.purpose.utf8), using: SymmetricKey(data: Data(session.secretText.utf8)))
        digest = Digest(of: code)
    }

    /// The text in pages: 43 letters, digits, hyphens and underscores.
    var text: String { Base64URL.encode(digest.bytes) }

    /// Compares a text with this token in constant time.
    func isSame(as text: some Collection<UInt8>) -> Bool {
        guard text.count == 43, let other = Base64URL.decode(text).flatMap({ Digest(bytes: $0) }) else { return false }
        return digest.isSame(as: other)
    }
}
