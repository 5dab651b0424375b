package import struct Foundation.Data
package import struct Foundation.Date

/// What a trust-server document says, read as strictly as a ``TrustServerDocument`` is, with nobody's signature relied
/// on: to be shown, never to be believed. Whoever wrote the document chose the certificate inside it as well.
package struct UnverifiedTrustServerDocument {
    /// Whose hosts they are.
    package let customer: String
    /// When the signer made it, by its own clock.
    package let timestamp: Date
    /// The entries in the order of the document.
    package let entries: [TrustServerEntry]
    /// The certificate inside that the message names as its signer's; nil where it has none.
    package let signer: X509Certificate?
    /// Whether the signature verifies under the key of ``signer``; nil where there is none.
    package let isSignedByItsSigner: Bool?
    /// Whether the digest is one of before 2018, which clients refuse unless they are told otherwise.
    package let hasLegacyDigest: Bool

    /// - Throws: ``DocumentError`` for what is no such document.
    package init(_ data: Data, limits: DocumentLimits = DocumentLimits()) throws(DocumentError) {
        guard data.count <= limits.bytes else {
            throw DocumentError(.tooLarge, expected: "at most \(limits.bytes) bytes", found: "\(data.count)")
        }
        let message = try CMSSignedData([UInt8](data), allowsLegacyDigests: true)
        let octets = Array(message.bytes[message.content])
        let head = try TrustServerContent.Head(octets, limits: limits)
        customer = head.customer
        timestamp = Date(wholeSeconds: head.timestamp)
        entries = try TrustServerContent(octets, limits: limits).entries
        let signer = message.certificates.first { message.namesSigner($0) }
        self.signer = signer
        isSignedByItsSigner = signer.map { signer in
            guard let key = try? TrustServerSigner.key(of: signer, code: .untrustedSigner) else { return false }
            return (try? message.verify(with: key)) != nil
        }
        hasLegacyDigest = (try? CMSSignedData([UInt8](data), allowsLegacyDigests: false)) == nil
    }
}
