/// Something wrong with a certificate. Faults are applied in the order in which a certificate is made: extensions, what
/// is signed, the signature, the whole.
public enum CertificateFault: Sendable {
    /// Change the list of extensions: remove, repeat, reorder, put other content into one.
    case extensions(@Sendable (inout [TestExtension]) -> Void)
    /// Put other octets into every extension of this kind.
    case extensionContent(TestObjectIdentifier, [UInt8])
    /// Write every extension of this kind twice.
    case duplicatedExtension(TestObjectIdentifier)
    /// Change the DER of the TBSCertificate before it is signed: the signature is good, the content is not.
    case signedContent(@Sendable ([UInt8]) -> [UInt8])
    /// Change the DER of the TBSCertificate after it was signed.
    case contentAfterSigning(@Sendable ([UInt8]) -> [UInt8])
    /// Sign with this key, under the name of the issuer all the same.
    case signedBy(TestKey)
    /// Flip a bit in the middle of the signature.
    case flippedSignatureBit
    /// Name this algorithm inside what is signed, and the true one outside (RFC 5280 4.1.1.2 wants them equal).
    case innerSignatureAlgorithm(TestSignature)
    /// Name this algorithm outside of what is signed, and the true one inside.
    case outerSignatureAlgorithm(TestSignature)
    /// Cut so many octets off the end of the certificate.
    case truncated(Int)
    /// Append octets to the certificate.
    case trailingBytes([UInt8])
}
