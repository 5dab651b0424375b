import Testing

@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerWeb

@Suite("Signing in with a passkey")
struct SignInTests {
    private static let now = Story.now

    private static func ceremony(_ seed: UInt64 = 7) -> PasskeyCeremony {
        var generator = SeededGenerator(seed: seed)
        return PasskeyCeremony(.signIn(using: &generator), at: now)
    }

    @Test("The answer to its challenge signs in, for two minutes")
    func signingIn() throws {
        for var passkey in [SoftPasskey(), .ed25519] {
            let credential = try passkey.credential()
            passkey.counter = 4
            let answer = try passkey.assertion(for: Self.ceremony().challenge)
            for time in [Self.now, Self.now + PasskeyCeremony.span] {
                let used = try Self.ceremony().signedIn(answer, with: credential, at: time)
                #expect(used.counter == 4)
                // Once more, it is a copy.
                expectError(.counterNotRisen) {
                    try Self.ceremony().signedIn(answer, with: used, at: time)
                }
            }
            for time in [Self.now + PasskeyCeremony.span + 1, Self.now - 1] {
                expectError(.notForThis) {
                    try Self.ceremony().signedIn(answer, with: credential, at: time)
                }
            }
            expectError(.notForThis) {
                try Self.ceremony(8).signedIn(answer, with: credential, at: Self.now)
            }
        }
    }

    @Test("A challenge has 32 random bytes behind the words of its form, and no form begins as another does")
    func forms() throws {
        let challenges = (0..<100).map { Self.ceremony($0 * 2 + 1).challenge.bytes }
        #expect(Set(challenges).count == 100)
        #expect(Set(challenges.map(\.count)) == [PasskeyChallenge.Form.signIn.rawValue.utf8.count + 32])
        for form in PasskeyChallenge.Form.allCases {
            for other in PasskeyChallenge.Form.allCases where other != form {
                #expect(!other.rawValue.utf8.starts(with: form.rawValue.utf8))
            }
        }
    }

    @Test("A passkey is made for what was asked, within two minutes")
    func registering() throws {
        var generator = SeededGenerator(seed: 9)
        let ceremony = PasskeyCeremony(.registration(.signIn, using: &generator), at: Self.now)
        let made = try SoftPasskey().registration(for: ceremony.challenge)
        func register(
            _ purpose: PasskeyPurpose = .signIn, at now: Int64 = Self.now
        ) throws -> PasskeyCredential {
            try ceremony.registered(made, for: purpose, at: SoftPasskey.party, at: now)
        }
        #expect(try register().purpose == .signIn)
        expectError(.notForThis) { try register(.approval) }
        expectError(.notForThis) { try register(at: Self.now + PasskeyCeremony.span + 1) }
        // An answer to the challenge of a registration, or of an approval, is no sign-in.
        let text = Array("text".utf8)
        for challenge in [ceremony.challenge, .approval(of: text)] {
            let other = PasskeyCeremony(challenge, at: Self.now)
            let answer = try SoftPasskey().assertion(for: challenge)
            expectError(.notForThis) {
                try other.signedIn(answer, with: SoftPasskey().credential(), at: Self.now)
            }
        }
    }

    @Test("A passkey that approves signs nobody in")
    func approver() throws {
        let answer = try SoftPasskey().assertion(for: Self.ceremony().challenge)
        expectError(.notForThis) {
            try Self.ceremony().signedIn(
                answer, with: SoftPasskey().credential(.approval), at: Self.now)
        }
    }

    /// An attacker who controls the page chooses what is signed: here the digest of an approval for every sign-in.
    @Test("A sign-in over the digest of an approval approves nothing, whatever passkey it is by")
    func confusion() throws {
        let text = try ApprovalText(.approve, Story().subject, end: Story.end).bytes
        var digest = ChosenBytes(Digest(of: text).bytes)
        let ceremony = PasskeyCeremony(.signIn(using: &digest), at: Self.now)
        #expect(ceremony.challenge.bytes.suffix(32).elementsEqual(Digest(of: text).bytes))
        let answer = try SoftPasskey().assertion(for: ceremony.challenge)
        // It is a good sign-in, and no approval: not by its form,
        #expect(throws: Never.self) {
            try ceremony.signedIn(answer, with: SoftPasskey().credential(), at: Self.now)
        }
        let evidence = PasskeyEvidence(answer, by: try SoftPasskey().key)
        expectError(.notForThis) { try evidence.verified(over: text, at: SoftPasskey.party) }
        expectError(.notForThis) { try SoftPasskey().credential(.approval).approved(evidence, over: text) }
        // nor, if the form were right, by what the passkey was made for.
        let approval = try SoftPasskey().evidence(over: text)
        #expect(throws: Never.self) { try SoftPasskey().credential(.approval).approved(approval, over: text) }
        expectError(.notForThis) { try SoftPasskey().credential().approved(approval, over: text) }
    }
}
