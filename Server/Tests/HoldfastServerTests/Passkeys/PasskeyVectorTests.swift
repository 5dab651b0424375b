import Foundation
import Holdfast
import Testing

@testable import PinChanges
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel

@Suite("Vectors of passkeys")
struct PasskeyVectorTests {
    /// Evidence that a reader might take for an approval.
    private struct Refused {
        let why: String
        let code: ServerError.Code
        let evidence: [UInt8]
    }

    @Test("docs/vectors/server-passkey.json is what this program writes, and what it accepts and refuses")
    func vectors() throws {
        let party = try SoftPasskey.party
        let text = try ApprovalText(.approve, Story().subject, end: Story.end).bytes
        var generator = SeededGenerator(seed: 30)
        let challenge = PasskeyChallenge.registration(.approval, using: &generator)
        // Only Ed25519: its signatures are the same each time.
        let passkey = SoftPasskey.ed25519
        let registration = try passkey.registration(for: challenge)
        let credential = try registration.credential(for: .approval, challenge, at: party)
        let good = try passkey.evidence(over: text)
        #expect(throws: Never.self) { try PasskeyEvidence(good.bytes).verified(over: text, at: party) }
        let refused = try refused(text, good)
        for one in refused {
            expectError(one.code) { try PasskeyEvidence(one.evidence).verified(over: text, at: party) }
        }
        try Vectors.expect(
            "server-passkey.json",
            [
                "format": "holdfast-passkey-evidence-v1 over a text, and holdfast-approvers-v2. "
                    + "docs/formats.md and docs/server/people.md say what the lines mean.",
                "origin": party.origin, "text": String(decoding: text, as: UTF8.self),
                "challenge": Base64.encode(PasskeyChallenge.approval(of: text).bytes),
                "registration": [
                    "challenge": Base64.encode(challenge.bytes),
                    "attestationObject": Base64.encode(registration.attestationObject),
                    "clientDataJSON": Base64.encode(registration.clientDataJSON),
                    "credential": Base64.encode(credential.id),
                    "subjectPublicKeyInfo": Base64.encode(credential.key.subjectPublicKeyInfo),
                    "identity": "\(credential.key.identity)",
                ],
                "statement": try statement(),
                "accepted": [String(decoding: good.bytes, as: UTF8.self)],
                "refused": refused.map { one in
                    [
                        "why": one.why, "code": one.code.rawValue,
                        "evidence": String(decoding: one.evidence, as: UTF8.self),
                    ]
                },
            ])
    }

