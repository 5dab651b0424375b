/// RSASSA-PSS (RFC 8017 8.1.2, 9.1.2) with a salt of any length.
///
/// The cryptographic library verifies salts of the digest's length and none, which is what certificates have; openssl
/// signs messages with the longest that the key has room for unless it is told otherwise.
struct PSSVerification: Sendable, Equatable {
    let digest: SignatureAlgorithm.Digest
    let saltLength: Int

    /// Reads RSASSA-PSS-params (RFC 4055 3.1): the digest named apart, MGF1 with the same, a salt of 0 to 1,024 octets,
    /// the usual trailer, which DER leaves out.
    init?(_ parameters: Range<Int>, of bytes: [UInt8], digest: SignatureAlgorithm.Digest) {
        guard let length = try? Self.saltLength(parameters, of: bytes, digest: digest) else { return nil }
        self.init(digest: digest, saltLength: length)
    }

    init(digest: SignatureAlgorithm.Digest, saltLength: Int) {
        self.digest = digest
        self.saltLength = saltLength
    }

    func verifies(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, modulus: ArraySlice<UInt8>,
        exponent: ArraySlice<UInt8>
    ) -> Bool {
        guard let operation = RSAPublicOperation(modulus: modulus, exponent: exponent),
            var encoded = operation.message(of: signature)
        else { return false }
        let bits = operation.bitCount - 1
        // One octet shorter than the modulus where the first would have no bit.
        if bits % 8 == 0 {
            guard encoded.removeFirst() == 0 else { return false }
        }
        return isEncoding(encoded[...], bits: bits, of: message)
    }

    /// EMSA-PSS-VERIFY.
    private func isEncoding(_ encoded: ArraySlice<UInt8>, bits: Int, of message: ArraySlice<UInt8>) -> Bool {
        let messageHash = hash(message)
        let hashLength = messageHash.count
        guard encoded.count >= hashLength + saltLength + 2, encoded.last == 0xBC else { return false }
        let masked = encoded.dropLast(hashLength + 1)
        let expected = encoded.dropLast().suffix(hashLength)
        let unused = 8 * encoded.count - bits
        let allowed = UInt8(truncatingIfNeeded: 0xFF >> unused)
        guard let first = masked.first, first & ~allowed == 0 else { return false }
        var block = zip(masked, mask(expected, count: masked.count)).map { $0 ^ $1 }
        block[0] &= allowed
        let padding = block.count - saltLength - 1
        guard block[..<padding].allSatisfy({ $0 == 0 }), block[padding] == 1 else { return false }
        let salted = [UInt8](repeating: 0, count: 8) + messageHash + block[(padding + 1)...]
        return hash(salted[...]).elementsEqual(expected)
    }

    /// MGF1 (RFC 8017 B.2.1).
    private func mask(_ seed: ArraySlice<UInt8>, count: Int) -> [UInt8] {
        var mask: [UInt8] = []
        var counter: UInt32 = 0
        while mask.count < count {
            let octets = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> UInt32($0)) }
            mask += hash((seed + octets)[...])
            counter += 1
        }
        return Array(mask.prefix(count))
    }

    private func hash(_ octets: ArraySlice<UInt8>) -> [UInt8] { CMSDigest.sha2(digest).hash(octets) }

    private static func saltLength(
        _ parameters: Range<Int>, of bytes: [UInt8], digest: SignatureAlgorithm.Digest
    ) throws -> Int? {
        var outer = DERReader(bytes, in: parameters)
        var fields = outer.inside(try outer.next(DERTag.sequence))
        try outer.finish()
        var hashField = fields.inside(try fields.next(DERTag.contextConstructed(0)))
        let hash = try hashField.next(DERTag.sequence).content
        try hashField.finish()
        var maskField = fields.inside(try fields.next(DERTag.contextConstructed(1)))
        var mask = maskField.inside(try maskField.next(DERTag.sequence))
        try maskField.finish()
        let generator = bytes[try mask.next(DERTag.objectIdentifier).content]
        let maskHash = try mask.next(DERTag.sequence).content
        try mask.finish()
        // 20 is the default, which DER leaves out.
        var salt: ArraySlice<UInt8> = [20]
        if let explicit = try fields.nextIfPresent(DERTag.contextConstructed(2)) {
            var saltField = fields.inside(explicit)
            salt = bytes[try saltField.next(DERTag.integer).content]
            try saltField.finish()
        }
        try fields.finish()
        guard generator.elementsEqual(Self.mgf1),
            try CMSDigest(hash, of: bytes, allowsLegacy: false) == .sha2(digest),
            try CMSDigest(maskHash, of: bytes, allowsLegacy: false) == .sha2(digest),
            (1...2).contains(salt.count), let first = salt.first, first < 0x80, salt.count == 1 || first < 4
        else { return nil }
        return salt.reduce(0) { $0 << 8 | Int($1) }
    }

    /// 1.2.840.113549.1.1.8
    private static let mgf1: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x08]
}
