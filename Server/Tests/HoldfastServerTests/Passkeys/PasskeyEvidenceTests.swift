import Testing

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation

@Suite("Evidence of approvals by passkeys")
struct PasskeyEvidenceTests {
    private static let text = Array("a text\n".utf8)

    @Test("Evidence has five lines, reads as what was written, and verifies by itself")
    func lines() throws {
        for passkey in [SoftPasskey(counter: 3), .ed25519] {
            let evidence = try passkey.evidence(over: Self.text)
            let lines = evidence.bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            #expect(lines.count == 6)
            #expect(lines[0].elementsEqual("holdfast-passkey-evidence-v1".utf8))
            #expect(try lines[1].elementsEqual(Base64.encode(passkey.key.subjectPublicKeyInfo).utf8))
            let read = try PasskeyEvidence(evidence.bytes)
            #expect(read == evidence)
            #expect(try read.verified(over: Self.text, at: SoftPasskey.party).counter == passkey.counter)
            expectError(.notForThis) { try read.verified(over: Self.text + [0x0A], at: SoftPasskey.party) }
            expectError(.notForThis) {
                try read.verified(over: Self.text, at: RelyingParty(origin: "https://example.com"))
            }
        }
    }

    @Test("The longest evidence that can be written can be read")
    func longest() throws {
        let longest = try PasskeyAssertion(
            authenticatorData: [UInt8](repeating: 1, count: 1_024),
            clientDataJSON: [UInt8](repeating: 1, count: ClientData.limit),
            signature: [UInt8](repeating: 1, count: 80))
        let evidence = PasskeyEvidence(longest, by: try SoftPasskey().key)
        #expect(try PasskeyEvidence(evidence.bytes) == evidence)
        expectError(.malformed) {
            try PasskeyAssertion(
                authenticatorData: [UInt8](repeating: 1, count: 1_025), clientDataJSON: [1], signature: [1])
        }
    }

    @Test("An approval by a passkey rises its counter, and is one of its own key")
    func approved() throws {
        let credential = try SoftPasskey(counter: 2).credential(.approval)
        let used = try credential.approved(SoftPasskey(counter: 3).evidence(over: Self.text), over: Self.text)
        #expect(used.counter == 3)
        expectError(.counterNotRisen) {
            try used.approved(SoftPasskey(counter: 3).evidence(over: Self.text), over: Self.text)
        }
        let other = try SoftPasskey(number: 22, counter: 3).evidence(over: Self.text)
        expectError(.notForThis) { try credential.approved(other, over: Self.text) }
    }

    @Test("Evidence that is spelled in any other way is refused")
    func spellings() throws {
        let evidence = String(decoding: try SoftPasskey.ed25519.evidence(over: Self.text).bytes, as: UTF8.self)
        let replacements = [
            ("-v1\n", "-v2\n"), ("\n", "\r\n"), ("\nM", "\n M"), ("\nM", "\n\nM"), ("=\n", "\n"), ("=\n", "==\n"),
            ("\nMCow", "\nMFkw"), ("\nMCow", "\nMCox"),
        ]
        for (part, other) in replacements {
            let damaged = evidence.replacing(part, with: other, maxReplacements: 1)
            #expect(damaged != evidence)
            #expect(throws: ServerError.self, "\(damaged)") { try PasskeyEvidence(Array(damaged.utf8)) }
        }
        for damaged in ["", evidence + "\n", String(evidence.dropLast()), evidence + evidence] {
            expectError(.malformed) { try PasskeyEvidence(Array(damaged.utf8)) }
        }
    }

    @Test("Damaged evidence is refused, or does not verify")
    func mutations() throws {
        let party = try SoftPasskey.party
        let seeds = try [SoftPasskey(), .ed25519].map { try $0.evidence(over: Self.text).bytes }
        let read = campaign(35, seeds) { mutant in
            let evidence = try PasskeyEvidence(mutant)
            #expect(evidence.bytes == mutant)
            guard !seeds.contains(mutant) else { return }
            #expect(throws: ServerError.self) { try evidence.verified(over: Self.text, at: party) }
        }
        #expect(read > 0)
    }
}
