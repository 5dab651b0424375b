import Crypto

/// The signature algorithms that are verified (RFC 5280 4.1.1.2, RFC 4055, RFC 5758, RFC 8410), identified by the
/// bytes of their AlgorithmIdentifier.
package enum CertificateSignatureAlgorithm: Sendable, Equatable {
    package enum Digest: Sendable { case sha256, sha384, sha512 }

    case rsaPKCS1(Digest)
    /// MGF1 with the same digest and a salt of its length: the only parameters in use.
    case rsaPSS(Digest)
    case ecdsa(Digest)
    case ed25519
    /// Made with SHA-1 or MD5: recognized, never accepted.
    case weak(String)
    /// A proof that a log contains the certificate, instead of a signature by the issuer's key (id-alg-mtcProof,
    /// draft-ietf-plants-merkle-tree-certs).
    case merkleTreeProof
    case unsupported(String)

    /// Reads the content of an AlgorithmIdentifier.
    package init(_ content: Range<Int>, of bytes: [UInt8]) throws(DERError) {
        var fields = DERReader(bytes, in: content)
        let identifier = bytes[try fields.next(DERTag.objectIdentifier).content]
        let parameters = bytes[fields.position..<content.upperBound]
        let noParameters = parameters.isEmpty
        let nullOrNone = noParameters || parameters.elementsEqual([DERTag.null, 0])
        let known: CertificateSignatureAlgorithm? =
            if identifier.starts(with: Self.pkcs1), identifier.count == 9 {
                switch identifier[identifier.startIndex + 8] {
                case 4 where nullOrNone: .weak("RSA PKCS#1 v1.5 with MD5")
                case 5 where nullOrNone: .weak("RSA PKCS#1 v1.5 with SHA-1")
                case 10: Self.pss[Array(parameters)].map(CertificateSignatureAlgorithm.rsaPSS)
                case 11 where nullOrNone: .rsaPKCS1(.sha256)
                case 12 where nullOrNone: .rsaPKCS1(.sha384)
                case 13 where nullOrNone: .rsaPKCS1(.sha512)
                default: nil
                }
            } else if identifier.elementsEqual(Self.ecdsaWithSHA1) {
                .weak("ECDSA with SHA-1")
            } else if identifier.starts(with: Self.ecdsaWithSHA2), identifier.count == 8, noParameters {
                switch identifier[identifier.startIndex + 7] {
                case 2: .ecdsa(.sha256)
                case 3: .ecdsa(.sha384)
                case 4: .ecdsa(.sha512)
                default: nil
                }
            } else if identifier.elementsEqual(Self.idEd25519), noParameters {
                .ed25519
            } else if identifier.elementsEqual(Self.mtcProof)
                || identifier.starts(with: Self.experimentalMTC) && identifier.count == Self.experimentalMTC.count + 1
            {
                .merkleTreeProof
            } else {
                nil
            }
        self = known ?? .unsupported(Self.name(identifier, parameters: fields.position..<content.upperBound, of: bytes))
    }

    /// The name of an algorithm that is not verified; nil for one that is.
    package var unsupportedName: String? {
        switch self {
        case .weak, .merkleTreeProof, .unsupported: description
        case .rsaPKCS1, .rsaPSS, .ecdsa, .ed25519: nil
        }
    }

    /// The name of an algorithm with its digest, or with a remark about parameters if these make it unsupported.
    private static func name(_ identifier: ArraySlice<UInt8>, parameters: Range<Int>, of bytes: [UInt8]) -> String {
        if identifier.elementsEqual(CertificatePublicKey.rsassaPSS) { return pssName(parameters, of: bytes) }
        let name = AlgorithmName.text(identifier)
        // Without parameters, these would be verified, or would have a known digest.
        let hasParameters =
            if identifier.starts(with: pkcs1) {
                !parameters.isEmpty && !bytes[parameters].elementsEqual([DERTag.null, 0])
            } else if identifier.starts(with: ecdsaWithSHA2) || identifier.elementsEqual(idEd25519) {
                !parameters.isEmpty
            } else {
                false
            }
        return hasParameters ? "\(name) with parameters" : name
    }

    /// The name of RSASSA-PSS with its parameters (RSASSA-PSS-params, RFC 4055 3.1); the default hashAlgorithm is
    /// SHA-1.
    private static func pssName(_ parameters: Range<Int>, of bytes: [UInt8]) -> String {
        do throws(DERError) {
            var digest = "SHA-1"
            if !parameters.isEmpty {
                var fields = try DERReader(sequence: bytes, in: parameters)
                if let explicit = try fields.nextIfPresent(DERTag.contextConstructed(0)) {
                    var algorithm = try DERReader(sequence: bytes, in: explicit.content)
                    digest = AlgorithmName.text(bytes[try algorithm.next(DERTag.objectIdentifier).content])
                }
            }
            let isKnown = ["SHA-256", "SHA-384", "SHA-512"].contains(digest)
            return "RSA-PSS with \(digest)" + (isKnown ? " and another mask or salt" : "")
        } catch {
            return "RSA-PSS with unreadable parameters"
        }
    }

    /// 1.2.840.113549.1.1
    private static let pkcs1: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01]
    /// 1.2.840.10045.4.1
    private static let ecdsaWithSHA1: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x01]
    /// 1.2.840.10045.4.3
    private static let ecdsaWithSHA2: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03]
    /// 1.3.101.112
    private static let idEd25519: [UInt8] = [0x2B, 0x65, 0x70]
    /// 1.3.6.1.5.5.7.6.67
    private static let mtcProof: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x06, 0x43]
    /// 1.3.6.1.4.1.44363.47: each draft before the registration used another arc under it.
    private static let experimentalMTC: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xDA, 0x4B, 0x2F]

    /// RSASSA-PSS-params (RFC 4055 3.1) of the three digests, with the digests' NULL parameters, as RFC 4055 2.1
    /// requires them to be generated, and without, as it requires them to be accepted.
    static let pss: [[UInt8]: Digest] = {
        var table: [[UInt8]: Digest] = [:]
        for (digest, lastArc, salt) in [(Digest.sha256, UInt8(1), UInt8(32)), (.sha384, 2, 48), (.sha512, 3, 64)] {
            for null in [[0x05, 0x00], []] as [[UInt8]] {
                let hash = DEREncoding.element(
                    0x30, [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, lastArc] + null)
                let mgf1 = DEREncoding.element(0x30, [0x06, 0x09] + pkcs1 + [0x08] + hash)
                let fields =
                    DEREncoding.element(0xA0, hash) + DEREncoding.element(0xA1, mgf1)
                    + DEREncoding.element(0xA2, [0x02, 0x01, salt])
                table[DEREncoding.element(0x30, fields)] = digest
            }
        }
        return table
    }()
}

extension CertificateSignatureAlgorithm: CustomStringConvertible {
    package var description: String {
        switch self {
        case .rsaPKCS1(let digest): "RSA PKCS#1 v1.5 with \(digest.name)"
        case .rsaPSS(let digest): "RSA-PSS with \(digest.name)"
        case .ecdsa(let digest): "ECDSA with \(digest.name)"
        case .ed25519: "Ed25519"
        case .merkleTreeProof: "a Merkle tree proof (id-alg-mtcProof)"
        case .weak(let name), .unsupported(let name): name
        }
    }
}

extension CertificateSignatureAlgorithm.Digest {
    var name: String {
        switch self {
        case .sha256: "SHA-256"
        case .sha384: "SHA-384"
        case .sha512: "SHA-512"
        }
    }
}

extension CertificateSignatureAlgorithm.Digest {
    /// The digest of a message.
    func hash(_ message: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .sha256: Array(SHA256.hash(data: message))
        case .sha384: Array(SHA384.hash(data: message))
        case .sha512: Array(SHA512.hash(data: message))
        }
    }
}
