import Foundation
import ServerFoundation

/// A challenge that a client sent. The signature covers it byte by byte, so that no answer is valid twice.
package struct Challenge: Sendable, Hashable {
    /// The header, unchanged.
    package let text: [UInt8]

    /// The name of the header.
    package static let header = "X-Cert-Pinning-Challenge"
    /// The name of the header of the answer.
    package static let signatureHeader = "X-Cert-Pinning-Signature"
    /// The allowed lengths before Base64, in bytes.
    package static let lengths = 16...32

    /// Reads the header; nil if it is missing, is not Base64 (RFC 4648 4, with or without padding), or has another
    /// length.
    package init?(_ header: String?) {
        guard let header, header.utf8.count <= 64 else { return nil }
        let text = Array(header.utf8)
        guard let nonce = Base64.decodeUnpadded(text), Self.lengths.contains(nonce.count) else { return nil }
        self.text = text
    }

    /// The bytes that the signature covers.
    package func signedBytes(_ body: some Sequence<UInt8>) -> [UInt8] { text + [UInt8(ascii: "&")] + body }
}