    /// A genesis with an approver who has a key file, and one who has a passkey.
    private func statement() throws -> [String: Any] {
        let phone = try ApproverSet.Member(name: "phone", key: SoftPasskey.ed25519.key, isPasskey: true)
        let statement = try ApproverStatement(
            genesisOf: Story.server,
            approvers: ApproverSet(
                [Approver.alice.member, phone], number: 1, passkeys: PasskeyTerms(at: SoftPasskey.party)),
            recovery: nil)
        let signatures = try [
            Approver.alice.signature(of: statement.bytes),
            ApproverSignature(SoftPasskey.ed25519.evidence(over: statement.bytes)),
        ]
        #expect(throws: Never.self) {
            try ApproverChain(
                genesis: SignedApprovers(text: statement.bytes, signatures: signatures), digest: statement.digest,
                server: Story.server)
        }
        return [
            "text": String(decoding: statement.bytes, as: UTF8.self), "sha256": "\(statement.digest)",
            "signatures": signatures.map { signature in
                ["identity": "\(signature.identity)", "signature": Base64.encode(signature.signature)]
            },
        ]
    }

    private func refused(_ text: [UInt8], _ good: PasskeyEvidence) throws -> [Refused] {
        var digest = ChosenBytes(Digest(of: text).bytes)
        let signIn = PasskeyChallenge.signIn(using: &digest)
        func evidence(_ change: (inout SoftPasskey) -> Void) throws -> [UInt8] {
            var passkey = SoftPasskey.ed25519
            change(&passkey)
            return try passkey.evidence(over: text).bytes
        }
        let other = try evidence { $0.number = 22 }
        // The signature of another key, under this one's name.
        let borrowed = zip(good.bytes.split(separator: 0x0A), other.split(separator: 0x0A)).enumerated()
            .flatMap { index, lines in Array(index == 4 ? lines.1 : lines.0) + [0x0A] }
        let bare = PasskeyEvidence(
            try PasskeyAssertion(
                authenticatorData: SoftPasskey.ed25519.data(),
                clientDataJSON: SoftPasskey.ed25519.clientDataJSON(.get, .approval(of: text)),
                signature: try SoftPasskey.ed25519.signature(of: text)),
            by: try SoftPasskey.ed25519.key)
        return try [
            Refused(
                why: "a sign-in over the digest of the approval", code: .notForThis,
                evidence: PasskeyEvidence(
                    SoftPasskey.ed25519.assertion(for: signIn), by: try SoftPasskey.ed25519.key
                ).bytes),
            Refused(
                why: "a registration", code: .notForThis,
                evidence: PasskeyEvidence(
                    SoftPasskey.ed25519.assertion(for: .approval(of: text), kind: .create),
                    by: try SoftPasskey.ed25519.key
                ).bytes),
            Refused(
                why: "an approval of something else", code: .notForThis,
                evidence: SoftPasskey.ed25519.evidence(over: text + [0x0A]).bytes),
            Refused(
                why: "another page", code: .notForThis,
                evidence: evidence { $0.origin = "https://pins.example.com.evil.example" }),
            Refused(
                why: "another port", code: .notForThis,
                evidence: evidence { $0.origin = "https://pins.example.com:8443" }),
            Refused(
                why: "a page in one of somebody else", code: .notForThis,
                evidence: evidence { $0.others = #","crossOrigin":true"# }),
            Refused(
                why: "a passkey of another name", code: .notForThis,
                evidence: evidence { $0.partyID = "example.com" }),
            Refused(
                why: "touched by nobody", code: .userNotVerified, evidence: evidence { $0.flags = [.userVerified] }),
            Refused(
                why: "touched by anybody", code: .userNotVerified, evidence: evidence { $0.flags = [.userPresent] }),
            Refused(why: "the signature of another key", code: .invalidSignature, evidence: borrowed),
            Refused(why: "a signature over the text itself", code: .invalidSignature, evidence: bare.bytes),
            Refused(why: "no line feed at the end", code: .malformed, evidence: Array(good.bytes.dropLast())),
        ]
    }

    @Test("Passkeys that other software made are registered, and their approvals count")
    func foreign() throws {
        let vector = try #require(try Vectors.content("server-foreign-passkey.json"))
        let party = try RelyingParty(origin: try #require(vector["origin"] as? String))
        let text = Array(try #require(vector["text"] as? String).utf8)
        let passkeys = try #require(vector["passkeys"] as? [[String: Any]])
        #expect(passkeys.count == COSEKey.Algorithm.allCases.count)
        for passkey in passkeys {
            let parts = try #require(passkey["registration"] as? [String: String]).compactMapValues {
                Base64.decode($0.utf8)
            }
            let challenge = try #require(parts["challenge"].flatMap { PasskeyChallenge(bytes: $0) })
            let credential = try PasskeyRegistration(
                attestationObject: try #require(parts["attestationObject"]),
                clientDataJSON: try #require(parts["clientDataJSON"])
            ).credential(for: .approval, challenge, at: party)
            #expect("\(credential.key.identity)" == passkey["identity"] as? String)
            #expect(Base64.encode(credential.id) == passkey["credential"] as? String)
            let evidence = try PasskeyEvidence(Array(try #require(passkey["evidence"] as? String).utf8))
            #expect(try credential.approved(evidence, over: text).counter == 1)
            expectError(.notForThis) { try credential.approved(evidence, over: text + [0x0A]) }
        }
    }
}
