public import struct Foundation.Data
public import struct Foundation.Date

/// The signer of a trust server's documents.
public struct TrustServerSigner: Sendable {
    private enum Kind: Sendable {
        /// This certificate, trusted by its bytes.
        case certificate(X509Certificate)
        /// Any signer with an authority's certificate for a purpose.
        case authority(SignerAuthority)
    }

    private let kind: Kind

    /// Accepts only this certificate as the signer, self-signed or not. It is trusted by its bytes, as published
    /// clients do with `trustServerCertificate`.
    /// - Parameter certificate: one certificate, in DER or in PEM, with text around it or without.
    /// - Throws: ``DocumentError`` `invalidSigner` if it cannot be read, or its key is too weak or of a kind that
    ///   cannot sign documents.
    public init(certificate: Data) throws(DocumentError) {
        let read: [X509Certificate]
        do throws(CertificateFileError) {
            read = try CertificateFile.certificates(in: certificate, named: "trustServerCertificate")
        } catch {
            throw Self.noCertificate(expected: error.expected, found: error.found)
        }
        guard let only = read.first, read.count == 1 else {
            throw Self.noCertificate(
                expected: "the signer's certificate alone, in DER or PEM",
                found: read.isEmpty ? "no certificate" : "\(read.count) certificates")
        }
        _ = try Self.key(of: only, code: .invalidSigner)
        kind = .certificate(only)
    }

    private static func noCertificate(expected: String, found: String) -> DocumentError {
        DocumentError(.invalidSigner, field: "trustServerCertificate", expected: expected, found: found)
    }

    private init(_ authority: SignerAuthority) { kind = .authority(authority) }

    /// Accepts every signer with a certificate of an authority, if it is for this purpose and the customer.
    ///
    /// The certificate must lead to an anchor under the path rules, be valid at the document's timestamp, have the
    /// customer as its one common name, digitalSignature in its keyUsage, and the purpose in its extendedKeyUsage.
    /// - Parameters:
    ///   - anchors: the authority's anchors.
    ///   - extendedKeyUsage: the object identifier of the purpose in dotted form, for example
    ///     `1.3.6.1.4.1.32473.1.7` under the company's own arc. There is no default: without a purpose any certificate
    ///     of the authority could sign pins. Those of TLS and anyExtendedKeyUsage are refused for the same reason.
    ///   - intermediates: DER of certificates that may come in between, in addition to those in the document.
    /// - Throws: ``DocumentError`` `invalidSigner`.
    public static func authority(
        _ anchors: TrustAnchors, extendedKeyUsage: String, intermediates: [Data] = []
    ) throws(DocumentError) -> TrustServerSigner {
        TrustServerSigner(
            try SignerAuthority(
                anchors: anchors, extendedKeyUsage: extendedKeyUsage, intermediates: intermediates.map { [UInt8]($0) }))
    }

    /// Equal bytes for equal signers; part of the key for stored documents and shared stores.
    package var identity: [UInt8] {
        switch kind {
        case .certificate(let certificate): Array(certificate.der)
        case .authority(let authority): authority.identity
        }
    }

    /// The first instant at which the configured certificate is no longer valid.
    package var end: Date? {
        if case .certificate(let certificate) = kind { certificate.validityEnd } else { nil }
    }

    /// Returns the certificate whose key must verify the message.
    func certificate(in message: CMSSignedData) throws(DocumentError) -> X509Certificate {
        let named = message.certificates.filter { message.namesSigner($0) }
        switch kind {
        case .certificate(let certificate):
            guard message.namesSigner(certificate) else {
                throw DocumentError(
                    .untrustedSigner, field: "sid",
                    expected: "a signer with issuer \(certificate.issuer) and the serial number of the configured one",
                    found: "issuer \(DistinguishedName(der: message.signerIssuer)) or another serial number")
            }
            guard named.allSatisfy({ $0 == certificate }) else { throw Self.lookAlike }
            return certificate
        case .authority:
            guard let first = named.first else {
                throw DocumentError(
                    .untrustedSigner, field: "certificates", expected: "the signer's certificate", found: "none",
                    remedy: "Sign without -nocerts.")
            }
            guard named.allSatisfy({ $0 == first }) else { throw Self.lookAlike }
            return first
        }
    }

    /// Throws unless the certificate may sign for the customer at the time of the document.
    func judge(
        _ certificate: X509Certificate, in message: CMSSignedData, customer: String, at timestamp: Int64
    ) throws(DocumentError) {
        guard case .authority(let authority) = kind else { return }
        try authority.judge(certificate, among: message.certificates.map(\.der), customer: customer, at: timestamp)
    }

    /// The key, if signatures can be verified with it.
    package static func key(
        of certificate: X509Certificate, code: DocumentError.Code
    ) throws(DocumentError) -> CertificatePublicKey {
        let context = PathRuleContext(time: 0, isServer: false)
        if let violation = PathRule.keyStrength.violation(of: certificate, in: context) {
            let failure = violation.failure(host: nil, chain: PresentedChain([]))
            // A configured signer is invalid in any case; a document of another signer may be authentic.
            let isUnsupported = code == .untrustedSigner && failure.code == .unsupportedKey
            throw DocumentError(
                isUnsupported ? .unsupportedAlgorithm : code, field: "public key", expected: failure.expected,
                found: failure.found)
        }
        do throws(DERError) {
            return try certificate.publicKey
        } catch {
            throw DocumentError(code, field: "public key", expected: "a key", found: error.description)
        }
    }

    /// The error for two certificates with the same issuer and serial number: one of them is forged.
    private static var lookAlike: DocumentError {
        DocumentError(
            .untrustedSigner, field: "certificates", expected: "no certificate that looks like the signer's",
            found: "another with the same issuer and serial number")
    }
}
