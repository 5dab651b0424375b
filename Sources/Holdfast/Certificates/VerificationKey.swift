/// A public key that verifies messages other than certificates, with the same reader, library and rules about weak keys
/// as for chains.
package struct VerificationKey: Sendable {
    /// What a signature is, its digest included.
    package enum Scheme: Sendable {
        case ed25519, ecdsaP256, ecdsaP384
        /// MGF1 and SHA-256; a salt of the digest's length, or the longest that the key has room for.
        case rsaPSS
        case rsaPKCS1
    }

    private let key: CertificatePublicKey
    /// The key without its algorithm, so that two encodings of one key are equal.
    package let identity: [UInt8]

    /// Reads a SubjectPublicKeyInfo; nil for anything else.
    package init?(der: [UInt8]) {
        do throws(DERError) {
            var fields = try DERReader(sequence: der)
            _ = try fields.next(DERTag.sequence)
            identity = Array(der[try fields.next(DERTag.bitString).content])
            key = try CertificatePublicKey(0..<der.count, of: der)
        } catch {
            return nil
        }
    }

    /// Reads the 32 octets of an Ed25519 key (RFC 8032); nil for anything else.
    package init?(ed25519 octets: [UInt8]) {
        guard octets.count == 32 else { return nil }
        self.init(der: [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00] + octets)
    }

    /// Reads an uncompressed point of P-256 or P-384 (ANSI X9.63); nil for anything else.
    package init?(x963 octets: [UInt8]) {
        switch octets.count {
        case 65: self.init(der: Self.p256Prefix + octets)
        case 97: self.init(der: Self.p384Prefix + octets)
        default: return nil
        }
    }

    /// What verifying a signature costs, see ``CertificatePublicKey/verificationWork``.
    var verificationWork: Int { key.verificationWork }

    /// Whether a signature over a message verifies; false where the key is not for the scheme.
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
            // RFC 8017 9.1.1: the length of the encoded message minus the digest and two octets.
            let longest = (bits + 6) / 8 - 32 - 2
            let pss = PSSVerification(digest: .sha256, saltLength: longest)
            return key.verifies(signature, over: message, with: pss) ?? false
        default:
            return false
        }
    }

    /// SubjectPublicKeyInfo up to the point (RFC 5480 2).
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    private static let p384Prefix: [UInt8] = [
        0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81, 0x04,
        0x00, 0x22, 0x03, 0x62, 0x00,
    ]
}

extension X509Certificate {
    /// The octets of the key without its algorithm, so that two encodings of one key are equal.
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
