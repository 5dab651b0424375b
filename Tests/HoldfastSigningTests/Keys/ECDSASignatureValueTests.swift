import Crypto
import Holdfast
import Testing

@testable import HoldfastSigning

@Suite("The encoding of signatures")
struct ECDSASignatureValueTests {
    /// Numbers of every length, and with the first bit set or not.
    private static let numbers: [[UInt8]] = {
        let significant: [[UInt8]] = (0...32).flatMap { length -> [[UInt8]] in
            guard length > 0 else { return [[]] }
            return [0x01, 0x7F, 0x80, 0xFF].map { [$0] + [UInt8](repeating: 0x5A, count: length - 1) }
        }
        return significant.map { [UInt8](repeating: 0, count: 32 - $0.count) + $0 }
    }()

    @Test("Each pair of numbers is encoded as swift-crypto encodes it")
    func pairs() throws {
        for (place, r) in Self.numbers.enumerated() {
            let s = Self.numbers[(place * 7 + 3) % Self.numbers.count]
            for raw in [r + s, s + r] {
                let expected = try P256.Signing.ECDSASignature(rawRepresentation: raw).derRepresentation
                #expect(ECDSASignatureValue(raw).der == Array(expected))
            }
        }
    }

    @Test("What a key signs is verified by its public key")
    func verified() throws {
        let key = SigningKey()
        let publicKey = try P256.Signing.PublicKey(x963Representation: key.publicKey.x963)
        for number in 0..<64 {
            let message = [UInt8(number)]
            let signature = try P256.Signing.ECDSASignature(derRepresentation: key.signature(for: message))
            #expect(publicKey.isValidSignature(signature, for: message))
        }
    }
}
