extension PSSVerification {
    /// Reads RSASSA-PSS-params (RFC 4055 3.1): the separate digest, MGF1 with the same digest, a salt of 0 to 1,024
    /// bytes, and the usual trailer, which DER leaves out.
    init?(_ parameters: Range<Int>, of bytes: [UInt8], digest: CertificateSignatureAlgorithm.Digest) {
        guard let length = try? Self.saltLength(parameters, of: bytes, digest: digest) else { return nil }
        self.init(digest: digest, saltLength: length)
    }

    private static func saltLength(
        _ parameters: Range<Int>, of bytes: [UInt8], digest: CertificateSignatureAlgorithm.Digest
    ) throws -> Int? {
        var fields = try DERReader(sequence: bytes, in: parameters)
        let hashField = try fields.next(DERTag.contextConstructed(0)).content
        let hash = try DERReader.only(DERTag.sequence, of: bytes, in: hashField).content
        var mask = try DERReader(sequence: bytes, in: try fields.next(DERTag.contextConstructed(1)).content)
        let generator = bytes[try mask.next(DERTag.objectIdentifier).content]
        let maskHash = try mask.next(DERTag.sequence).content
        try mask.finish()
        // 20 is the default, which DER leaves out.
        var salt: ArraySlice<UInt8> = [20]
        if let explicit = try fields.nextIfPresent(DERTag.contextConstructed(2)) {
            salt = bytes[try DERReader.only(DERTag.integer, of: bytes, in: explicit.content).content]
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
