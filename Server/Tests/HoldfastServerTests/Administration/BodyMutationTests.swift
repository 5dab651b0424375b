import Foundation
import Testing

@testable import ServerApprovals
@testable import ServerModel
@testable import ServerWeb

/// Bodies of the sign-in, damaged: each is read as something that it could say, or refused with a field. Those of `/v1` are
/// with the columns of the database.
@Suite("Bodies of browsers, damaged")
struct BodyMutationTests {
    @Test("A damaged registration, verdict or statement of a browser is read as it could be meant, or is refused")
    func signIn() throws {
        var generator = SeededGenerator(seed: 0x51B0)
        let token = AccessToken(using: &generator)
        let made = try SoftPasskey().registration(for: PasskeyChallenge.registration(.signIn, using: &generator))
        let registration = Array(try JSONSerialization.data(withJSONObject: SignInDesk.members(made, token)))
        let registrations = campaign(0x51B1, [registration], count: mutants(inPartsOf: 4)) { mutant in
            var body = try SignInBody(mutant)
            let (shown, read) = (try body.token(), try body.registration())
            try body.finish()
            #expect(shown.secretText.utf8.count == 73 && read.attestationObject.count <= 8 << 10)
        }
        #expect(registrations > 0)
        let good = try SoftPasskey.ed25519.assertion(for: PasskeyChallenge.signIn(using: &generator))
        var members = SignInDesk.members(good, of: SoftPasskey.ed25519.id)
        members["csrf"] = CSRFToken(of: token).text
        members["text"] = String(decoding: try Approver.alice.says(.approve, Story().subject).text, as: UTF8.self)
        let verdict = Array(try JSONSerialization.data(withJSONObject: members))
        var (own, strange) = (0, 0)
        let verdicts = campaign(0x51B2, [verdict], count: mutants(inPartsOf: 4)) { mutant in
            var body = try SignInBody(mutant)
            let (csrf, text, read) = (try body.csrf(), try body.text("text"), try body.assertion())
            try body.finish()
            #expect(text.count + read.credential.count <= mutant.count)
            let isOwn = CSRFToken(of: token).isSame(as: csrf)
            #expect(isOwn == csrf.elementsEqual(CSRFToken(of: token).text.utf8))
            (own, strange) = isOwn ? (own + 1, strange) : (own, strange + 1)
        }
        #expect(verdicts > 0 && own > 0 && strange > 0)
    }
}
