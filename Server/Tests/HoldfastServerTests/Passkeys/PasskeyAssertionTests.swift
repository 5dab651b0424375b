import Testing

@testable import ServerApprovals
@testable import ServerFoundation

@Suite("Registering and using passkeys")
struct PasskeyAssertionTests {
    private static func challenge(_ seed: UInt64 = 7) -> PasskeyChallenge {
        var generator = SeededGenerator(seed: seed)
        return .signIn(using: &generator)
    }

    private static func registration(_ purpose: PasskeyPurpose, _ seed: UInt64 = 7) -> PasskeyChallenge {
        var generator = SeededGenerator(seed: seed)
        return .registration(purpose, using: &generator)
    }

    private static let kinds = [SoftPasskey(), .ed25519]

    @Test("A passkey of either kind is registered for one purpose", arguments: PasskeyPurpose.allCases)
    func registering(_ purpose: PasskeyPurpose) throws {
        for var passkey in Self.kinds {
            passkey.counter = 9
            passkey.flags.insert(.backupEligible)
            let credential = try passkey.credential(purpose)
            #expect(credential.id == passkey.id)
            #expect(try credential.key == passkey.key)
            #expect(credential.purpose == purpose)
            #expect(credential.counter == 9)
            #expect(credential.isBackupEligible)
            // The challenge of the other purpose makes no passkey for this one.
            let other = try #require(PasskeyPurpose.allCases.first(where: { $0 != purpose }))
            let challenge = Self.registration(other)
            expectError(.notForThis) {
                try passkey.registration(for: challenge).credential(for: purpose, challenge, at: SoftPasskey.party)
            }
        }
    }

    @Test("A registration for another challenge, page or name, by nobody, or with another attestation is refused")
    func refusedRegistrations() throws {
        let (challenge, party) = (Self.registration(.approval), try SoftPasskey.party)
        func register(
            _ passkey: SoftPasskey = SoftPasskey(), for asked: PasskeyChallenge = Self.registration(.approval),
            format: String = "none", statement: CBORValue = .map([])
        ) throws -> PasskeyCredential {
            try passkey.registration(for: asked, format: format, statement: statement)
                .credential(for: .approval, challenge, at: party)
        }
        #expect(throws: Never.self) { try register() }
        expectError(.notForThis) { try register(for: Self.registration(.approval, 8)) }
        expectError(.notForThis) { try register(for: Self.registration(.signIn)) }
        expectError(.notForThis) { try register(SoftPasskey(partyID: "example.com")) }
        expectError(.notForThis) { try register(SoftPasskey(origin: "https://evil.example")) }
        expectError(.userNotVerified) { try register(SoftPasskey(flags: [.userPresent])) }
        for format in ["packed", "fido-u2f", "", "None"] { expectError(.malformed) { try register(format: format) } }
        expectError(.malformed) { try register(statement: SoftPasskey.map([("x5c", .array([]))])) }
        expectError(.malformed) { try register(statement: .null) }
        let whole = try SoftPasskey().registration(for: challenge)
        let assertion = PasskeyRegistration(
            attestationObject: SoftPasskey.map([
                ("fmt", .text("none")), ("attStmt", .map([])), ("authData", .bytes(try SoftPasskey().data())),
            ]).bytes,
            clientDataJSON: whole.clientDataJSON)
        expectError(.malformed) { try assertion.credential(for: .approval, challenge, at: party) }
        let signed = PasskeyRegistration(
            attestationObject: whole.attestationObject,
            clientDataJSON: SoftPasskey().clientDataJSON(.get, challenge))
        expectError(.notForThis) { try signed.credential(for: .approval, challenge, at: party) }
    }

