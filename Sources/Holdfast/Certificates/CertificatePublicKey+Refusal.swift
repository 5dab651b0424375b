extension CertificatePublicKey.Kind {
    /// The reason why validation refuses keys of a kind.
    package struct Refusal: Sendable, Hashable {
        /// Whether the key is too short; false if its kind is not supported.
        package let isWeak: Bool
        package let expected: String
        package let found: String
    }

    /// The reason why validation refuses keys of this kind; nil if it accepts them: RSA of 2048 bits or more
    /// (CA/Browser Forum baseline requirements 6.1.5, NIST SP 800-131A), the curves P-256, P-384, P-521, Ed25519.
    package var refusal: Refusal? {
        switch self {
        case .p256, .p384, .p521, .ed25519:
            return nil
        case .unsupported(let what):
            return Refusal(isWeak: false, expected: "P-256, P-384, P-521, Ed25519 or RSA", found: what)
        case .rsa(let bits), .rsaPSS(let bits, _):
            let found = "RSA of \(bits) bits"
            if bits < CertificatePublicKey.minimumRSABits {
                return Refusal(isWeak: true, expected: "RSA of 2048 bits at least", found: found)
            }
            guard bits > CertificatePublicKey.maximumRSABits else { return nil }
            return Refusal(isWeak: false, expected: "RSA of 8192 bits at most", found: found)
        }
    }
}
