public import struct Foundation.Data
public import struct Foundation.Date

/// What a trust server published: the certificates and keys of a customer's hosts, signed as a whole (CMS, RFC 5652).
///
/// ```swift
/// let signer = try TrustServerSigner(certificate: trustServerCertificate)
/// let document = try TrustServerDocument(verifying: data, by: signer, customer: "gcx", at: trustedTime)
/// ```
/// Holding one is the proof that the signer wrote it for this customer. Whether it is fresh, and not older than one
/// that is known already, is the store's to judge. A value; safe to use from any thread.
public struct TrustServerDocument: Sendable {
    /// Whose hosts they are.
    public let customer: String
    /// When the signer made it, by its own clock, to the second.
    public let timestamp: Date
    /// The entries in the order of the document. A host may have several, with different ports or with the same.
    public let entries: [TrustServerEntry]
    /// The notAfter of the configured signer certificate where it has passed; nil where it has not, and where an
    /// authority is configured. It rejects nothing: the certificate is trusted by its octets. Replace it all the same.
    public let signerExpired: Date?

    /// How far a signer's clock may be ahead of trusted time.
    package static let clockTolerance: Double = 300

    /// Verifies a document and reads it; nothing of its content is read before its signature is good.
    ///
    /// With a configured certificate it costs one signature. It blocks meanwhile and does no I/O.
    /// - Parameters:
    ///   - data: a CMS SignedData in DER or BER with its content attached.
    ///   - signer: whose signature counts.
    ///   - customer: whose document it must be.
    ///   - time: trusted time.
    ///   - limits: how much is read at most.
    ///   - allowsLegacyDigests: whether SHA-1 will do, as in documents made before 2018. Whoever can make two
    ///     documents of one SHA-1 digest can then pass one off for the other.
    /// - Throws: ``DocumentError``; `issuedAhead` for a timestamp more than five minutes ahead of trusted time.
    public init(
        verifying data: Data, by signer: TrustServerSigner, customer: String, at time: Date,
        limits: DocumentLimits = DocumentLimits(), allowsLegacyDigests: Bool = false
    ) throws(DocumentError) {
        guard data.count <= limits.bytes else {
            throw DocumentError(.tooLarge, expected: "at most \(limits.bytes) bytes", found: "\(data.count)")
        }
        let message = try CMSSignedData([UInt8](data), allowsLegacyDigests: allowsLegacyDigests)
        let certificate = try signer.certificate(in: message)
        try message.verify(with: try TrustServerSigner.key(of: certificate, code: .untrustedSigner))
        let content = try TrustServerContent(Array(message.bytes[message.content]), limits: limits)
        guard content.customer == customer else {
            throw DocumentError(
                .wrongCustomer, field: "customer", expected: customer.quoted, found: content.customer.quoted)
        }
        try signer.judge(certificate, in: message, customer: customer, at: content.timestamp)
        // Negated, so that a time that is no number is not later than anything.
        guard Double(content.timestamp) <= time.timeIntervalSince1970 + Self.clockTolerance else {
            throw DocumentError(
                .issuedAhead, field: "timestamp",
                expected: "at most \(Int(Self.clockTolerance)) s after the time here, \(Self.seconds(time))",
                found: "\(content.timestamp)")
        }
        self.customer = content.customer
        timestamp = Date(timeIntervalSince1970: Double(content.timestamp))
        entries = content.entries
        signerExpired = signer.expiry.flatMap { $0 < time ? $0 : nil }
    }

    private static func seconds(_ time: Date) -> String {
        Int64(exactly: time.timeIntervalSince1970.rounded(.down)).map(String.init) ?? "no number"
    }
}
