import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// A program has the keys, and believes approvers only.
@Suite(
    "A signer program that verifies approvals", .timeLimit(.minutes(10)),
    .needs(.verifyingSigner))
struct VerifyingSignerTests {
    private static let formats = World.formats.filter { $0.kind != .pinFile }

    /// The approved change of a world, and the request to sign one entry of its list.
    private struct Stage {
        let world: World
        let key = SigningKey()
        let permit: SigningPermit

        init(_ world: World) async throws {
            self.world = world
            let change = try await world.approved(formats).change
            permit = try await world.publisher.permit(for: try await world.catalog.change(change))
        }

        func signer(
            _ name: String, app: String = "bank", server: RandomID = Story.server, genesis: Digest? = nil
        ) throws -> VerifyingSigner {
            try VerifyingSigner(name, in: world, key: key.pem, app: app, server: server, genesis: genesis)
        }

        var entry: [UInt8] { get throws { try #require(permit.content.entries(at: world.now).first).signedBytes } }

        /// - Parameter change: what an attacker makes of it.
        func request(
            of permit: SigningPermit? = nil, _ message: [UInt8]? = nil, use: SigningRequest.Use = .list,
            _ change: (inout [String: Any]) throws -> Void = { _ in }
        ) throws -> [UInt8] {
            let permit = permit ?? self.permit
            let request = SigningRequest(
                key: try SealedKeyTests.place("list-2"), publicKey: try key.subjectPublicKeyInfo, use: use,
                content: permit.content, approved: permit.approved, message: try message ?? entry, document: nil)
            var object = try #require(
                try JSONSerialization.jsonObject(with: Data(request.bytes)) as? [String: Any])
            try change(&object)
            return Array(try JSONSerialization.data(withJSONObject: object))
        }
    }

    private static func approvals(_ request: [String: Any]) throws -> [[String: Any]] {
        try #require(request["approvals"] as? [[String: Any]])
    }

    @Test("With the keys in a program, clients of lists, challenges and trust servers follow, and rounds go on")
    func everything() async throws {
        try await World.run { world in
            let (list, trust) = (
                SigningKey(), try TrustServerKey(customer: World.customer, kind: .p256, at: world.clock.now)
            )
            let listSigner = try VerifyingSigner("list", in: world, key: list.pem)
            let trustSigner = try VerifyingSigner("trust", in: world, key: trust.privateKeyPEM)
            try await world.catalog.add(
                Catalog.Key(
                    program: listSigner.program, at: SealedKeyTests.place("list-2"),
                    publicKey: try list.subjectPublicKeyInfo), by: "operator")
            try await world.catalog.add(
                Catalog.Key(
                    program: trustSigner.program, at: SealedKeyTests.place("trust-2", .trustServer),
                    publicKey: Array(
                        try X509Certificate(der: [UInt8](trust.certificate)).subjectPublicKeyInfo),
                    certificate: Array(trust.certificate)), by: "operator")
            try await world.publish(try await world.draft { $0.formats = Self.formats })
            let expected: Set<String> = ["list", "challenge", "certificates", "keys"]
            #expect(try await world.clientsThatGetIn(world.shown) == expected, "\(listSigner.lastWords)")
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            #expect(try await world.clientsThatGetIn(stranger) == [])
            // Long after the last second at which the approvals count.
            try await world.pass(5 * 86_400)
            for signer in [listSigner, trustSigner] { try signer.setTime(world.now) }
            let round = try await world.publisher.renew()
            #expect(round.problems == [] && !round.signed.isEmpty, "\(trustSigner.lastWords)")
            #expect(try await world.clientsThatGetIn(world.shown) == expected)
            let findings = try await world.publisher.examine()
            #expect(findings.filter(\.isFault) == [])
            #expect(findings.contains { $0.words.contains("has the key for trust-server, and signs with it") })
        }
    }

