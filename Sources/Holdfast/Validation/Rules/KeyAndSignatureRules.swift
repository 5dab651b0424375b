extension PathRule {
    /// Keys are of a supported kind and strong enough: RSA of 2048 bits or more (CA/Browser Forum baseline requirements
    /// 6.1.5, NIST SP 800-131A), the curves P-256, P-384, P-521, Ed25519.
    static let keyStrength = PathRule("public key", "CA/B BR 6.1.5") { certificate, _ in
        let kind: CertificatePublicKey.Kind
        do throws(DERError) {
            kind = try certificate.publicKey.kind
        } catch {
            return Violation(.unsupportedKey, certificate, "a SubjectPublicKeyInfo", error.description)
        }
        return kind.refusal.map {
            Violation($0.isWeak ? .weakKey : .unsupportedKey, certificate, $0.expected, $0.found)
        }
    }
}

/// A certificate is signed by the key of its issuer (RFC 5280 6.1.3 (a) (1)), with a secure algorithm: neither SHA-1
/// nor MD5 (RFC 6194, RFC 6151).
enum SignatureRule {
    static let name = "signature"
    static let reference = "RFC 5280 6.1.3 (a)"

    static func algorithmViolation(of certificate: X509Certificate) -> Violation? {
        switch certificate.layout.signatureAlgorithm {
        case .weak(let name):
            Violation(.weakSignatureAlgorithm, certificate, "a signature with SHA-256 or better", name)
        case .merkleTreeProof, .unsupported:
            Violation(
                .unsupportedSignatureAlgorithm, certificate, "ECDSA, RSA or Ed25519",
                certificate.layout.signatureAlgorithm.description)
        case .rsaPKCS1, .rsaPSS, .ecdsa, .ed25519:
            nil
        }
    }

    /// Verifies the signature, which is the only expensive step of a validation.
    static func violation(of certificate: X509Certificate, by issuer: X509Certificate) -> Violation? {
        switch certificate.signatureCheck(by: issuer) {
        case .valid: return nil
        case .invalid:
            if let wanted = certificate.authorityKeyIdentifier, let found = issuer.subjectKeyIdentifier,
                wanted != found
            {
                return Violation(certificate, issuedBy: wanted, not: issuer, with: found)
            }
            return Violation(
                .invalidSignature, certificate, "a signature by the key of \(issuer.subject)",
                "one that does not verify under it")
        case .unsupported(let name):
            let context = PathRuleContext(time: 0, isServer: false)
            return algorithmViolation(of: certificate)
                ?? PathRule.keyStrength.violation(of: issuer, in: context)
                ?? Violation(.unsupportedKey, issuer, "P-256, P-384, P-521, Ed25519 or RSA", name)
        }
    }
}

extension X509Certificate {
    /// Verifies the signature of this certificate under the key of another, and nothing else: a valid signature
    /// identifies the signer, but does not show that the certificate is valid.
    package func signatureCheck(by issuer: X509Certificate) -> SignatureCheck {
        issuer.check(layout.der[layout.signature], over: layout.der[layout.toBeSigned], with: layout.signatureAlgorithm)
    }

    /// Verifies the signature of a certificate or a revocation list under the key of this certificate.
    func check(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, with algorithm: CertificateSignatureAlgorithm
    ) -> SignatureCheck {
        do throws(DERError) {
            return try publicKey.check(signature, over: message, with: algorithm)
        } catch {
            return .unsupported(algorithm.unsupportedName ?? "a key that cannot be read")
        }
    }

    /// Whether the key of a certificate verifies the signature of this one. Nothing else is checked, so the result
    /// identifies the signer, but does not show that the certificate is valid.
    package func isSigned(by issuer: X509Certificate) -> Bool { signatureCheck(by: issuer) == .valid }
}
