import Crypto
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("The numbers of ECDSA signatures")
struct ECDSASignatureValueTests {
    private func sequence(_ content: [UInt8]) -> [UInt8] { [0x30, UInt8(content.count)] + content }

    private func octets(_ der: [UInt8], size: Int = 32) -> [UInt8]? {
        ECDSASignatureValue.octets(of: der[...], coordinateSize: size)
    }

    @Test("Numbers are as wide as a coordinate, and lose the octet of the sign")
    func widths() {
        #expect(octets(sequence([2, 1, 0x7F, 2, 2, 0, 0x80]), size: 3) == [0, 0, 0x7F, 0, 0, 0x80])
        #expect(octets(sequence([2, 1, 0, 2, 1, 1]), size: 2) == [0, 0, 0, 1])
    }

    @Test(
        "What is not the DER of two numbers that fit is none",
        arguments: [
            [], [2, 1, 1], [2, 1, 1, 2, 0], [2, 1, 1, 2, 1], [2, 1, 1, 4, 1, 1], [2, 1, 1, 2, 1, 1, 2, 1, 1],
            [2, 1, 0x80, 2, 1, 1], [2, 2, 0, 1, 2, 1, 1], [2, 1, 1, 2, 2, 0, 0], [2, 1, 1, 2, 0x81, 1, 1],
            [2, 1, 1, 2, 3, 1, 1, 1],
        ] as [[UInt8]])
    func refused(content: [UInt8]) {
        #expect(octets(sequence(content), size: 2) == nil)
        #expect(octets(sequence([2, 1, 1, 2, 1, 1]), size: 2) != nil, "the undamaged one")
    }

    @Test("Bytes behind the signature, and a length that is too long, are refused")
    func framing() {
        let good = sequence([2, 1, 1, 2, 1, 1])
        #expect(octets(good + [0]) == nil)
        #expect(octets([0x30, 0x81, 6] + good.dropFirst(2)) == nil)
        #expect(octets(Array(good.dropLast())) == nil)
    }

    #if !canImport(CryptoKit)
    @Test("Every damaged signature is read as the library reads it", arguments: [32, 48, 66])
    func library(size: Int) throws {
        var generator = SplitMix64(seed: UInt64(size))
        var (read, refused) = (0, 0)
        let signatures = try (0..<32).map { try Self.signature(of: [$0], size: size) }
        for _ in 0..<10_000 {
            var der = signatures[generator.below(signatures.count)]
            for _ in 0..<generator.below(3) {
                let place = generator.below(2) == 0 ? generator.below(8) : generator.below(der.count)
                der[place] = UInt8(generator.below(256))
            }
            let library: [UInt8]? =
                switch size {
                case 32: (try? P256.Signing.ECDSASignature(derRepresentation: der)).map { Array($0.rawRepresentation) }
                case 48: (try? P384.Signing.ECDSASignature(derRepresentation: der)).map { Array($0.rawRepresentation) }
                default: (try? P521.Signing.ECDSASignature(derRepresentation: der)).map { Array($0.rawRepresentation) }
                }
            #expect(octets(der, size: size) == library, "\(der)")
            if library == nil { refused += 1 } else { read += 1 }
        }
        #expect(read > 1_000 && refused > 100)
    }

    private static func signature(of message: [UInt8], size: Int) throws -> [UInt8] {
        switch size {
        case 32: Array(try P256.Signing.PrivateKey().signature(for: message).derRepresentation)
        case 48: Array(try P384.Signing.PrivateKey().signature(for: message).derRepresentation)
        default: Array(try P521.Signing.PrivateKey().signature(for: message).derRepresentation)
        }
    }
    #endif
}
