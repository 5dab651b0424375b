import Crypto
import Foundation

/// Signs the head of an audit that several machines write (`holdfast-audit-head-v1`).
///
/// It is an HMAC-SHA256 over three lines, each with a line feed: `holdfast-audit-head-v1`, the id of the server, and the
/// head, which is a count, a space and a digest. Its key is for nothing else: HKDF-SHA256 of the secret, without salt, with
/// the info `holdfast-audit-head-v1`. Whoever can write to the database and has no secret signs no head.
struct AuditSeal: Sendable {
    private static let label = "holdfast-audit-head-v1"

    /// Which secret it is: ``SigningSecret/id``.
    let secretID: [UInt8]
    private let server: RandomID
    private let key: SymmetricKey

    /// Derives the key.
    init(_ secret: SigningSecret, server: RandomID) {
        secretID = secret.id
        self.server = server
        key = secret.headKey
    }

    /// Signs a head: 32 bytes.
    func code(of head: AuditHead) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: text(of: head), using: key))
    }

    /// Whether this secret has signed a head. All bytes are compared, wherever they differ.
    func isRight(_ code: [UInt8], of head: AuditHead) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: text(of: head), using: key)
    }

    private func text(of head: AuditHead) -> Data { Data("\(Self.label)\n\(server)\n\(head)\n".utf8) }
}
