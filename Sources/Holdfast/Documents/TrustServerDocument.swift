package import struct Foundation.Data
package import struct Foundation.Date

/// A trust server's document: the certificates and keys of a customer's hosts, signed as a whole (CMS, RFC 5652).
///
/// ```swift
/// let signer = try TrustServerSigner(certificate: trustServerCertificate)
/// let document = try TrustServerDocument(verifying: data, by: signer, customer: "gcx", at: trustedTime)
/// ```
/// A value of this type is the proof that the signer wrote it for this customer. The store decides whether it is fresh,
/// whether it is older than a known one, and how far its timestamp may be ahead of the clock.
package struct TrustServerDocument: Sendable {
    /// The customer whose hosts the document lists.
    package let customer: String
    /// The time at which the signer made it, by its own clock, to the second.
    package let timestamp: Date
    /// The entries in the order of the document. A host may have several, with different ports or with the same one.
    package let entries: [TrustServerEntry]
    /// The first instant at which the configured signer certificate is no longer valid, if that instant has passed; nil
    /// if it has not, or if an authority is configured. Nothing is rejected for this reason, because the certificate is
    /// trusted by its bytes, but you should replace it.
    package let signerExpired: Date?

    /// Verifies a document and reads it. Nothing of its content is read before its signature is verified, and only
    /// customer and timestamp are read before its signer is known to be the configured one.
    ///
    /// With a configured certificate it costs one signature. It blocks, and does no I/O.
    /// - Parameters:
    ///   - data: a CMS SignedData in DER or BER with its content attached.
    ///   - signer: the signer whose signature is accepted.
    ///   - customer: the customer that the document must be for.
    ///   - time: the trusted time, for ``signerExpired``.
    ///   - limits: the limits for reading.
    ///   - allowsLegacyDigests: whether SHA-1 is accepted, as in documents made before 2018. An attacker who can make
    ///     two documents with the same SHA-1 digest can then pass one off as the other.
    /// - Throws: ``DocumentError``.
    package init(
        verifying data: Data, by signer: TrustServerSigner, customer: String, at time: Date,
        limits: DocumentLimits = DocumentLimits(), allowsLegacyDigests: Bool = false
    ) throws(DocumentError) {
        guard data.count <= limits.bytes else {
            throw DocumentError(.tooLarge, expected: "at most \(limits.bytes) bytes", found: "\(data.count)")
        }
        let message = try CMSSignedData([UInt8](data), allowsLegacyDigests: allowsLegacyDigests)
        let certificate = try signer.certificate(in: message)
        try message.verify(with: try TrustServerSigner.key(of: certificate, code: .untrustedSigner))
        let octets = Array(message.bytes[message.content])
        let head = try TrustServerContent.Head(octets, limits: limits)
        guard head.customer.hasSameOctets(as: customer) else {
            throw DocumentError(
                .wrongCustomer, field: "customer", expected: customer.quoted, found: head.customer.quoted)
        }
        try signer.judge(certificate, in: message, customer: customer, at: head.timestamp)
        let content = try TrustServerContent(octets, limits: limits)
        self.customer = customer
        timestamp = Date(wholeSeconds: head.timestamp)
        entries = content.entries
        signerExpired = signer.end.flatMap { $0 <= time ? $0 : nil }
    }
}

/// The entry of a trust-server document about one host: the certificates and the keys that may be in its chain.
///
/// By itself it proves nothing; the ``TrustServerDocument`` that contains it is the proof.
package struct TrustServerEntry: Sendable, Hashable {
    /// The host as it was signed, without its port.
    package let hostname: String
    /// The port that the entry is for; nil if it states none and so covers the ports without a separate entry.
    package let port: Int?
    /// Pins of certificates (`fp`), in the order of the document.
    package let certificatePins: [Pin]
    /// Pins of keys (`pk`), in the order of the document.
    package let publicKeyPins: [Pin]
}
