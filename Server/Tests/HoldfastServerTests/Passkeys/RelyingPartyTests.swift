import Testing

@testable import ServerApprovals
@testable import ServerFoundation

@Suite("Where passkeys are made")
struct RelyingPartyTests {
    @Test("An origin is read as browsers write it, and its host is the name of its passkeys")
    func origins() throws {
        let origins = [
            "https://pins.example.com": "pins.example.com", "https://pins.example.com:8443": "pins.example.com",
            "https://localhost:8081": "localhost", "http://localhost:8081": "localhost",
            "http://localhost": "localhost",
            "https://xn--bcher-kva.example": "xn--bcher-kva.example",
        ]
        for (origin, id) in origins {
            let party = try RelyingParty(origin: origin)
            #expect(party.id == id)
            #expect(party.origin == origin)
        }
    }

    @Test("Everything that no browser writes as the origin of a passkey is refused")
    func refused() {
        let long = String(repeating: "a", count: 64)
        let origins = [
            "", "pins.example.com", "http://pins.example.com", "http://localhost:80", "http://localhost.example.com",
            "http://127.0.0.1:8081", "ftp://localhost", "https://", "https://pins.example.com/",
            "https://pins.example.com:443", "https://pins.example.com:0", "https://pins.example.com:65536",
            "https://pins.example.com:08443", "https://pins.example.com:", "https://pins.example.com:1:2",
            "https://Pins.example.com", "https://pins..example.com", "https://.example.com",
            "https://pins.example.com.",
            "https://192.0.2.1", "https://[2001:db8::1]", "https://-a.example", "https://a-.example",
            "https://user@pins.example.com", "https://bücher.example", "https://a_b.example", "https://\(long).example",
            "https://" + [String](repeating: "abcdefgh", count: 29).joined(separator: "."),
        ]
        for origin in origins { expectError(.invalidValue) { try RelyingParty(origin: origin) } }
    }
}