    @Test("It signs with approvals that are right, and with none that are missing, damaged, late or the proposer's own")
    func missing() async throws {
        try await World.run { world in
            let stage = try await Stage(world)
            let signer = try stage.signer("right")
            #expect(try await signer.answers(stage.request()) == 0, "\(signer.lastWords)")
            // An accepted request is signed again, whatever the time is.
            try signer.setTime(world.now + 20 * 86_400)
            #expect(try await signer.answers(stage.request()) == 0, "\(signer.lastWords)")
            let refusals: [(String, (inout [String: Any]) throws -> Void)] = [
                ("1 valid approvals", { $0["approvals"] = Array(try Self.approvals($0).dropLast()) }),
                ("there are no approvals", { $0["approvals"] = [Any]() }),
                ("1 valid approvals", { $0["approvals"] = Array(repeating: try Self.approvals($0)[0], count: 2) }),
                (
                    "1 valid approvals",
                    { request in
                        var approvals = try Self.approvals(request)
                        approvals[0]["signature"] = approvals[1]["signature"]
                        request["approvals"] = approvals
                    }
                ),
                ("1 valid approvals", { $0["proposer"] = "\(try Approver.alice.identity)" }),
                ("the request is damaged", { $0["approvals"] = nil }),
                ("another version", { $0["format"] = "holdfast-signing-request-v2" }),
            ]
            try signer.setTime(world.now)
            for (words, change) in refusals {
                #expect(try await signer.answers(stage.request { try change(&$0) }) == 1, "\(words)")
                #expect(signer.lastWords.contains(words), "\(words): \(signer.lastWords)")
            }
            // One that has seen nothing in time accepts nothing afterwards.
            let late = try stage.signer("late")
            try late.setTime(world.now + 20 * 86_400)
            #expect(try await late.answers(stage.request()) == 1)
            #expect(late.lastWords.contains("0 valid approvals"), "\(late.lastWords)")
        }
    }

