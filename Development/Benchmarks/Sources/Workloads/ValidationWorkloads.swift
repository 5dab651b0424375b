import Crypto
import CryptoExtras
import Holdfast
import SwiftASN1

/// Standard validation, its minimum work, and chains that it refuses.
public enum ValidationWorkloads {
    /// DER to verdict, nothing remembered.
    public static func cold(_ chain: ChainMaterial) -> Workload {
        validation("Holdfast, cold", chain, PathValidator(anchors: chain.anchors))
    }

    /// DER to verdict, the path remembered from before.
    public static func warm(_ chain: ChainMaterial) -> Workload {
        validation("Holdfast, warm", chain, PathValidator(anchors: chain.anchors, cache: VerifiedPathCache()))
    }

    private static func validation(_ name: String, _ chain: ChainMaterial, _ validator: PathValidator) -> Workload {
        let presented = chain.presented
        let (host, time) = (chain.host, chain.time)
        return Workload(name) {
            let outcome = validator.validate(
                PresentedChain(presented), for: .server(identity: host), at: time, accepting: { _ in true })
            try require(outcome.path != nil, "\(name): \(outcome.failure.map { "\($0)" } ?? "no path")")
        }
    }

    /// A chain that is refused.
    public static func refusal(_ name: String, _ material: RefusedMaterial) -> Workload {
        let validator = PathValidator(anchors: material.anchors)
        return Workload(name) {
            let outcome = validator.validate(
                PresentedChain(material.presented), for: .server(identity: material.host), at: material.time,
                accepting: { _ in true })
            try require(outcome.failure?.code == material.code, "\(name): \(outcome.failure?.code.rawValue ?? "none")")
        }
    }

    /// Only the path's signature verifications: keys, signatures and messages are available as bytes, in the form of a
    /// certificate.
    public static func bareSignatures(_ chain: ChainMaterial) throws -> Workload {
        let signatures = try zip(chain.path, chain.path.dropFirst()).map { try BareSignature(of: $0, by: $1) }
        return Workload("bare signature verifications") {
            for signature in signatures { try require(try signature.verifies(), "a signature does not verify") }
        }
    }

    /// The same with keys and signatures already in the library's own form, which no verifier has for a chain that it
    /// sees for the first time.
    public static func bareSignaturesWithReadKeys(_ chain: ChainMaterial) throws -> Workload {
        let signatures = try zip(chain.path, chain.path.dropFirst()).map { try BareSignature(of: $0, by: $1).read() }
        return Workload("bare signature verifications, keys read before") {
            for signature in signatures { try require(signature(), "a signature does not verify") }
        }
    }
}

/// One signature of a path, taken apart with swift-asn1.
struct BareSignature: Sendable {
    private enum Key: Sendable { case p256, p384, rsa }

    private let kind: Key
    private let key: [UInt8]
    private let message: [UInt8]
    private let signature: [UInt8]

    init(of certificate: [UInt8], by issuer: [UInt8]) throws {
        let fields = try Self.children(try DER.parse(certificate))
        guard fields.count == 3 else { throw WorkloadError("no certificate") }
        message = Array(fields[0].encodedBytes)
        signature = Array(try ASN1BitString(derEncoded: fields[2]).bytes)
        let spki = Array(try SubjectPublicKeyInfo(certificateDER: issuer).der)
        let parts = try Self.children(try DER.parse(spki))
        let algorithm = try Self.children(parts[0])
        switch try ASN1ObjectIdentifier(derEncoded: algorithm[0]) {
        case [1, 2, 840, 113_549, 1, 1, 1]:
            kind = .rsa
            key = spki
        default:
            kind = try ASN1ObjectIdentifier(derEncoded: algorithm[1]) == [1, 3, 132, 0, 34] ? .p384 : .p256
            key = Array(try ASN1BitString(derEncoded: parts[1]).bytes)
        }
    }

    private static func children(_ node: ASN1Node) throws -> [ASN1Node] {
        guard case .constructed(let nodes) = node.content else { throw WorkloadError("no constructed element") }
        return Array(nodes)
    }

    func verifies() throws -> Bool { try read()() }

    /// Reads key and signature.
    func read() throws -> @Sendable () -> Bool {
        let message = message
        switch kind {
        case .p256:
            let key = try P256.Signing.PublicKey(x963Representation: key)
            let signature = try P256.Signing.ECDSASignature(derRepresentation: signature)
            return { key.isValidSignature(signature, for: SHA256.hash(data: message)) }
        case .p384:
            let key = try P384.Signing.PublicKey(x963Representation: key)
            let signature = try P384.Signing.ECDSASignature(derRepresentation: signature)
            return { key.isValidSignature(signature, for: SHA384.hash(data: message)) }
        case .rsa:
            let key = try _RSA.Signing.PublicKey(derRepresentation: key)
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return { key.isValidSignature(signature, for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5) }
        }
    }
}
