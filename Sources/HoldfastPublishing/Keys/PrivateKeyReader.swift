import Crypto
import CryptoExtras
import Foundation
package import Holdfast
import SwiftASN1

/// Finds the public key of a private key: PKCS #8 (RFC 5958), SEC 1 (RFC 5915) or PKCS #1 (RFC 8017), in DER.
package struct PrivateKeyReader: Sendable {
    package struct Failure: Error {
        package let reason: String
        /// Whether the key itself is usable, and only its curve is unnamed.
        package var hasExplicitParameters = false
    }

    /// The SubjectPublicKeyInfo of a certificate with this key.
    package let publicKey: SubjectPublicKeyInfo

    package init(der: [UInt8]) throws(Failure) {
        do {
            publicKey = try SubjectPublicKeyInfo(der: try Self.publicKey(ofPrivateKey: try DER.parse(der)))
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(reason: "it is not a key in PKCS #8, SEC 1 or PKCS #1")
        }
    }

    /// Whether it is an EncryptedPrivateKeyInfo (RFC 5958 3): exactly an algorithm and encrypted data.
    package static func isEncrypted(_ der: [UInt8]) -> Bool {
        let parts = try? DER.sequence(try DER.parse(der), identifier: .sequence) { fields -> [ASN1Identifier] in
            var found: [ASN1Identifier] = []
            while let field = fields.next() { found.append(field.identifier) }
            return found
        }
        return parts == [.sequence, .octetString]
    }

    /// RFC 5480 2.1.1 forbids them in certificates.
    private static let explicitParameters = Failure(
        reason: "its elliptic curve is written as parameters and not by its name, which certificates must not have",
        hasExplicitParameters: true)

    private static func publicKey(ofPrivateKey key: ASN1Node) throws -> [UInt8] {
        try DER.sequence(key, identifier: .sequence) { fields in
            let version = try Int(derEncoded: &fields)
            guard let second = fields.next() else { throw Failure(reason: "it ends after its version") }
            defer { while fields.next() != nil {} }
            switch second.identifier {
            case .sequence: return try pkcs8(algorithm: second, key: try ASN1OctetString(derEncoded: &fields).bytes)
            case .octetString where version == 1:
                let parameters = try DER.optionalExplicitlyTagged(
                    &fields, tagNumber: 0, tagClass: .contextSpecific
                ) { node in
                    guard node.identifier == .objectIdentifier else { throw Self.explicitParameters }
                    return try ASN1ObjectIdentifier(derEncoded: node)
                }
                guard let curve = parameters else { throw Failure(reason: "it does not name its curve") }
                return try elliptic(curve, scalar: try ASN1OctetString(derEncoded: second).bytes)
            case .integer: return Array(try rsa(key.encodedBytes).derRepresentation)
            default: throw Failure(reason: "it is not a key in PKCS #8, SEC 1 or PKCS #1")
            }
        }
    }

    private static func pkcs8(algorithm: ASN1Node, key: ArraySlice<UInt8>) throws -> [UInt8] {
        let (identifier, parameters) = try DER.sequence(algorithm, identifier: .sequence) { fields in
            let identifier = try ASN1ObjectIdentifier(derEncoded: &fields)
            let parameters = fields.next()
            while fields.next() != nil {}
            return (identifier, parameters)
        }
        switch identifier {
        case Self.idECPublicKey:
            guard let parameters, parameters.identifier == .objectIdentifier else {
                throw Self.explicitParameters
            }
            let scalar = try DER.sequence(try DER.parse(key), identifier: .sequence) { fields in
                _ = try Int(derEncoded: &fields)
                let scalar = try ASN1OctetString(derEncoded: &fields).bytes
                while fields.next() != nil {}
                return scalar
            }
            return try elliptic(try ASN1ObjectIdentifier(derEncoded: parameters), scalar: scalar)
        case Self.rsaEncryption:
            return Array(try rsa(key).derRepresentation)
        case Self.rsassaPSS:
            // Certificates for this key state that it is only for PSS, and the pin hashes that statement.
            let bits = ASN1BitString(bytes: Array(try rsa(key).pkcs1DERRepresentation)[...])
            var writer = DER.Serializer()
            try writer.appendConstructedNode(identifier: .sequence) { inside in
                inside.serializeRawBytes(algorithm.encodedBytes)
                try inside.serialize(bits)
            }
            return writer.serializedBytes
        case Self.idEd25519:
            let seed = try ASN1OctetString(derEncoded: Array(key)).bytes
            let key = try Curve25519.Signing.PrivateKey(rawRepresentation: seed)
            return Array(key.publicKey.derRepresentation)
        default:
            throw Failure(reason: "its algorithm is not RSA, RSA-PSS, an elliptic curve or Ed25519")
        }
    }

    private static func rsa(_ pkcs1: ArraySlice<UInt8>) throws -> _RSA.Signing.PublicKey {
        do {
            return try _RSA.Signing.PrivateKey(unsafeDERRepresentation: pkcs1).publicKey
        } catch {
            guard let bits = modulusBits(pkcs1) else { throw Failure(reason: "it is not an RSA key") }
            // Between these sizes the numbers themselves are wrong.
            guard (1_024...8_192).contains(bits) else {
                throw Failure(reason: "it is an RSA key of \(bits) bits, and clients accept 2048 to 8192")
            }
            throw Failure(reason: "its numbers are no RSA key")
        }
    }

    /// The size of the modulus of an RSAPrivateKey (RFC 8017 A.1.2); nil if it is none.
    private static func modulusBits(_ pkcs1: ArraySlice<UInt8>) -> Int? {
        guard var fields = try? DERReader(sequence: Array(pkcs1)), (try? fields.next(DERTag.integer)) != nil,
            let content = try? fields.next(DERTag.integer).content
        else { return nil }
        let modulus = Array(pkcs1)[content].drop { $0 == 0 }
        return modulus.first.map { modulus.count * 8 - $0.leadingZeroBitCount }
    }

    private static func elliptic(_ curve: ASN1ObjectIdentifier, scalar: ArraySlice<UInt8>) throws -> [UInt8] {
        do {
            switch curve {
            case Self.secp256r1:
                let key = try P256.Signing.PrivateKey(rawRepresentation: padded(scalar, to: 32))
                return Array(key.publicKey.derRepresentation)
            case Self.secp384r1:
                let key = try P384.Signing.PrivateKey(rawRepresentation: padded(scalar, to: 48))
                return Array(key.publicKey.derRepresentation)
            case Self.secp521r1:
                let key = try P521.Signing.PrivateKey(rawRepresentation: padded(scalar, to: 66))
                return Array(key.publicKey.derRepresentation)
            default:
                throw Failure(reason: "its elliptic curve is not P-256, P-384 or P-521")
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(reason: "its number is no private key of its curve")
        }
    }

    /// RFC 5915 3 fixes the length, but some tools omit leading zeros.
    private static func padded(_ scalar: ArraySlice<UInt8>, to length: Int) -> [UInt8] {
        Array(repeating: 0, count: max(0, length - scalar.count)) + scalar
    }

    private static let idECPublicKey: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 2, 1]
    private static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
    private static let rsassaPSS: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 10]
    private static let idEd25519: ASN1ObjectIdentifier = [1, 3, 101, 112]
    private static let secp256r1: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 3, 1, 7]
    private static let secp384r1: ASN1ObjectIdentifier = [1, 3, 132, 0, 34]
    private static let secp521r1: ASN1ObjectIdentifier = [1, 3, 132, 0, 35]
}
