/// A certificate is signed by the key of its issuer (RFC 5280 6.1.3 (a) (1)), with an algorithm that still means
/// something: neither SHA-1 nor MD5 (RFC 6194, RFC 6151).
enum SignatureRule {
    static let name = "signature"
    static let reference = "RFC 5280 6.1.3 (a)"

    static func algorithmViolation(of certificate: X509Certificate) -> Violation? {
        switch certificate.layout.signatureAlgorithm {
        case .weak(let name):
            Violation(.weakSignatureAlgorithm, certificate) { ("a signature with SHA-256 or better", name) }
        case .unsupported(let name):
            Violation(.unsupportedSignatureAlgorithm, certificate) { ("ECDSA, RSA or Ed25519", name) }
        case .rsaPKCS1, .rsaPSS, .ecdsa, .ed25519:
            nil
        }
    }

    /// Verifies the signature; the one costly step of a validation.
    static func violation(of certificate: X509Certificate, by issuer: X509Certificate) -> Violation? {
        let layout = certificate.layout
        let isSigned = verifies(
            layout.der[layout.signature], over: layout.der[layout.toBeSigned], with: layout.signatureAlgorithm,
            by: issuer)
        guard !isSigned else { return nil }
        return Violation(.invalidSignature, certificate) {
            ("a signature by the key of \(issuer.subject)", "one that does not verify under it")
        }
    }

    static func verifies(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, with algorithm: SignatureAlgorithm,
        by issuer: X509Certificate
    ) -> Bool {
        (try? issuer.publicKey)?.verifies(signature, over: message, with: algorithm) ?? false
    }
}
