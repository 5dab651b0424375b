import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// Damaged messages: none crashes or hangs the reader, and an accepted one has the signed content, byte for byte.
@Suite("Damaged signed messages")
struct CMSMutationTests {
    private static let rounds = Campaign.mutants
    private static let tokens: [[UInt8]] = [
        [0, 0], [0x80], [0x30, 0x80], [0x24, 0x80], [0x31, 0], [0x30, 0], [0xA0, 0x80], [0xA1, 0], [5, 0], [4, 0],
        [2, 1, 1],
        [0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x82, 1, 0], [0x1F], [0x3F], [4, 0x80, 0, 0], [0x24, 2, 4, 0], [0xFF],
    ]

    /// All that is signed, the signature, and its signer. A mutant can still change how lengths are written, whether a
    /// digest has NULL for parameters, and certificates that are not evidence.
    private struct Parts: Equatable {
        let content: [UInt8]
        let signed: [UInt8]
        let signature: [UInt8]
        let issuer: [UInt8]
        let serialNumber: [UInt8]

        init(_ message: CMSSignedData) {
            content = Array(message.bytes[message.content])
            signed = Array(message.signedBytes)
            signature = Array(message.bytes[message.signature])
            issuer = Array(message.signerIssuer)
            serialNumber = Array(message.signerSerialNumber)
        }
    }

    private func run(_ message: HandMadeMessage, _ fixture: TrustServerFixture, seed: UInt64) throws -> [Data] {
        let data = try message.der()
        let original = try fixture.document(data)
        let parts = Parts(try CMSSignedData([UInt8](data), allowsLegacyDigests: false))
        #expect(parts.content == message.content)
        let signer = try fixture.signer
        var generator = SplitMix64(seed: seed)
        var accepted: [Data] = []
        for _ in 0..<Self.rounds {
            let mutated = Data(generator.mutated([UInt8](data), tokens: Self.tokens))
            guard mutated != data, let document = try? fixture.document(mutated, by: signer) else { continue }
            accepted.append(mutated)
            #expect(
                document.customer == original.customer && document.timestamp == original.timestamp
                    && document.entries == original.entries, "\(mutated.base64EncodedString())")
            let read = try CMSSignedData([UInt8](mutated), allowsLegacyDigests: false)
            #expect(Parts(read) == parts, "\(mutated.base64EncodedString())")
        }
        return accepted
    }

    @Test("Damaged messages without certificates are refused, or are another encoding of the same")
    func bare() throws {
        let fixture = try TrustServerFixture()
        var message = fixture.message(
            fixture.text(#"{"hostname":"a","fp":["\#(TrustServerFixture.hexadecimal)"],"pk":[]}"#))
        message.certificates = []
        let accepted = try run(message, fixture, seed: 21)
        let original = try CMSEncoding.der(of: Array(try message.der()))
        for data in accepted {
            let der = try CMSEncoding.der(of: [UInt8](data))
            // Left to an attacker: BER for DER (nothing of the DER differs), adding or removing NULL next to a digest,
            // another name of the same algorithm. None of these changes the length by more than four bytes.
            #expect(abs(der.count - original.count) <= 4, "\(data.base64EncodedString())")
        }
        #expect(accepted.count < Self.rounds / 20)
    }

    @Test("Damaged messages with a certificate are refused, or differ in what nobody signed")
    func embedded() throws {
        let fixture = try TrustServerFixture()
        var message = fixture.message(
            fixture.text(#"{"hostname":"a","fp":["\#(TrustServerFixture.hexadecimal)"],"pk":[]}"#))
        // A stranger's certificate, so that damage to it is not a certificate that looks like the signer's.
        message.certificates = [try TrustServerFixture.selfSigned("other").der]
        let accepted = try run(message, fixture, seed: 22)
        #expect(accepted.count > 0 && accepted.count < Self.rounds / 2)
    }
}