    @Test("Approvals of another app, server, genesis or content are refused, and so is a message that nobody approved")
    func others() async throws {
        try await World.run { world in
            let stage = try await Stage(world)
            func refuses(_ signer: VerifyingSigner, _ request: [UInt8], _ words: String) async throws {
                #expect(try await signer.answers(request) == 1, "\(words)")
                #expect(signer.lastWords.contains(words), "\(words): \(signer.lastWords)")
            }
            try await refuses(try stage.signer("app", app: "shop"), stage.request(), "another app")
            try await refuses(
                try stage.signer("moved", app: "shop"), stage.request { $0["app"] = "shop" }, "for another app")
            try await refuses(try stage.signer("server", server: Story.id(0xB0)), stage.request(), "another server")
            try await refuses(
                try stage.signer("genesis", genesis: Digest(of: "another".utf8)), stage.request(), "another genesis")
            let signer = try stage.signer("message")
            let other = try await Stage(world)
            try await refuses(
                signer, stage.request { $0["content"] = Base64.encode(other.permit.content.bytes) },
                "approvals of another content")
            let malicious = try world.root.leaf(names: [.dns(World.host)])
            let pin = try Pin(subject: .certificate, digest: Digest(of: malicious.der).bytes)
            let entry = try FingerprintEntry(name: World.host, pin: pin, until: world.clock.now + 86_400)
            try await refuses(signer, stage.request(entry.signedBytes), "an entry that the content does not have")
            // An entry as the body of an answer, and the key for another purpose.
            try await refuses(signer, stage.request(use: .challenge), "no challenge")
            let body =
                #"{"timestamp":\#(world.now),"fingerprints":[{"name":"\#(entry.name)","#
                + #""fingerprint":"\#(entry.fingerprint)","expires":\#(world.now + 86_399)}]}"#
            let answer = Array("AAAAAAAAAAAAAAAAAAAAAA==&\(body)".utf8)
            try await refuses(
                signer, stage.request(answer, use: .challenge), "an entry that the content does not have")
            let silent = Array(#"AAAAAAAAAAAAAAAAAAAAAA==&{"timestamp":\#(world.now),"fingerprints":[]}"#.utf8)
            try await refuses(signer, stage.request(silent, use: .challenge), "entries are missing")
            try await refuses(signer, stage.request(use: .timestamp), "a use that this key is not for")
            #expect(try await signer.answers(stage.request()) == 0, "\(signer.lastWords)")
        }
    }

    @Test("A change that newer ones have replaced is not signed again, with all its approvals")
    func replayed() async throws {
        try await World.run { world in
            let formats = World.formats.filter { $0.kind == .list }
            let key = SigningKey()
            let signer = try VerifyingSigner("list", in: world, key: key.pem)
            var requests: [[UInt8]] = []
            for _ in 0..<3 {
                let change = try await world.approved(formats).change
                let permit = try await world.publisher.permit(for: try await world.catalog.change(change))
                let request = SigningRequest(
                    key: try SealedKeyTests.place("list-2"), publicKey: try key.subjectPublicKeyInfo, use: .list,
                    content: permit.content, approved: permit.approved,
                    message: try #require(permit.content.entries(at: world.now).first).signedBytes, document: nil)
                requests.append(request.bytes)
                #expect(try await signer.answers(request.bytes) == 0, "\(signer.lastWords)")
                // The one before is what all other clients have while a canary has this one.
                if requests.count > 1 { #expect(try await signer.answers(requests[requests.count - 2]) == 0) }
                try await world.publisher.publish(change)
                try await world.everybodyFollows(isThorough: false)
            }
            #expect(try await signer.answers(requests[0]) == 1)
            #expect(signer.lastWords.contains("newer ones have replaced"), "\(signer.lastWords)")
        }
    }

    @Test("Passkeys that approvers have named count by their evidence, and not without a key file")
    func passkeys() async throws {
        try await World.run { world in
            let statement = try PasskeyStory.statement(after: try await world.catalog.approvers().head)
            try await world.catalog.append(PasskeyStory.signed(statement))
            let stage = try await Stage(world)
            let signer = try stage.signer("passkeys")
            let alice = "\(try Approver.alice.identity)"
            /// The approval of alice, and what passkeys make of its text.
            func request(
                withAlice: Bool = true, _ evidence: ([UInt8]) throws -> [PasskeyEvidence]
            ) throws -> [UInt8] {
                try stage.request { request in
                    let own = try Self.approvals(request).filter { $0["identity"] as? String == alice }
                    let text = try #require((own.first?["text"] as? String).flatMap { Base64.decode($0.utf8) })
                    let others: [[String: Any]] = try evidence(text).map { evidence in
                        [
                            "text": Base64.encode(text), "identity": "\(evidence.key.identity)",
                            "signature": Base64.encode(evidence.bytes),
                        ]
                    }
                    request["approvals"] = (withAlice ? own : []) + others
                }
            }
            let (phone, stick) = (PasskeyStory.phone, PasskeyStory.stick)
            let good = try request { [try phone.evidence(over: $0)] }
            #expect(try await signer.answers(good) == 0, "\(signer.lastWords)")
            let moved = SoftPasskey(isEd25519: true, origin: "https://example.com")
            let refusals: [(String, [UInt8])] = [
                (
                    "approvals by passkeys only",
                    try request(withAlice: false) { [try phone.evidence(over: $0), try stick.evidence(over: $0)] }
                ),
                ("1 valid approvals", try request { [try phone.evidence(over: $0 + [0x0A])] }),
                ("1 valid approvals", try request { [try moved.evidence(over: $0)] }),
                (
                    "1 valid approvals",
                    try request { text in
                        var digest = ChosenBytes(Digest(of: text).bytes)
                        let signIn = PasskeyChallenge.signIn(using: &digest)
                        return [PasskeyEvidence(try phone.assertion(for: signIn), by: try phone.key)]
                    }
                ),
                (
                    "have not signed",
                    try stage.request { request in
                        var statements = try #require(request["approvers"] as? [[String: Any]])
                        let text = try #require(statements[1]["text"] as? String)
                        let old = String(decoding: try #require(Base64.decode(text.utf8)), as: UTF8.self)
                        let new = old.replacing("key-required", with: "passkeys-only")
                        statements[1]["text"] = Base64.encode(Array(new.utf8))
                        request["approvers"] = statements
                    }
                ),
            ]
            for (words, refused) in refusals {
                #expect(try await signer.answers(refused) == 1, "\(words)")
                #expect(signer.lastWords.contains(words), "\(words): \(signer.lastWords)")
            }
        }
    }

    @Test("An approver of certain apps counts for these, and no statement drops or widens that without the others")
    func apps() async throws {
        try await World.run { world in
            let carols = try ["shop", "bank,shop"].map { names in
                try ApproverSet(
                    [Approver.alice.member, Approver.bob.member, Approver.carol.limited(to: names)], number: 2)
            }
            for (index, set) in carols.enumerated() {
                let bound = try ApproverStatement(after: try await world.catalog.approvers().head, approvers: set)
                try await world.catalog.append([Approver.alice, .bob].sign(bound))
                let stage = try await Stage(world)
                let signer = try stage.signer("apps-\(index)")
                #expect(try await signer.answers(stage.request()) == 0, "\(signer.lastWords)")
                /// The approvals of alice and carol instead, and perhaps a statement that follows.
                func request(_ next: [UInt8]? = nil, by approvers: [Approver] = [.alice, .bob]) throws -> [UInt8] {
                    try stage.request { request in
                        var subject = stage.permit.approved.subject
                        if let next {
                            subject = try ApprovalText.Subject(
                                server: subject.server, app: subject.app, change: subject.change,
                                baseGeneration: subject.baseGeneration, content: subject.content,
                                outlook: subject.outlook, forced: subject.forced, approvers: Digest(of: next))
                            let statements = try #require(request["approvers"] as? [[String: Any]])
                            let signatures = try approvers.map { who in
                                [
                                    "identity": "\(try who.identity)",
                                    "signature": Base64.encode(try who.signature(of: next).signature),
                                ]
                            }
                            request["approvers"] =
                                statements + [["text": Base64.encode(next), "signatures": signatures] as [String: Any]]
                        }
                        request["approvals"] = try [Approver.alice, .carol].map { who in
                            let word = try who.says(.approve, subject, until: world.now + 86_400)
                            return [
                                "text": Base64.encode(word.text), "identity": "\(word.signature.identity)",
                                "signature": Base64.encode(word.signature.signature),
                            ]
                        }
                    }
                }
                let names = index == 0 ? "shop" : "bank,shop"
                let wide = try ApproverStatement(
                    after: bound,
                    approvers: ApproverSet([.alice, .bob, .carol].map { (who: Approver) in try who.member }, number: 2))
                let text = String(decoding: wide.bytes, as: UTF8.self)
                let plain = text.replacing(" *\n", with: "\n").replacing("-v3\n", with: "-v1\n")
                let few = text.replacing(" *\n", with: " \(names)\n", maxReplacements: 2)
                let refusals = [
                    ("without the apps", try request(Array(plain.utf8))),
                    ("have not signed", try request(wide.bytes, by: [.alice, .carol])),
                    ("too few approvers of all apps", try request(Array(few.utf8))),
                    (
                        "damaged",
                        try request(Array(text.replacing(" *\n", with: " shop,bank\n", maxReplacements: 1).utf8))
                    ),
                    ("damaged", try request(Array(text.replacing(" *\n", with: "\n", maxReplacements: 1).utf8))),
                ]
                for (words, refused) in refusals {
                    #expect(try await signer.answers(refused) == 1, "\(words)")
                    #expect(signer.lastWords.contains(words), "\(words): \(signer.lastWords)")
                }
                #expect(try await signer.answers(request()) == (index == 0 ? 1 : 0), "\(signer.lastWords)")
                if index == 0 { #expect(signer.lastWords.contains("1 valid approvals"), "\(signer.lastWords)") }
                #expect(try await signer.answers(request(wide.bytes)) == 0, "\(signer.lastWords)")
            }
        }
    }

    @Test(
        "A token of SoftHSM has the keys of lists, challenges and a trust server, behind the program that verifies approvals",
        .needs(.softToken))
    func token() async throws {
        try await World.run { world in
            let token = try await SoftToken(in: world.folder)
            let (list, trust) = (try await token.makeKey(id: "01"), try await token.makeKey(.rsa, id: "02"))
            let listSigner = try VerifyingSigner("list", in: world, command: list.command)
            let trustSigner = try VerifyingSigner("trust", in: world, command: trust.command)
            try await world.catalog.add(
                Catalog.Key(
                    program: listSigner.program, at: SealedKeyTests.place("list-2"), publicKey: list.publicKey),
                by: "operator")
            try await world.catalog.add(
                Catalog.Key(
                    program: trustSigner.program, at: SealedKeyTests.place("trust-2", .trustServer),
                    publicKey: trust.publicKey,
                    certificate: try await token.certificate(of: trust, customer: World.customer)), by: "operator")
            try await world.publish(try await world.draft { $0.formats = Self.formats })
            let expected: Set<String> = ["list", "challenge", "certificates", "keys"]
            let words = "\(listSigner.lastWords), \(trustSigner.lastWords)"
            #expect(try await world.clientsThatGetIn(world.shown) == expected, "\(words)")
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            #expect(try await world.clientsThatGetIn(stranger) == [])
            try await world.pass(300)
            for signer in [listSigner, trustSigner] { try signer.setTime(world.now) }
            let round = try await world.publisher.renew()
            #expect(round.problems == [] && !round.signed.isEmpty, "\(trustSigner.lastWords)")
            #expect(try await world.clientsThatGetIn(world.shown) == expected)
        }
    }
}

extension SigningKey {
    /// DER of the SubjectPublicKeyInfo.
    var subjectPublicKeyInfo: [UInt8] {
        get throws { Array(try P256.Signing.PrivateKey(pemRepresentation: pem).publicKey.derRepresentation) }
    }
}
