package import Holdfast

package import struct Foundation.Data
package import struct Foundation.Date

/// A trust-server document that is read as strictly as a ``TrustServerDocument``, but whose signer is not checked: for
/// display only. The author of a document also chooses the certificate inside it.
package struct UnverifiedTrustServerDocument {
    /// The customer that owns the hosts.
    package let customer: String
    /// When the document was made, by the signer's clock.
    package let timestamp: Date
    /// The entries in the order of the document.
    package let entries: [TrustServerEntry]
    /// The embedded certificate that the message names as its signer's; nil if it is missing.
    package let signer: X509Certificate?
    /// Whether the signature verifies under the key of ``signer``; nil without a signer.
    package let checkByItsSigner: SignatureCheck?
    /// Whether the digest is from before 2018, which clients refuse by default.
    package let hasLegacyDigest: Bool

    /// - Throws: ``DocumentError`` if it is not such a document.
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
        checkByItsSigner = signer.map { signer in
            do throws(DocumentError) {
                try message.verify(with: try TrustServerSigner.key(of: signer, code: .unsupportedAlgorithm))
                return .valid
            } catch {
                return error.code == .unsupportedAlgorithm ? .unsupported(error.found) : .invalid
            }
        }
        hasLegacyDigest = (try? CMSSignedData([UInt8](data), allowsLegacyDigests: false)) == nil
    }
}

extension TrustServerDocument {
    /// The document with the JSON that was signed: it contains the keys themselves, which publishers need, not only
    /// their pins.
    package static func withContent(
        verifying data: Data, by signer: TrustServerSigner, customer: String, at time: Date, limits: DocumentLimits,
        allowsLegacyDigests: Bool = true
    ) throws(DocumentError) -> (document: TrustServerDocument, content: Data) {
        let document = try TrustServerDocument(
            verifying: data, by: signer, customer: customer, at: time, limits: limits,
            allowsLegacyDigests: allowsLegacyDigests)
        let message = try CMSSignedData([UInt8](data), allowsLegacyDigests: allowsLegacyDigests)
        return (document, Data(message.bytes[message.content]))
    }
}
