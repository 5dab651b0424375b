extension PSSVerification {
    /// Reads RSASSA-PSS-params (RFC 4055 3.1): the digest named apart, MGF1 with the same, a salt of 0 to 1,024 octets,
    /// the usual trailer, which DER leaves out.
    init?(_ parameters: Range<Int>, of bytes: [UInt8], digest: CertificateSignatureAlgorithm.Digest) {
        guard let length = try? Self.saltLength(parameters, of: bytes, digest: digest) else { return nil }
        self.init(digest: digest, saltLength: length)
    }

    private static func saltLength(
        _ parameters: Range<Int>, of bytes: [UInt8], digest: CertificateSignatureAlgorithm.Digest
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
