/// The signature of a CMS message (RFC 5652 5.3, RFC 3370 3, RFC 4056, RFC 5753 2). The algorithm and the separate
/// digest must agree, because an attacker who can choose between two digests takes the weaker one.
enum CMSSignature: Sendable, Equatable {
    case sha2(CertificateSignatureAlgorithm)
    /// With a salt whose length differs from that of the digest.
    case rsaPSS(PSSVerification)
    case rsaWithSHA1
    case ecdsaWithSHA1

    /// Reads the content of the AlgorithmIdentifier of a SignerInfo.
    init(_ content: Range<Int>, of bytes: [UInt8], digest: CMSDigest) throws {
        var fields = DERReader(bytes, in: content)
        let identifier = bytes[try fields.next(DERTag.objectIdentifier).content]
        let parameters = bytes[fields.position..<fields.end]
        if identifier.elementsEqual(CertificatePublicKey.rsaEncryption) {
            guard parameters.isEmpty || parameters.elementsEqual([DERTag.null, 0]) else {
                throw DocumentError(
                    .unsupportedMessage, field: "signatureAlgorithm", expected: "rsaEncryption without parameters",
                    found: "it with some")
            }
            switch digest {
            case .sha1: self = .rsaWithSHA1
            case .sha2(let digest): self = .sha2(.rsaPKCS1(digest))
            }
            return
        }
        let algorithm = try CertificateSignatureAlgorithm(content, of: bytes)
        switch (algorithm, digest) {
        case (.rsaPKCS1(let named), .sha2(let digest)) where named == digest,
            (.rsaPSS(let named), .sha2(let digest)) where named == digest,
            (.ecdsa(let named), .sha2(let digest)) where named == digest:
            self = .sha2(algorithm)
        case (.weak("RSA PKCS#1 v1.5 with SHA-1"), .sha1): self = .rsaWithSHA1
        case (.weak("ECDSA with SHA-1"), .sha1): self = .ecdsaWithSHA1
        case (.rsaPKCS1, _), (.rsaPSS, _), (.ecdsa, _), (.weak, _):
            throw DocumentError(
                .unsupportedMessage, field: "signatureAlgorithm", expected: "an algorithm with \(digest.name)",
                found: algorithm.description)
        case (.unsupported, .sha2(let digest)) where identifier.elementsEqual(CertificatePublicKey.rsassaPSS):
            guard let pss = PSSVerification(fields.position..<fields.end, of: bytes, digest: digest) else {
                throw DocumentError(
                    .unsupportedAlgorithm, field: "signatureAlgorithm",
                    expected: "RSA-PSS with \(digest.name) and MGF1 of the same", found: algorithm.description)
            }
            self = .rsaPSS(pss)
        case (.ed25519, _), (.merkleTreeProof, _), (.unsupported, _):
            throw DocumentError(
                .unsupportedAlgorithm, field: "signatureAlgorithm", expected: "RSA or ECDSA",
                found: algorithm.description)
        }
    }

    /// - Returns: nil if the key is not for the algorithm.
    func verifies(_ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, by key: CertificatePublicKey)
        -> Bool?
    {
        switch self {
        case .sha2(let algorithm): key.verifies(signature, over: message, with: algorithm)
        case .rsaPSS(let pss): key.verifies(signature, over: message, with: pss)
        case .rsaWithSHA1: key.verifiesLegacyRSA(signature, over: message)
        case .ecdsaWithSHA1: key.verifiesLegacyECDSA(signature, over: message)
        }
    }
}

extension CMSSignature: CustomStringConvertible {
    var description: String {
        switch self {
        case .sha2(let algorithm): algorithm.description
        case .rsaPSS(let pss): "RSA-PSS with \(pss.digest.name) and a salt of \(pss.saltLength)"
        case .rsaWithSHA1: "RSA PKCS#1 v1.5 with SHA-1"
        case .ecdsaWithSHA1: "ECDSA with SHA-1"
        }
    }
}