    @Test("A signature by the passkey over what was asked for verifies, and no other does")
    func assertions() throws {
        let (challenge, party) = (Self.challenge(), try SoftPasskey.party)
        for passkey in Self.kinds {
            let key = try passkey.key
            let good = try passkey.assertion(for: challenge)
            #expect(try good.verified(by: key, for: challenge, at: party).counter == 0)
            expectError(.notForThis) { try good.verified(by: key, for: Self.challenge(8), at: party) }
            expectError(.notForThis) {
                try good.verified(by: key, for: challenge, at: RelyingParty(origin: "https://pins.example.com:8443"))
            }
            var other = passkey
            other.number = 22
            expectError(.invalidSignature) { try good.verified(by: try other.key, for: challenge, at: party) }
            expectError(.notForThis) {
                try passkey.assertion(for: challenge, kind: .create).verified(by: key, for: challenge, at: party)
            }
            let attested = try passkey.data(withKey: true)
            let client = passkey.clientDataJSON(.get, challenge)
            let made = try PasskeyAssertion(
                authenticatorData: attested, clientDataJSON: client,
                signature: try passkey.signature(of: attested + Digest(of: client).bytes))
            expectError(.malformed) { try made.verified(by: key, for: challenge, at: party) }
            for flags: AuthenticatorData.Flags in [[.userPresent], [.userVerified]] {
                var careless = passkey
                careless.flags = flags
                expectError(.userNotVerified) {
                    try careless.assertion(for: challenge).verified(by: key, for: challenge, at: party)
                }
            }
            // The presented data differ from the signed ones.
            let louder = try PasskeyAssertion(
                authenticatorData: SoftPasskey(counter: 5).data(), clientDataJSON: client, signature: good.signature)
            expectError(.invalidSignature) { try louder.verified(by: key, for: challenge, at: party) }
        }
    }

    @Test("A counter has to rise, except where it is always 0; and a passkey stays of its kind")
    func counters() throws {
        func used(_ counter: UInt32, after last: UInt32, flags: AuthenticatorData.Flags = []) throws
            -> PasskeyCredential
        {
            let credential = try SoftPasskey(counter: last).credential()
            let data = try SoftPasskey(flags: flags.union([.userPresent, .userVerified]), counter: counter).data()
            return try credential.used(AuthenticatorData(data))
        }
        #expect(try used(0, after: 0).counter == 0)
        #expect(try used(1, after: 0).counter == 1)
        #expect(try used(.max, after: 7).counter == .max)
        for (counter, last) in [(0, 1), (7, 7), (6, 7)] as [(UInt32, UInt32)] {
            expectError(.counterNotRisen) { try used(counter, after: last) }
        }
        expectError(.notForThis) { try used(8, after: 7, flags: [.backupEligible]) }
    }

    @Test("Nothing that was damaged verifies")
    func mutations() throws {
        let (challenge, party) = (Self.challenge(), try SoftPasskey.party)
        var generator = SeededGenerator(seed: 33)
        for passkey in Self.kinds {
            let (key, good) = (try passkey.key, try passkey.assertion(for: challenge))
            defer { noteCampaign(of: mutants / 2) }
            for number in 0..<mutants / 2 {
                var parts = [good.authenticatorData, good.clientDataJSON, good.signature]
                parts[number % 3] = mutated(parts[number % 3], &generator)
                guard parts != [good.authenticatorData, good.clientDataJSON, good.signature] else { continue }
                #expect(throws: ServerError.self, "\(parts)") {
                    try PasskeyAssertion(
                        authenticatorData: parts[0], clientDataJSON: parts[1], signature: parts[2]
                    ).verified(by: key, for: challenge, at: party)
                }
            }
        }
    }

    @Test("A damaged registration is refused, or has a key that can be used")
    func damagedRegistrations() throws {
        let (challenge, party) = (Self.registration(.signIn), try SoftPasskey.party)
        let seeds = try Self.kinds.map { try $0.registration(for: challenge).attestationObject }
        let client = SoftPasskey().clientDataJSON(.create, challenge)
        _ = campaign(34, seeds) { mutant in
            let credential = try PasskeyRegistration(attestationObject: mutant, clientDataJSON: client)
                .credential(for: .signIn, challenge, at: party)
            #expect(throws: Never.self) { try ApproverKey(der: credential.key.subjectPublicKeyInfo) }
            #expect((1...1_023).contains(credential.id.count))
        }
    }
}
