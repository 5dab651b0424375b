import Crypto

/// The public key of a certificate, read from its SubjectPublicKeyInfo (RFC 3279, RFC 5480, RFC 8410).
package final class CertificatePublicKey: Sendable {
    package enum Kind: Sendable, Equatable {
        case rsa(bits: Int)
        /// A key for RSASSA-PSS alone; with a digest if its parameters name one (RFC 4055 section 3.1).
        case rsaPSS(bits: Int, digest: CertificateSignatureAlgorithm.Digest?)
        case p256, p384, p521
        case ed25519
        case unsupported(String)
    }

    package let kind: Kind
    /// The key's bytes: an X9.63 point, Ed25519's 32 bytes; for RSA the modulus.
    private let octets: ArraySlice<UInt8>
    private let exponent: ArraySlice<UInt8>
    /// The library's key. The first verification makes it, so that an anchor's key is made only once.
    private let libraryKey = Lock<LibraryKey?>(nil)

    /// Larger RSA keys only cost time; BoringSSL has the same limit.
    static let maximumRSABits = 8_192
    static let minimumRSABits = 2_048

    /// Reads the DER SubjectPublicKeyInfo at `range`.
    package init(_ range: Range<Int>, of bytes: [UInt8]) throws(DERError) {
        var fields = try DERReader(sequence: bytes, in: range)
        var algorithm = fields.inside(try fields.next(DERTag.sequence))
        let keyOctets = try fields.nextBits(of: "a key")
        try fields.finish()
        let identifier = bytes[try algorithm.next(DERTag.objectIdentifier).content]
        let parameters = bytes[algorithm.position..<algorithm.end]

        if identifier.elementsEqual(Self.rsaEncryption) || identifier.elementsEqual(Self.rsassaPSS) {
            var integers = try DERReader(sequence: bytes, in: keyOctets)
            let modulus = try Self.magnitude(try integers.next(DERTag.integer), of: bytes)
            exponent = try Self.magnitude(try integers.next(DERTag.integer), of: bytes)
            try integers.finish()
            octets = modulus
            let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 8)
            if !Self.isOdd(modulus) || !Self.isOdd(exponent) || exponent.elementsEqual([1]) {
                kind = .unsupported("RSA with an even number or the exponent 1")
            } else if identifier.elementsEqual(Self.rsaEncryption) {
                kind =
                    parameters.isEmpty || parameters.elementsEqual([DERTag.null, 0])
                    ? .rsa(bits: bits) : .unsupported("RSA with parameters")
            } else if parameters.isEmpty {
                kind = .rsaPSS(bits: bits, digest: nil)
            } else if let digest = CertificateSignatureAlgorithm.pss[Array(parameters)] {
                kind = .rsaPSS(bits: bits, digest: digest)
            } else {
                kind = .unsupported("RSA-PSS with other parameters than SHA-2's")
            }
            return
        }
        octets = bytes[keyOctets]
        exponent = []
        if identifier.elementsEqual(Self.idECPublicKey) {
            kind =
                if parameters.elementsEqual(Self.secp256r1) {
                    Self.isPoint(octets, of: 32) ? .p256 : .unsupported("P-256 without an uncompressed point")
                } else if parameters.elementsEqual(Self.secp384r1) {
                    Self.isPoint(octets, of: 48) ? .p384 : .unsupported("P-384 without an uncompressed point")
                } else if parameters.elementsEqual(Self.secp521r1) {
                    Self.isPoint(octets, of: 66) ? .p521 : .unsupported("P-521 without an uncompressed point")
                } else if parameters.first == DERTag.objectIdentifier, parameters.count > 2 {
                    .unsupported("elliptic curve \(AlgorithmName.text(parameters.dropFirst(2)))")
                } else {
                    .unsupported("elliptic curve with explicit parameters")
                }
        } else if identifier.elementsEqual(Self.idEd25519), parameters.isEmpty, octets.count == 32 {
            kind = .ed25519
        } else {
            let name = AlgorithmName.text(identifier)
            let isEd25519 = identifier.elementsEqual(Self.idEd25519)
            kind = .unsupported(
                !isEd25519 ? name : parameters.isEmpty ? "\(name) of another length" : "\(name) with parameters")
        }
    }

    /// Whether signatures can be verified with it: its point is on the curve, its modulus and exponent are accepted.
    package var isUsable: Bool {
        if case .refused = library { return false }
        return true
    }

    /// The cost of verifying a signature, in units of one with P-256, measured with BoringSSL (fast code for P-256
    /// only).
    var verificationWork: Int {
        switch kind {
        case .p256, .ed25519: 1
        case .p384: 14
        case .p521: 24
        case .rsa(let bits), .rsaPSS(let bits, _): Self.workOfRSA(bits: bits, exponentBits: exponentBits)
        case .unsupported: 0
        }
    }

    private var exponentBits: Int { exponent.count * 8 - (exponent.first?.leadingZeroBitCount ?? 8) }

    /// A multiplication costs the square of the modulus, and each bit of the exponent one or two. 2048 bits with the
    /// usual exponent of 17 bits cost half of P-256. The library refuses exponents above 33 bits at once.
    static func workOfRSA(bits: Int, exponentBits: Int) -> Int {
        let unit = 2_048 * 2_048 * 2 * 17
        return max(1, (bits * bits * min(max(exponentBits, 17), 33) + unit - 1) / unit)
    }

    private var library: LibraryKey {
        if let known = libraryKey.withLock({ $0 }) { return known }
        // This is outside the lock: two threads that make the key at once get the same result.
        let made = LibraryKey(kind, octets: octets, exponent: exponent)
        libraryKey.withLock { $0 = made }
        return made
    }

    /// The name of a kind of key under which nothing is verified; nil for a supported key.
    package var unsupportedName: String? {
        switch kind {
        case .unsupported(let what): what
        case .rsa(let bits), .rsaPSS(let bits, _):
            if !(Self.minimumRSABits...Self.maximumRSABits).contains(bits) {
                "RSA of \(bits) bits"
            } else if exponentBits > RSAVerificationKey.maximumExponentBits {
                "RSA with an exponent of \(exponentBits) bits"
            } else {
                nil
            }
        case .p256, .p384, .p521, .ed25519: nil
        }
    }

    /// Verifies a signature, and distinguishes a signature that does not verify from one with an unsupported algorithm
    /// or kind of key.
    package func check(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, with algorithm: CertificateSignatureAlgorithm
    ) -> SignatureCheck {
        if let name = algorithm.unsupportedName ?? unsupportedName { return .unsupported(name) }
        return verifies(signature, over: message, with: algorithm) == true ? .valid : .invalid
    }

    /// Whether `signature` over `message` verifies under this key; nil if the key is not for the algorithm.
    package func verifies(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, with algorithm: CertificateSignatureAlgorithm
    ) -> Bool? {
        switch (kind, algorithm) {
        case (.p256, .ecdsa(let digest)), (.p384, .ecdsa(let digest)), (.p521, .ecdsa(let digest)):
            return switch digest {
            case .sha256: library.verifiesECDSA(signature, over: SHA256.hash(data: message))
            case .sha384: library.verifiesECDSA(signature, over: SHA384.hash(data: message))
            case .sha512: library.verifiesECDSA(signature, over: SHA512.hash(data: message))
            }
        case (.ed25519, .ed25519):
            guard case .ed25519(let key) = library else { return false }
            return key.isValidSignature(signature, for: message)
        case (.rsa, .rsaPKCS1(let digest)):
            return verifiesRSA(signature, over: message, by: .pkcs1(digest))
        case (.rsa, .rsaPSS(let digest)), (.rsaPSS(_, nil), .rsaPSS(let digest)):
            return verifiesRSA(signature, over: message, by: .pss(digest))
        case (.rsaPSS(_, let required?), .rsaPSS(let digest)) where required == digest:
            return verifiesRSA(signature, over: message, by: .pss(digest))
        default:
            return nil
        }
    }

    /// Verifies RSA PKCS#1 v1.5 with SHA-1, only for documents whose caller allows legacy digests, never for
    /// certificates.
    /// - Returns: nil for another kind of key.
    func verifiesLegacyRSA(_ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>) -> Bool? {
        guard case .rsa = kind else { return nil }
        return verifiesRSA(signature, over: message, by: .pkcs1SHA1)
    }

    /// Verifies RSA-PSS with a salt of any length, for documents.
    /// - Returns: nil for another kind of key, and for one whose certificate restricts it to a digest and salt.
    func verifies(_ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, with pss: PSSVerification) -> Bool? {
        switch kind {
        case .rsa, .rsaPSS(_, nil):
            // The library's own rules for keys apply here too.
            guard case .rsa = library else { return false }
            return pss.verifies(signature, over: message, modulus: octets, exponent: exponent)
        default:
            return nil
        }
    }

    /// Verifies ECDSA with SHA-1 on P-256, with the restrictions of ``verifiesLegacyRSA(_:over:)``.
    func verifiesLegacyECDSA(_ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>) -> Bool? {
        guard kind == .p256 else { return nil }
        return library.verifiesECDSA(signature, over: Insecure.SHA1.hash(data: message))
    }

    private func verifiesRSA(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, by scheme: RSAVerificationKey.Scheme
    ) -> Bool {
        guard case .rsa(let key) = library else { return false }
        return key.verifies(signature, over: message, by: scheme)
    }

    /// The magnitude of a positive INTEGER, without the byte that only carries its sign. Any other leading zero is not
    /// DER (X.690 8.3.2), and would make a short modulus a long one.
    private static func magnitude(
        _ element: DERReader.Element, of bytes: [UInt8]
    ) throws(DERError) -> ArraySlice<UInt8> {
        let content = bytes[element.content]
        guard let first = content.first, first < 0x80 else {
            throw DERError(.invalidValue("an RSA number that is not positive"), at: element.encoded.lowerBound)
        }
        guard first == 0 else { return content }
        let magnitude = content.dropFirst()
        guard let next = magnitude.first, next >= 0x80 else {
            throw DERError(.invalidValue("an RSA number that is zero or padded"), at: element.encoded.lowerBound)
        }
        return magnitude
    }

    private static func isOdd(_ magnitude: ArraySlice<UInt8>) -> Bool { magnitude.last.map { $0 & 1 == 1 } ?? false }

    /// Whether bytes have the form of an uncompressed point (RFC 5480 2.2), which TLS servers and verifiers share.
    private static func isPoint(_ octets: ArraySlice<UInt8>, of size: Int) -> Bool {
        octets.count == 1 + 2 * size && octets.first == 4
    }

    /// 1.2.840.113549.1.1.1
    static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
    /// 1.2.840.113549.1.1.10
    static let rsassaPSS: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A]
    /// 1.2.840.10045.2.1
    private static let idECPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    /// 1.3.101.112
    private static let idEd25519: [UInt8] = [0x2B, 0x65, 0x70]
    private static let secp256r1: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    private static let secp384r1: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
    private static let secp521r1: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
}

extension CertificatePublicKey.Kind: CustomStringConvertible {
    package var description: String {
        switch self {
        case .rsa(let bits): "RSA \(bits)"
        case .rsaPSS(let bits, _): "RSA-PSS \(bits)"
        case .p256: "P-256"
        case .p384: "P-384"
        case .p521: "P-521"
        case .ed25519: "Ed25519"
        case .unsupported(let what): "unsupported: \(what)"
        }
    }
}
