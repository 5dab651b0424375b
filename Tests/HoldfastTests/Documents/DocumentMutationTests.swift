import Crypto
import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// Damaged documents: none crashes or hangs the reader, and none is accepted for what its signer did not say.
@Suite("Damaged documents", .timeLimit(.minutes(120)))
struct DocumentMutationTests {
    private static let rounds = Campaign.mutants
    private static let tokens: [[UInt8]] =
        [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", "e", ".", "-", "\\u0061", "null", "true", " ", "=",
            "\"name\":",
        ]
        .map { Array($0.utf8) } + [[0xEF, 0xBB, 0xBF], [0xFF], [0], [0xED, 0xA0, 0x80]]

    /// Signatures cost 42 µs each; where every field that is signed stays as it is, the signature need not be asked.
    private struct KnownSignatures: SignatureVerifying {
        let good: Set<[UInt8]>
        func isValid(signature: [UInt8], for message: [UInt8]) -> Bool { good.contains(message + [0] + signature) }
    }

    @Test("Damaged lists are refused, or say what was signed")
    func lists() async throws {
        let signer = DocumentSigner()
        let data = signer.list(
            [
                try signer.entry("www.example.com", .fingerprint(1), 1_900_000_000),
                try signer.entry("b", .fingerprint(2), 5),
            ])
        let original = try FingerprintList(verifying: data, with: signer.publicKey)
        // The same bytes with the real verification once above; here the pairs that it found good.
        var reader = try StrictJSONReader([UInt8](data), maximumBytes: 10_000)
        var good: Set<[UInt8]> = []
        try reader.beginObject()
        _ = try reader.nextKey()
        try reader.beginArray()
        while try reader.nextElement() {
            let read = try reader.entry()
            good.insert(read.entry.signedBytes + [0] + (read.signature ?? []))
        }
        let key = KnownSignatures(good: good)
        let signed = Set(original.entries)
        var generator = SplitMix64(seed: 11)
        var accepted = 0
        for round in 0..<Self.rounds {
            await Campaign.letOthersRun(after: round)
            let mutated = generator.mutated([UInt8](data), tokens: Self.tokens)
            guard let list = try? FingerprintList(verifying: Data(mutated), by: key, limits: DocumentLimits()) else {
                continue
            }
            accepted += 1
            #expect(
                signed.isSuperset(of: list.entries.map { $0.atLeaf }), "\(String(decoding: mutated, as: UTF8.self))")
        }
        #expect(accepted < Self.rounds / 10)
    }

    @Test("Damaged answers are all refused: they are signed as a whole")
    func responses() async throws {
        struct OnlyThis: SignatureVerifying {
            let message: [UInt8]
            func isValid(signature: [UInt8], for message: [UInt8]) -> Bool { message == self.message }
        }
        let body = DocumentSigner.body([("www.example.com", .fingerprint(1), 1_900_000_000)], at: 1_800_000_000)
        let key = OnlyThis(message: ChallengeResponse.signedBytes(challenge: "c", body: body))
        var generator = SplitMix64(seed: 12)
        for round in 0..<Self.rounds {
            await Campaign.letOthersRun(after: round)
            let mutated = Data(generator.mutated([UInt8](body), tokens: Self.tokens))
            let response = try? ChallengeResponse(
                verifying: mutated, signature: "AAAA", challenge: "c", by: key, limits: DocumentLimits())
            #expect(response == nil || mutated == body)
        }
    }

    @Test("Damaged texts with a signature for each are read or refused, in bounded depth")
    func bodies() async throws {
        struct Anything: SignatureVerifying {
            func isValid(signature: [UInt8], for message: [UInt8]) -> Bool { true }
        }
        let body = DocumentSigner.body(
            [("www.example.com", .fingerprint(1), 1_900_000_000)], at: 1_800_000_000,
            more:
                #","domainsConfig":{"domains":[{"name":"a","sslPinningRequired":false}]},"verifyVersionResult":{"update":"FORCED"}"#
        )
        var generator = SplitMix64(seed: 13)
        var accepted = 0
        for round in 0..<Self.rounds {
            await Campaign.letOthersRun(after: round)
            let mutated = Data(generator.mutated([UInt8](body), tokens: Self.tokens))
            let response = try? ChallengeResponse(
                verifying: mutated, signature: "AAAA", challenge: "c", by: Anything(), limits: DocumentLimits())
            if response != nil { accepted += 1 }
        }
        #expect(accepted > 0 && accepted < Self.rounds)
    }
}

extension FingerprintEntry {
    /// Depth is not signed in a list.
    fileprivate var atLeaf: FingerprintEntry {
        (try? FingerprintEntry(name: name, pin: pin, expires: expires)) ?? self
    }
}
