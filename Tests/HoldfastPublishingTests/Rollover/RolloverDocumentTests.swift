import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("Documents that a rollover is about")
struct RolloverDocumentTests {
    private static let now = Date(wholeSeconds: 1_800_000_000)

    private static func host(_ name: String, ports: [Int] = []) throws -> PinFile.Host {
        let pin = try Pin(subject: .publicKey, digest: [UInt8](repeating: 1, count: 32))
        return try PinFile.Host(HostPattern(name), ports: ports, pins: [PinFile.KeyPin(pin)])
    }

    @Test("One entry decides about a host as in clients, also about the ports that it does not cover")
    func ports() throws {
        let file = try PinFile(hosts: [
            Self.host("www.example.com", ports: [443]), Self.host("**.example.com"), Self.host("*.example.net"),
        ])
        let document = RolloverDocument(
            try PublishedPins(
                pinFile: Data(file.json), named: "bank.pins.json", carriedBy: ["1"], at: Self.now), at: Self.now)
        #expect(!document.pinsCertificates && document.staleness == nil && document.issued == nil)
        // It is published in the place of another, and no build carries it alone.
        let held = document.held(from: Self.now, at: Self.now)
        #expect(held.appVersions.isEmpty && held.published == Self.now && held.replaced == nil)
        try document.check(DialedHost("www.example.com", port: 443), at: Self.now)
        try document.check(DialedHost("api.example.com", port: 8_443), at: Self.now)
        for (name, port) in [("www.example.com", 8_443), ("www.example.org", 443)] {
            #expect(throws: PublishingError.self) {
                try document.check(DialedHost(name, port: port), at: Self.now)
            }
        }
        let hosts = document.hosts(defaultPort: 443)
        #expect(try hosts.hosts == [DialedHost("www.example.com", port: 443), DialedHost("example.com", port: 443)])
        #expect(hosts.patterns == ["*.example.net"])
    }

    @Test(
        "A list is used for a week, what a server sends for challenges as well, a trust server's document for 25 hours")
    func kinds() throws {
        let key = SigningKey()
        let pin = try Pin(subject: .certificate, digest: [UInt8](repeating: 1, count: 32))
        let entry = try FingerprintEntry(name: "www.example.com", pin: pin, expires: 1_900_000_000)
        let list = try PinListDraft([entry]).signed(by: key)
        let signer = try key.publicKey
        for pins in [
            try PublishedPins(list: list, named: "pins.json", key: signer, at: Self.now),
            try PublishedPins(challengedList: list, after: nil, named: "pins.json", key: signer, at: Self.now),
        ] {
            let document = RolloverDocument(pins, at: Self.now)
            #expect(document.pinsCertificates && document.staleness == .seconds(7 * 86_400) && document.issued == nil)
            try document.check(DialedHost("www.example.com"), at: Self.now)
            #expect(throws: PublishingError.self) {
                try document.check(DialedHost("www.example.org"), at: Self.now)
            }
        }
        let signing = try TrustServerKey(customer: "acme", kind: .p256, at: Self.now)
        let host = TrustServerHost(
            hostname: "www.example.com", port: 443, fingerprints: [String(repeating: "ab", count: 32)], publicKeys: [],
            validated: Self.now)
        let data = try TrustServerDraft(customer: "acme", hosts: [host], timestamp: Self.now).signed(by: signing)
        let document = RolloverDocument(
            try PublishedPins(
                trustServerDocument: data, named: "acme.json.signed", signer: signing.certificate, customer: nil,
                at: Self.now), at: Self.now)
        #expect(document.pinsCertificates && document.issued == nil)
        #expect((25 * 3_600...25 * 3_600 + 1).contains(document.staleness?.components.seconds ?? 0))
        let dialed = try DialedHost("www.example.com", port: 443)
        try document.check(dialed, at: Self.now.addingTimeInterval(600))
        // Clients that begin take none that is older.
        let old = #expect(throws: PublishingError.self) {
            try document.check(dialed, at: Self.now.addingTimeInterval(601))
        }
        #expect(old?.remedy == "Run a round of the trust server first.")
    }

    @Test("An answer to a challenge is read with its challenge, and an earlier one is a list")
    func challengedList() throws {
        let (key, other) = (SigningKey(), SigningKey())
        let pin = try Pin(subject: .certificate, digest: [UInt8](repeating: 1, count: 32))
        let entry = try FingerprintEntry(name: "www.example.com", pin: pin, expires: 1_900_000_000)
        var generator = SystemRandomNumberGenerator()
        let challenge = ChallengeExchange.newChallenge(using: &generator)
        let another = ChallengeExchange.newChallenge(using: &generator)
        #expect(challenge != another)
        let answer = try ChallengeSigner(key: key).answer(to: challenge, entries: [entry], at: Self.now)
        func read(_ challenge: String, _ key: DocumentPublicKey) throws -> PublishedPins {
            try PublishedPins(
                challengedList: answer.body, after: .init(challenge: challenge, signature: answer.signature),
                named: "answer", key: key, at: Self.now)
        }
        let pins = try read(challenge, key.publicKey)
        #expect(try pins.hosts == [DialedHost("www.example.com")])
        #expect(pins.document.kind.rolloverSource == .challengedList)
        #expect(throws: PublishingError.self) {
            try read(another, key.publicKey)
        }
        #expect(throws: PublishingError.self) { try read(challenge, other.publicKey) }
        // A body is no list.
        #expect(throws: PublishingError.self) {
            try PublishedPins(
                challengedList: answer.body, after: nil, named: "answer", key: key.publicKey, at: Self.now)
        }
    }
}
