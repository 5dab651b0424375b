import struct Foundation.Date

/// An authority whose certificates may sign trust-server documents, if they are for the purpose (RFC 5280 6).
struct SignerAuthority: Sendable {
    private let anchors: TrustAnchors
    private let intermediates: [[UInt8]]
    /// The content bytes of the purpose's object identifier.
    private let purpose: [UInt8]
    private let purposeText: String

    init(anchors: TrustAnchors, extendedKeyUsage: String, intermediates: [[UInt8]]) throws(DocumentError) {
        guard !anchors.isEmpty else {
            throw DocumentError(.invalidSigner, field: "anchors", expected: "at least one", found: "none")
        }
        guard let purpose = ObjectIdentifier.content(of: extendedKeyUsage) else {
            throw DocumentError(
                .invalidSigner, field: "extendedKeyUsage",
                expected: "the purpose of those who sign, an object identifier such as 1.3.6.1.4.1.32473.1.7",
                found: extendedKeyUsage.quoted,
                remedy: "Name the purpose: without one any certificate of the authority could sign pins.")
        }
        guard !Self.tooCommon.contains(extendedKeyUsage) else {
            throw DocumentError(
                .invalidSigner, field: "extendedKeyUsage", expected: "a purpose that servers and clients do not have",
                found: extendedKeyUsage.quoted,
                remedy: "Have the signer's certificate issued for a purpose of its own.")
        }
        self.anchors = anchors
        self.purpose = purpose
        purposeText = extendedKeyUsage
        self.intermediates = intermediates
    }

    /// Equal bytes for equal authorities.
    var identity: [UInt8] { anchors.digest + intermediates.flatMap { SHA256Digest.of($0) } + purpose }

    /// anyExtendedKeyUsage, serverAuth, clientAuth: authorities issue certificates for these purposes to all customers.
    private static let tooCommon: Set<String> = ["2.5.29.37.0", "1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]

    /// Throws unless the certificate leads to an anchor, is valid at the time, and may sign for the customer.
    func judge(
        _ certificate: X509Certificate, among presented: [[UInt8]], customer: String, at time: Int64
    ) throws(DocumentError) {
        try requirePurpose(of: certificate)
        try requireName(customer, of: certificate)
        let chain = PresentedChain([certificate.der] + presented.filter { $0 != certificate.der } + intermediates)
        let validator = PathValidator(anchors: anchors)
        let outcome = validator.validate(
            chain, for: .extendedKeyUsage(purposeText), at: Date(wholeSeconds: time)
        ) { _ in true }
        guard outcome.path == nil else { return }
        throw refusal(outcome.failure ?? DecisionDraft.unexplained)
    }

    private func requirePurpose(of certificate: X509Certificate) throws(DocumentError) {
        guard let usage = try? certificate.keyUsage, usage.contains(.digitalSignature) else {
            throw refusal("keyUsage", "digitalSignature", "a certificate without")
        }
        let der = certificate.layout.der
        guard let purposes = try? certificate.extendedKeyUsage,
            purposes.identifiers.contains(where: { der[$0].elementsEqual(purpose) })
        else {
            throw refusal("extendedKeyUsage", purposeText, "a certificate without")
        }
    }

    private func requireName(_ customer: String, of certificate: X509Certificate) throws(DocumentError) {
        guard certificate.subject.commonName?.hasSameOctets(as: customer) == true else {
            throw refusal("subject", "the one common name \(customer.quoted)", "\(certificate.subject)")
        }
    }

    private func refusal(_ failure: TrustFailure) -> DocumentError {
        let place = failure.certificate.map { ", in the certificate of \($0.subject)" } ?? ""
        return refusal(failure.code.rawValue, failure.expected, failure.found + place)
    }

    private func refusal(_ field: String, _ expected: String, _ found: String) -> DocumentError {
        DocumentError(
            .untrustedSigner, field: field, expected: expected, found: found,
            remedy:
                "Have the signer's certificate issued for the customer and the purpose, and do not use the document.")
    }
}
