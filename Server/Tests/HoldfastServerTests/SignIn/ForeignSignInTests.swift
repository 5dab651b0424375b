import Testing

@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Signing in with other software", .timeLimit(.minutes(5)))
struct ForeignSignInTests {
    @Test(
        "soft-webauthn and fido2 register with an invitation and sign in over HTTP, and not without a verified user",
        .needs(.softWebAuthn))
    func interoperation() async throws {
        try await SignInDesk.run { desk in
            for (kind, seed) in [("es256", 51), ("edDSA", 53)] as [(String, UInt64)] {
                let invitation = try await desk.invite(seed: seed)
                let asked = try await desk.post("\(invitation.path)/begin", ["token": invitation.token.secretText])
                let signIn = try await desk.post("/signin/begin", [:])
                let answers = try await SoftWebAuthn.answers(
                    at: SoftPasskey.party, registration: SignInDesk.challenge(asked),
                    signing: [SignInDesk.challenge(signIn)])
                let visitor = try SignInDesk.visitor(asked)
                let passkey = try #require(answers[kind])
                let registration = try passkey.registered()
                let made = try await desk.post(
                    "\(invitation.path)/finish", SignInDesk.members(registration, invitation.token), cookies: [visitor])
                #expect(made.status == 201, "\(made.text)")
                let credential = try #require(
                    try await desk.world.catalog.passkeys().first {
                        "\($0.key.identity)" == made.json["passkey"] as? String
                    }
                ).credential
                let members = SignInDesk.members(try passkey.assertion(0), of: credential.id)
                let answer = try await desk.post("/signin/finish", members, cookies: [SignInDesk.visitor(signIn)])
                #expect(answer.status == 200 && answer.cookie(PageSessions.cookie) != nil, "\(answer.text)")
            }
            let last = try await desk.invite(seed: 55)
            let asked = try await desk.post("\(last.path)/begin", ["token": last.token.secretText])
            let answers = try await SoftWebAuthn.answers(
                at: SoftPasskey.party, registration: SignInDesk.challenge(asked), signing: [])
            let careless = try #require(answers["unverified"]).registered()
            let refused = try await desk.post(
                "\(last.path)/finish", SignInDesk.members(careless, last.token), cookies: [SignInDesk.visitor(asked)])
            refused.isError(422, .userNotVerified)
            #expect(try await desk.world.catalog.sessions().count == 2)
        }
    }
}
