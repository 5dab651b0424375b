import Testing

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation

@Suite("What browsers say about passkeys")
struct ClientDataTests {
    private static func challenge() -> PasskeyChallenge {
        var generator = SeededGenerator(seed: 7)
        return .signIn(using: &generator)
    }

    private func require(_ text: String) throws {
        try ClientData(Array(text.utf8)).require(.get, Self.challenge(), at: SoftPasskey.party)
    }

    private static func text(_ passkey: SoftPasskey = SoftPasskey(), _ kind: ClientData.Kind = .get) -> String {
        String(decoding: passkey.clientDataJSON(kind, challenge()), as: UTF8.self)
    }

    @Test("What browsers write is read, with whatever else they add")
    func browsers() throws {
        let others = [
            "", #","crossOrigin":false"#, #","crossOrigin":null"#, #", "tokenBinding" : {"status":"supported"}"#,
            #","other_keys_can_be_added_here":"do not compare clientDataJSON against a template. See https://goo.gl/yabPex""#,
            #","number":1.5e3,"list":[null,1]"#,
        ]
        for others in others {
            #expect(throws: Never.self, "\(others)") { try require(Self.text(SoftPasskey(others: others))) }
        }
        // Android writes slashes with a backslash.
        #expect(throws: Never.self) { try require(Self.text().replacing("/", with: #"\/"#)) }
    }

    @Test("Another purpose, challenge or page is refused, and so is a page within another one")
    func others() throws {
        expectError(.notForThis) { try require(Self.text(SoftPasskey(), .create)) }
        let challenge = Base64URL.encode(Self.challenge().bytes)
        var generator = SeededGenerator(seed: 8)
        for other in [PasskeyChallenge.signIn(using: &generator).bytes, Array(Self.challenge().bytes.dropLast()), []] {
            expectError(.notForThis) { try require(Self.text().replacing(challenge, with: Base64URL.encode(other))) }
        }
        let origins = [
            "http://pins.example.com", "https://pins.example.com.", "https://pins.example.com/",
            "https://pins.example.com:443", "https://pins.example.com:8443", "https://example.com",
            "https://pins.example.com.evil.example", "https://a.pins.example.com", "HTTPS://pins.example.com",
            "https://PINS.example.com", "https://pins.examplе.com", "",
        ]
        for origin in origins { expectError(.notForThis) { try require(Self.text(SoftPasskey(origin: origin))) } }
        for framed in [#","crossOrigin":true"#, #","topOrigin":"https://pins.example.com""#] {
            expectError(.notForThis) { try require(Self.text(SoftPasskey(others: framed))) }
        }
    }

    @Test("What two readers could understand differently is refused, and so is what is long or deep")
    func refused() throws {
        let text = Self.text()
        let challenge = Base64URL.encode(Self.challenge().bytes)
        let damaged = [
            text.replacing(#""origin""#, with: #""type":"webauthn.get","origin""#), "\u{FEFF}" + text, text + "x", "[]",
            "", text.replacing(#""origin":"#, with: #""origin":1,"x":"#),
            text.replacing("webauthn.get", with: "payment.get"), text.replacing("webauthn.get", with: "webauthn.Get"),
            text.replacing(challenge, with: challenge + "="),
            text.replacing(challenge, with: challenge.dropLast() + "B"),
            text.replacing(challenge, with: "+" + challenge.dropFirst()),
            text.replacing(#""challenge":"#, with: #""Challenge":"#), text.replacing("false", with: "0"),
            Self.text(
                SoftPasskey(
                    others: #","deep":"# + String(repeating: "[", count: 40) + String(repeating: "]", count: 40))),
            Self.text(SoftPasskey(others: #","long":""# + String(repeating: "a", count: 1_024) + #"""#)),
        ]
        for text in damaged { #expect(throws: ServerError.self, "\(text)") { try ClientData(Array(text.utf8)) } }
        let other = Self.text(SoftPasskey(others: #","x":"a""#))
        expectError(.malformed) { try ClientData(Array(other.utf8.dropLast(3)) + [0xFF, 0x22, 0x7D]) }
    }

    @Test("Damaged bytes are refused, or say what was asked for")
    func mutations() throws {
        let bytes = Array(Self.text().utf8)
        _ = campaign(31, [bytes]) { mutant in
            let read = try ClientData(mutant)
            try read.require(.get, Self.challenge(), at: SoftPasskey.party)
            #expect(read.kind == .get)
            #expect(read.challenge == Self.challenge().bytes)
        }
    }
}
