import Crypto
import Foundation
import ServerFoundation
import ServerModel

/// Signs the head of an audit that several machines write (`holdfast-audit-head-v1`).
///
/// The signature is an HMAC-SHA256 over three lines, each with a line feed: `holdfast-audit-head-v1`, the id of the
/// server, and the head, which is a count, a space and a digest. The key has no other use: HKDF-SHA256 of the secret,
/// without salt, with the info `holdfast-audit-head-v1`. An attacker with write access to the database but without the
/// secret cannot sign heads.
struct AuditSeal: Sendable {
    private static let label = "holdfast-audit-head-v1"

    /// The id of the secret: ``SigningSecret/id``.
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

    /// Whether this secret has signed a head, compared in constant time.
    func isRight(_ code: [UInt8], of head: AuditHead) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: text(of: head), using: key)
    }

    private func text(of head: AuditHead) -> Data { Data("\(Self.label)\n\(server)\n\(head)\n".utf8) }
}
