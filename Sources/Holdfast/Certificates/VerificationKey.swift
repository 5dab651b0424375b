/// A public key that verifies messages other than certificates, with the same reader, library and rules about weak keys
/// as for chains.
package struct VerificationKey: Sendable {
    /// The kind of signature, including its digest.
    package enum Scheme: Sendable {
        case ed25519, ecdsaP256, ecdsaP384
        /// RSA-PSS with MGF1 and SHA-256; the salt has the digest's length, or the maximum length that fits the key.
        case rsaPSS
        case rsaPKCS1
    }

    private let key: CertificatePublicKey
    /// The key without its algorithm, so that two encodings of one key are equal.
    package let identity: [UInt8]
    /// The DER that it was read from.
    package let subjectPublicKeyInfo: [UInt8]

    /// Reads a SubjectPublicKeyInfo; the result is nil for anything else.
    package init?(der: [UInt8]) {
        do throws(DERError) {
            var fields = try DERReader(sequence: der)
            _ = try fields.next(DERTag.sequence)
            identity = Array(der[try fields.next(DERTag.bitString).content])
            key = try CertificatePublicKey(0..<der.count, of: der)
            subjectPublicKeyInfo = der
        } catch {
            return nil
        }
    }

    /// The cost of verifying a signature, see ``CertificatePublicKey/verificationWork``.
    var verificationWork: Int { key.verificationWork }

    /// The name of the kind of key if a scheme cannot verify with it; nil otherwise.
    package func unsupportedName(for scheme: Scheme) -> String? {
        if let name = key.unsupportedName { return name }
        switch (scheme, key.kind) {
        case (.ed25519, .ed25519), (.ecdsaP256, .p256), (.ecdsaP384, .p384), (.rsaPKCS1, .rsa), (.rsaPSS, .rsa),
            (.rsaPSS, .rsaPSS):
            return nil
        default: return key.kind.description
        }
    }

    /// The name of the kind of key if no scheme can verify with it; nil otherwise.
    package var unsupportedName: String? { key.unsupportedName ?? (key.kind == .p521 ? "P-521" : nil) }

    /// Whether a signature over a message verifies; false if the key is not for the scheme.
    package func verifies(_ signature: [UInt8], over message: [UInt8], by scheme: Scheme) -> Bool {
        let (signature, message) = (signature[...], message[...])
        func verifies(_ algorithm: CertificateSignatureAlgorithm) -> Bool {
            key.verifies(signature, over: message, with: algorithm) ?? false
        }
        switch (scheme, key.kind) {
        case (.ed25519, .ed25519): return verifies(.ed25519)
        case (.ecdsaP256, .p256): return verifies(.ecdsa(.sha256))
        case (.ecdsaP384, .p384): return verifies(.ecdsa(.sha384))
        case (.rsaPKCS1, .rsa): return verifies(.rsaPKCS1(.sha256))
        case (.rsaPSS, .rsa(let bits)), (.rsaPSS, .rsaPSS(let bits, _)):
            if verifies(.rsaPSS(.sha256)) { return true }
            // RFC 8017 9.1.1: the length of the encoded message minus the digest and two bytes.
            let longest = (bits + 6) / 8 - 32 - 2
            let pss = PSSVerification(digest: .sha256, saltLength: longest)
            return key.verifies(signature, over: message, with: pss) ?? false
        default:
            return false
        }
    }
}

extension X509Certificate {
    /// The bytes of the key without its algorithm, so that two encodings of one key are equal.
    var keyIdentity: OctetString {
        do throws(DERError) {
            var outer = DERReader(layout.der, in: layout.subjectPublicKeyInfo)
            var fields = outer.inside(try outer.next(DERTag.sequence))
            _ = try fields.next(DERTag.sequence)
            return OctetString(layout.der[try fields.next(DERTag.bitString).content])
        } catch {
            return OctetString(subjectPublicKeyInfo)
        }
    }
}
