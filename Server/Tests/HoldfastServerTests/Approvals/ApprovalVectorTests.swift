import Foundation
import Testing

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerStore

@Suite("Vectors of approvals")
struct ApprovalVectorTests {
    @Test("docs/vectors/server-approval.json is what this program writes")
    func vectors() throws {
        // Only Ed25519: its signatures are the same each time.
        let people: [Approver] = [.alice, .carol, .dave]
        let story = try Story(approvers: people)
        let next = try ApproverStatement(
            after: story.chain.head,
            approvers: try ApproverSet([Approver.alice, .carol, .mallory].map { try $0.member }, number: 2))
        let signedNext = try [Approver.alice, .dave, .mallory].sign(next)
        var chain = story.chain
        try chain.append(signedNext)
        let subjects = try [
            ("approve", Story.subject(chain), ApprovalText.Verdict.approve),
            ("forced", Story.subject(chain, base: 0, forced: [.outlook, .canary, .readback]), .approve),
            ("reject", Story.subject(chain, app: "B-0_a", base: CanonicalJSON.maximumInteger), .reject),
        ]
        let approvals: [[String: Any]] = try subjects.map { name, subject, verdict in
            let approval = try Approver.alice.says(verdict, subject)
            return [
                "name": name, "text": String(decoding: approval.text, as: UTF8.self),
                "sha256": "\(Digest(of: approval.text))", "signatures": [try Self.json(approval.signature)],
            ]
        }
        let good = approvals[0]["text"] as? String ?? ""
        let refused = [
            "\r\n": "\n", "\n041\n": "\n41\n", "\nAPPROVE\n": "\napprove\n", "\nbase\n": "\n-\n",
            "\nlint,canary\n": "\n-\n",
        ].sorted { $0.key < $1.key }.map { good.replacing($0.value, with: $0.key, maxReplacements: 1) }
        try Vectors.expect(
            "server-approval.json",
            [
                "format": "holdfast-approval-v1 and holdfast-approvers-v1. "
                    + "docs/server/people.md says what the lines mean.",
                "keys": try (people + [.mallory] + Approver.vaults).map { person in
                    let key = try person.key
                    return [
                        "name": person.name, "subjectPublicKeyInfo": Base64.encode(key.subjectPublicKeyInfo),
                        "identity": "\(key.identity)",
                    ]
                },
                "approvals": approvals, "refused": refused + [good + "\n", String(good.dropLast()), ""],
                "chain": try [story.genesis, signedNext].map { signed in
                    [
                        "text": String(decoding: signed.text, as: UTF8.self), "sha256": "\(Digest(of: signed.text))",
                        "signatures": try signed.signatures.map(Self.json),
                    ]
                },
            ])
        for text in refused { expectError(.malformed) { try ApprovalText(Array(text.utf8)) } }
    }

    private static func json(_ signature: ApproverSignature) throws -> [String: Any] {
        ["identity": "\(signature.identity)", "signature": Base64.encode(signature.signature)]
    }

    @Test("A signature of P-256 that other software made counts")
    func foreignSignature() throws {
        // Made once by OpenSSL over "holdfast\n" with the key of which the private scalar is 2.
        let vector = try #require(try Vectors.content("server-foreign-signature.json"))
        let text = try #require(vector["text"] as? String)
        let signature = try #require((vector["signature"] as? String).flatMap { Base64.decode($0.utf8) })
        #expect(try Approver.bob.key.verifies(signature, over: Array(text.utf8)))
        #expect(try !Approver.bob.key.verifies(signature, over: Array((text + "\n").utf8)))
        #expect(try !Approver.alice.key.verifies(signature, over: Array(text.utf8)))
    }
}
