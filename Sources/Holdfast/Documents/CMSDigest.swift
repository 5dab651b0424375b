import Crypto

/// The digest algorithms of CMS messages (RFC 5754, RFC 3370 2.1 for SHA-1), by their AlgorithmIdentifier.
enum CMSDigest: Sendable, Equatable {
    case sha2(CertificateSignatureAlgorithm.Digest)
    /// SHA-1, only if the caller allows legacy digests.
    case sha1

    /// Reads the content of an AlgorithmIdentifier; its parameters are NULL or absent.
    init(_ content: Range<Int>, of bytes: [UInt8], allowsLegacy: Bool) throws {
        var fields = DERReader(bytes, in: content)
        let identifier = bytes[try fields.next(DERTag.objectIdentifier).content]
        let parameters = bytes[fields.position..<fields.end]
        guard parameters.isEmpty || parameters.elementsEqual([DERTag.null, 0]) else {
            throw DocumentError(
                .unsupportedMessage, field: "digestAlgorithm", expected: "a digest without parameters",
                found: "\(AlgorithmName.text(identifier)) with some")
        }
        if identifier.elementsEqual(Self.idSHA1) {
            self = .sha1
        } else if identifier.elementsEqual(Self.idMD5) {
            throw Self.legacy("MD5", isRefusedAlways: true)
        } else if identifier.count == 9, identifier.starts(with: Self.hashAlgorithms),
            let known = Self.sha2[identifier[identifier.endIndex - 1]]
        {
            self = .sha2(known)
        } else {
            throw DocumentError(
                .unsupportedAlgorithm, field: "digestAlgorithm", expected: "SHA-256, SHA-384 or SHA-512",
                found: AlgorithmName.text(identifier))
        }
        if self == .sha1, !allowsLegacy { throw Self.legacy("SHA-1", isRefusedAlways: false) }
    }

    func hash(_ message: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: message))
        case .sha2(let digest): digest.hash(message)
        }
    }

    var name: String {
        switch self {
        case .sha1: "SHA-1"
        case .sha2(let digest): digest.name
        }
    }

    private static func legacy(_ name: String, isRefusedAlways: Bool) -> DocumentError {
        DocumentError(
            .legacyDigest, field: "digestAlgorithm", expected: "SHA-256, SHA-384 or SHA-512", found: name,
            remedy: isRefusedAlways ? "Have the document signed with SHA-256." : nil)
    }

    /// 2.16.840.1.101.3.4.2
    private static let hashAlgorithms: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02]
    private static let sha2: [UInt8: CertificateSignatureAlgorithm.Digest] = [1: .sha256, 2: .sha384, 3: .sha512]
    /// 1.3.14.3.2.26
    private static let idSHA1: [UInt8] = [0x2B, 0x0E, 0x03, 0x02, 0x1A]
    /// 1.2.840.113549.2.5
    private static let idMD5: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02, 0x05]
}
