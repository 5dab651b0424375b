import Foundation

/// A challenge that a client sent: what it wrote is signed, byte by byte, so that no answer counts twice.
struct Challenge: Sendable, Hashable {
    /// The header as it was sent.
    let text: [UInt8]

    /// The name of the header.
    static let header = "X-Cert-Pinning-Challenge"
    /// The name of the header of the answer.
    static let signatureHeader = "X-Cert-Pinning-Signature"
    /// How many bytes it has before Base64.
    static let lengths = 16...32

    /// Takes the header; nil for none, for one that is no Base64 (RFC 4648 4, with or without padding), and for a
    /// challenge of another length.
    init?(_ header: String?) {
        guard let header, header.utf8.count <= 64 else { return nil }
        let text = Array(header.utf8)
        guard let nonce = Base64.decodeUnpadded(text), Self.lengths.contains(nonce.count) else { return nil }
        self.text = text
    }

    /// What the signature covers.
    func signedBytes(_ body: some Sequence<UInt8>) -> [UInt8] { text + [UInt8(ascii: "&")] + body }
}
