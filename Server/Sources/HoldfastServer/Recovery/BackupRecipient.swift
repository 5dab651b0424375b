package import Crypto
import Foundation
import HoldfastSigning
package import ServerFoundation

package import struct ServerFoundation.Digest

/// The recipient of backups: a P-256 key made by `holdfastctl keygen` only for this. The server has only the public
/// half.
package struct BackupRecipient: Sendable {
    package let key: P256.KeyAgreement.PublicKey

    /// Reads the output of `holdfastctl keygen`: the Base64 of the uncompressed point.
    /// - Throws: ``ServerError`` `invalidValue`.
    package init(printed text: some Collection<UInt8>) throws(ServerError) {
        guard text.count <= 128, let bytes = Base64.decode(text), bytes.count == 65,
            let key = try? P256.KeyAgreement.PublicKey(x963Representation: bytes)
        else {
            throw ServerError(
                .invalidValue, of: "recipient", expected: "the public key that holdfastctl keygen printed, in one line",
                found: "another text", remedy: "Make a key for backups alone with holdfastctl keygen.")
        }
        self.key = key
    }

    fileprivate init(_ key: P256.KeyAgreement.PublicKey) { self.key = key }

    /// The identity of the key that opens a backup: the SHA-256 of the uncompressed point.
    package var identity: Digest { Digest(of: key.x963Representation) }
}

/// The private half. It is not stored on the server.
package struct BackupPrivateKey: Sendable {
    package let key: P256.KeyAgreement.PrivateKey

    /// Reads a file that `holdfastctl keygen` wrote.
    /// - Parameters:
    ///   - pem: the content of the file.
    ///   - password: the password of an encrypted key, in UTF-8.
    /// - Throws: ``ServerError`` `invalidValue`.
    package init(pem: String, password: [UInt8]? = nil) throws(ServerError) {
        let plain = try ServerError.translating(.invalidValue, of: "key") { () throws(SigningError) in
            try SigningKey(pem: pem, password: password).pem
        }
        guard let key = try? P256.KeyAgreement.PrivateKey(pemRepresentation: plain) else {
            throw ServerError(.invalidValue, of: "key", expected: "a P-256 key", found: "another")
        }
        self.key = key
    }

    /// The public half.
    package var recipient: BackupRecipient { BackupRecipient(key.publicKey) }
}

extension BackupPrivateKey: CustomStringConvertible {
    /// Reveals nothing about the key.
    package var description: String { "a private key" }
}
