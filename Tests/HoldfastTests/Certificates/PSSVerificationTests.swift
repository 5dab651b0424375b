import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("RSA-PSS with any salt")
struct PSSVerificationTests {
    private static let key = Result { try TestKey(.sharedRSA(bits: 2048, index: 0)) }

    private static func numbers() throws -> (modulus: ArraySlice<UInt8>, exponent: ArraySlice<UInt8>) {
        let info = try key.get().subjectPublicKeyInfoDER
        var outer = DERReader(info)
        var fields = outer.inside(try outer.next(DERTag.sequence))
        _ = try fields.next(DERTag.sequence)
        let bits = try fields.next(DERTag.bitString).content
        var pair = DERReader(info, in: bits.lowerBound + 1..<bits.upperBound)
        var integers = pair.inside(try pair.next(DERTag.sequence))
        return (info[try integers.next(DERTag.integer).content], info[try integers.next(DERTag.integer).content])
    }

    @Test(
        "It agrees with the library on the salts that the library has",
        arguments: [(TestSignature.Digest.sha256, 32), (.sha384, 48), (.sha512, 64)])
    func agreement(digest: TestSignature.Digest, salt: Int) throws {
        let known: CertificateSignatureAlgorithm.Digest =
            switch digest {
            case .sha384: .sha384
            case .sha512: .sha512
            default: .sha256
            }
        let (modulus, exponent) = try Self.numbers()
        let message = Array("a message".utf8)
        let signature = try Self.key.get().signature(of: message, by: .rsaPSS(digest))
        func verifies(_ signature: [UInt8], _ message: [UInt8], salt: Int) -> Bool {
            PSSVerification(digest: known, saltLength: salt).verifies(
                signature[...], over: message[...], modulus: modulus, exponent: exponent)
        }
        #expect(verifies(signature, message, salt: salt))
        #expect(!verifies(signature, Array("another".utf8), salt: salt))
        for other in [0, salt - 1, salt + 1, 1_024] { #expect(!verifies(signature, message, salt: other)) }
        for place in [0, 1, 100, 254, 255] {
            var altered = signature
            altered[place] ^= 0x01
            #expect(!verifies(altered, message, salt: salt))
        }
        #expect(!verifies(Array(signature.dropLast()), message, salt: salt))
        #expect(!verifies([0] + signature, message, salt: salt))
        #expect(!verifies([], message, salt: salt))
    }

    @Test("A signature that is not below the modulus is none, though it leads to the same number")
    func range() throws {
        let (modulus, exponent) = try Self.numbers()
        let operation = try #require(RSAPublicOperation(modulus: modulus, exponent: exponent))
        let plain = Array(modulus.drop { $0 == 0 })
        #expect(operation.message(of: plain[...]) == nil)
        #expect(operation.message(of: [UInt8](repeating: 0xFF, count: 256)[...]) == nil)
        #expect(operation.message(of: [UInt8](repeating: 0, count: 256)[...]) == [UInt8](repeating: 0, count: 256))
        var one = [UInt8](repeating: 0, count: 256)
        one[255] = 1
        #expect(operation.message(of: one[...]) == one)
        // -1 to an odd power is -1.
        var minusOne = plain
        minusOne[255] &-= 1
        #expect(operation.message(of: minusOne[...]) == minusOne)
        // 3 to the third.
        one[255] = 3
        let cube = try #require(RSAPublicOperation(modulus: modulus, exponent: [3]))
        #expect(cube.message(of: one[...])?.suffix(2) == [0, 27])
    }

    @Test("Numbers that are no RSA key are refused")
    func keys() throws {
        let (modulus, exponent) = try Self.numbers()
        var even = Array(modulus)
        even[even.count - 1] &= 0xFE
        #expect(RSAPublicOperation(modulus: even[...], exponent: exponent) == nil)
        #expect(RSAPublicOperation(modulus: [], exponent: exponent) == nil)
        #expect(RSAPublicOperation(modulus: modulus, exponent: []) == nil)
        #expect(RSAPublicOperation(modulus: modulus, exponent: [0]) == nil)
        #expect(RSAPublicOperation(modulus: modulus, exponent: [2, 0, 0, 0, 1]) == nil)
        #expect(RSAPublicOperation(modulus: modulus, exponent: [1, 0, 0, 0, 0, 1]) == nil)
        #expect(RSAPublicOperation(modulus: modulus.suffix(128), exponent: exponent) == nil)
    }
}
