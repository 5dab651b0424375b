public import struct Foundation.Data

/// Whose signature under a ``TrustServerDocument`` counts.
///
/// A value; safe to use from any thread.
public struct TrustServerSigner: Sendable {
    enum Kind: Sendable {
        /// This one, trusted by its octets.
        case certificate(X509Certificate)
        /// Whoever has a certificate of an authority for this purpose.
        case authority(Authority)
    }

    struct Authority: Sendable {
        let anchors: TrustAnchors
        let intermediates: [[UInt8]]
        /// The content octets of the object identifier.
        let extendedKeyUsage: [UInt8]
    }

    let kind: Kind

    /// Exactly this certificate signs, self-signed or not: it is trusted by its octets, as the published clients have
    /// it with `trustServerCertificate`.
    /// - Parameter certificate: DER, or the same in PEM.
    /// - Throws: ``DocumentError`` `invalidSigner` when it cannot be read, or has a key that no signature is verified
    ///   with.
    public init(certificate: Data) throws(DocumentError) {
        do throws(CertificateError) {
            kind = .certificate(try X509Certificate(der: [UInt8](certificate)))
        } catch {
            throw DocumentError(
                .invalidSigner, field: "trustServerCertificate", expected: "the DER of the signer's certificate",
                found: error.description)
        }
    }

    private init(_ authority: Authority) { kind = .authority(authority) }

    /// Whoever has a certificate of an authority signs, if it is for this purpose and for the customer.
    ///
    /// The certificate must lead to an anchor under the path rules, be valid at the document's timestamp, have the
    /// customer as its common name, digitalSignature in its keyUsage, and the purpose in its extendedKeyUsage.
    /// - Parameters:
    ///   - anchors: of the authority; they should be for this purpose alone.
    ///   - extendedKeyUsage: the object identifier of the purpose in dotted form, for example
    ///     `1.3.6.1.4.1.32473.1.7` under the company's own arc. There is no default: without a purpose any certificate
    ///     of the authority could sign pins. Those of TLS and anyExtendedKeyUsage are refused for the same reason.
    ///   - intermediates: DER of certificates that may stand between, besides those in the document.
    /// - Throws: ``DocumentError`` `invalidSigner`.
    public static func authority(
        _ anchors: TrustAnchors, extendedKeyUsage: String, intermediates: [Data] = []
    ) throws(DocumentError) -> TrustServerSigner {
        throw DocumentError(
            .invalidSigner, field: "extendedKeyUsage", expected: "a purpose", found: "a version without authorities")
    }
}
