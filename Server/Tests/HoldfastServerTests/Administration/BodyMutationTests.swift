import Foundation
import HoldfastTesting
import Testing

@testable import HoldfastServer

/// Bodies of the reference's administration and of the sign-in, damaged: each is read as something that it could say, or
/// refused with a field. Those of `/v1` are with the columns of the database.
@Suite("Bodies of the reference's tools and of browsers, damaged")
struct BodyMutationTests {
    private static func octets(_ members: [String: CanonicalJSON]) -> [UInt8] {
        CanonicalJSON.object(members).octets
    }

    @Test("A damaged certificate or domain of the reference's tools is one, or is refused")
    func certificates() throws {
        let leaf = try TestAuthority.root().leaf(names: [.dns(World.host)]) { $0.subject = .commonName(World.host) }
        let pem = CanonicalJSON.text(PEMText.block("CERTIFICATE", of: leaf.der))
        let seeds = [
            Self.octets(["pem": pem, "domain": .text(World.host), "depth": .integer(1)]), Self.octets(["pem": pem]),
        ]
        let read = campaign(0xADC0, seeds, count: mutants(inPartsOf: 10)) { mutant in
            var fields = try UtilityBody.fields(mutant)
            let added = try UtilityBody.certificate(&fields)
            #expect(ContentHost.isName(added.domain.utf8) && (0...16).contains(added.certificate.depth))
        }
        #expect(read > 0 && read < mutants(inPartsOf: 10))
        let domains = campaign(0xADC1, [Self.octets(["domain": .text(World.host)])]) { mutant in
            var fields = try UtilityBody.fields(mutant)
            #expect(ContentHost.isName(try UtilityBody.domain(&fields)))
        }
        #expect(domains > 0)
        let list = CanonicalJSON.array([.text(World.host), .text("www.example.com")]).octets
        let lists = campaign(0xADC2, [list]) { mutant in
            let names = try UtilityBody.domains(mutant)
            #expect(names.count <= mutant.count / 3 && names.allSatisfy { ContentHost.isName($0.utf8) })
        }
        #expect(lists > 0)
    }

    @Test("A damaged rule for versions or text of the reference's tools is one, or is refused")
    func rules() throws {
        let rule = Self.octets([
            "platform": .text("IOS"), "majorOsVersion": .integer(15), "suggestedVersion": .text("3.1.2"),
            "requiredVersion": .text("2.0.0"), "messageKey": .text("update"),
        ])
        let rules = campaign(0xADC3, [rule]) { mutant in
            var fields = try UtilityBody.fields(mutant)
            let read = try UtilityBody.version(&fields)
            #expect((0...999_999_999).contains(read.majorSystemVersion ?? 0))
            let numbers = [read.suggested, read.required].compactMap { $0?.numbers }
            #expect(numbers.joined().allSatisfy { (0...999_999_999).contains($0) })
        }
        #expect(rules > 0)
        let text = Self.octets([
            "messageKey": .text("update"), "language": .text("en"), "text": .text("Please \u{FC}pdate \u{1F600}"),
        ])
        let texts = campaign(0xADC4, [text]) { mutant in
            var fields = try UtilityBody.fields(mutant)
            let read = try UtilityBody.text(&fields)
            #expect(!read.key.isEmpty && !read.language.isEmpty && read.text.utf8.count <= mutant.count)
        }
        #expect(texts > 0)
    }

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
