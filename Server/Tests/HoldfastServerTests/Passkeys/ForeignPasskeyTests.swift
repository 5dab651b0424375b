import Testing

@testable import ServerApprovals
@testable import ServerFoundation

@Suite("Passkeys of other software")
struct ForeignPasskeyTests {
    @Test(
        "soft-webauthn and fido2 register and sign with either kind of key, and not without a verified user",
        .needs(.softWebAuthn))
    func interoperation() async throws {
        var generator = SeededGenerator(seed: 30)
        let party = try RelyingParty(origin: "https://pins.example.com:8443")
        let registration = PasskeyChallenge.registration(.signIn, using: &generator)
        let ceremonies = (0..<2).map { _ in
            PasskeyCeremony(.signIn(using: &generator), at: Story.now)
        }
        let answers = try await SoftWebAuthn.answers(
            at: party, registration: registration, signing: ceremonies.map(\.challenge))
        for kind in ["es256", "edDSA"] {
            let passkey = try #require(answers[kind])
            var credential = try passkey.registered().credential(for: .signIn, registration, at: party)
            #expect(credential.id.count == 64)
            for (place, ceremony) in ceremonies.enumerated() {
                credential = try ceremony.signedIn(
                    try passkey.assertion(place), with: credential, at: Story.now)
                #expect(credential.counter == UInt32(place + 1))
            }
            expectError(.counterNotRisen) {
                try ceremonies[0].signedIn(try passkey.assertion(0), with: credential, at: Story.now)
            }
        }
        let careless = try #require(answers["unverified"])
        expectError(.userNotVerified) {
            try careless.registered().credential(for: .signIn, registration, at: party)
        }
        expectError(.userNotVerified) {
            try careless.assertion(0).verified(by: SoftPasskey().key, for: ceremonies[0].challenge, at: party)
        }
    }
}
