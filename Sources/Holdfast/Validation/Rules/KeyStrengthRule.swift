/// Keys are of a kind that is verified and too strong to be broken: RSA of 2048 bits or more (CA/Browser Forum
/// baseline requirements 6.1.5, NIST SP 800-131A), the curves P-256, P-384, P-521, Ed25519.
struct KeyStrengthRule: PathRule {
    let name = "public key"
    let reference = "CA/B BR 6.1.5"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        let kind: CertificatePublicKey.Kind
        do throws(DERError) {
            kind = try certificate.publicKey.kind
        } catch {
            return Violation(.unsupportedKey, certificate) { ("a SubjectPublicKeyInfo", error.description) }
        }
        switch kind {
        case .p256, .p384, .p521, .ed25519:
            return nil
        case .unsupported(let what):
            return Violation(.unsupportedKey, certificate) { ("P-256, P-384, P-521, Ed25519 or RSA", what) }
        case .rsa(let bits), .rsaPSS(let bits, _):
            if bits < CertificatePublicKey.minimumRSABits {
                return Violation(.weakKey, certificate) { ("RSA of 2048 bits at least", "RSA of \(bits) bits") }
            }
            if bits > CertificatePublicKey.maximumRSABits {
                return Violation(.unsupportedKey, certificate) { ("RSA of 8192 bits at most", "RSA of \(bits) bits") }
            }
            return nil
        }
    }
}
