import Foundation
import HoldfastTesting
import Security
import Testing

@testable import Holdfast

/// Keys and signatures of Security.framework's, which Holdfast has verified by SecKey (RSA) and CryptoKit (ECDSA).
@Suite("SecKey")
struct SecKeyTests {
    private static let message = Array("what is signed".utf8)

    private func privateKey(_ type: CFString, bits: Int) throws -> SecKey {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: type as String, kSecAttrKeySizeInBits as String: bits,
        ]
        let key = SecKeyCreateRandomKey(attributes as CFDictionary, nil)
        return try #require(key)
    }

    /// PKCS #1 of an RSA key, the point of another.
    private func publicOctets(of key: SecKey) throws -> [UInt8] {
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let octets = SecKeyCopyExternalRepresentation(publicKey, nil)
        return [UInt8](try #require(octets) as Data)
    }

    private func signature(_ algorithm: SecKeyAlgorithm, by key: SecKey) throws -> [UInt8] {
        let value = SecKeyCreateSignature(key, algorithm, Data(Self.message) as CFData, nil)
        return [UInt8](try #require(value) as Data)
    }

    private func read(_ algorithm: [UInt8], _ bits: [UInt8]) throws -> CertificatePublicKey {
        let der = TestDER.sequence([algorithm, TestDER.bitString(bits)])
        return try CertificatePublicKey(0..<der.count, of: der)
    }

    private func rsa(_ key: SecKey) throws -> CertificatePublicKey {
        let algorithm = TestDER.sequence([TestDER.objectIdentifier([1, 2, 840, 113_549, 1, 1, 1]), TestDER.null])
        return try read(algorithm, publicOctets(of: key))
    }

    @Test("Signatures of a SecKey on RSA verify, and no other signature does")
    func rsaSignatures() throws {
        let key = try privateKey(kSecAttrKeyTypeRSA, bits: 2_048)
        let publicKey = try rsa(key)
        let cases: [(SecKeyAlgorithm, CertificateSignatureAlgorithm)] = [
            (.rsaSignatureMessagePKCS1v15SHA256, .rsaPKCS1(.sha256)),
            (.rsaSignatureMessagePKCS1v15SHA384, .rsaPKCS1(.sha384)),
            (.rsaSignatureMessagePKCS1v15SHA512, .rsaPKCS1(.sha512)),
            (.rsaSignatureMessagePSSSHA256, .rsaPSS(.sha256)), (.rsaSignatureMessagePSSSHA384, .rsaPSS(.sha384)),
            (.rsaSignatureMessagePSSSHA512, .rsaPSS(.sha512)),
        ]
        for (theirs, ours) in cases {
            let value = try signature(theirs, by: key)
            func verifies(_ signature: [UInt8], _ algorithm: CertificateSignatureAlgorithm) -> Bool? {
                publicKey.verifies(signature[...], over: Self.message[...], with: algorithm)
            }
            #expect(verifies(value, ours) == true, "\(ours)")
            #expect(publicKey.verifies(value[...], over: Self.message.reversed()[...], with: ours) == false)
            for (_, other) in cases where other != ours { #expect(verifies(value, other) == false) }
            var changed = value
            changed[100] ^= 1
            #expect(verifies(changed, ours) == false)
            // Whether SecKey takes signatures of another length is not documented: Holdfast does not ask it.
            #expect(verifies([0] + value, ours) == false)
            #expect(verifies(value.dropLast(), ours) == false)
        }
        let stranger = try rsa(privateKey(kSecAttrKeyTypeRSA, bits: 2_048))
        let value = try signature(.rsaSignatureMessagePSSSHA256, by: key)
        #expect(stranger.verifies(value[...], over: Self.message[...], with: .rsaPSS(.sha256)) == false)
    }

    @Test("An RSA key of 1,024 bits verifies nothing, although SecKey would")
    func weakKeys() throws {
        let key = try privateKey(kSecAttrKeyTypeRSA, bits: 1_024)
        let value = try signature(.rsaSignatureMessagePKCS1v15SHA256, by: key)
        #expect(try rsa(key).verifies(value[...], over: Self.message[...], with: .rsaPKCS1(.sha256)) != true)
    }

    @Test("Chains of RSA certificates validate by SecKey, and a changed signature does not")
    func chains() throws {
        let site = try AppleSite(key: .sharedRSA(bits: 2048, index: 0))
        func outcome(_ chain: [[UInt8]]) throws -> ValidationOutcome {
            PathValidator(anchors: try site.anchors).validate(
                PresentedChain(chain), for: .server(identity: try site.host), at: .now
            ) { _ in true }
        }
        #expect(try outcome(site.leaf.chain).path?.certificates.count == 3)
        var forged = site.leaf.chain
        forged[0][forged[0].count - 1] ^= 1
        #expect(try outcome(forged).failure?.code == .invalidSignature)
    }

    @Test("Signatures of a SecKey on P-256, as the Secure Enclave makes them, verify")
    func ecdsa() throws {
        let key = try privateKey(kSecAttrKeyTypeECSECPrimeRandom, bits: 256)
        let value = try signature(.ecdsaSignatureMessageX962SHA256, by: key)
        let algorithm = TestDER.sequence([
            TestDER.objectIdentifier([1, 2, 840, 10_045, 2, 1]),
            TestDER.objectIdentifier([1, 2, 840, 10_045, 3, 1, 7]),
        ])
        let publicKey = try read(algorithm, publicOctets(of: key))
        #expect(publicKey.verifies(value[...], over: Self.message[...], with: .ecdsa(.sha256)) == true)
        #expect(publicKey.verifies(value[...], over: Self.message.dropLast()[...], with: .ecdsa(.sha256)) == false)
    }
}
