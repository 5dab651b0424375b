/// A fault of a certificate. Faults are applied in the order in which a certificate is made: first to the extensions,
/// then to the content that is signed, to the signature, and to the whole certificate.
public enum CertificateFault: Sendable {
    /// Change the list of extensions: remove, repeat or reorder some, or replace their content.
    case extensions(@Sendable (inout [TestExtension]) -> Void)
    /// Replace the content of every extension of this kind.
    case extensionContent(TestObjectIdentifier, [UInt8])
    /// Write every extension of this kind twice.
    case duplicatedExtension(TestObjectIdentifier)
    /// Change the DER of the TBSCertificate before it is signed: the signature is valid, the content is not.
    case signedContent(@Sendable ([UInt8]) -> [UInt8])
    /// Change the DER of the TBSCertificate after it was signed.
    case contentAfterSigning(@Sendable ([UInt8]) -> [UInt8])
    /// Sign with this key, but still under the name of the issuer.
    case signedBy(TestKey)
    /// Flip a bit in the middle of the signature.
    case flippedSignatureBit
    /// Name this algorithm inside the signed content, and the true one outside (RFC 5280 4.1.1.2 requires them to be
    /// equal).
    case innerSignatureAlgorithm(TestSignature)
    /// Name this algorithm outside the signed content, and the true one inside.
    case outerSignatureAlgorithm(TestSignature)
    /// Cut this number of bytes off the end of the certificate.
    case truncated(Int)
    /// Append bytes to the certificate.
    case trailingBytes([UInt8])
}
