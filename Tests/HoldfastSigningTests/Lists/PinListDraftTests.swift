import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("Lists in the making")
struct PinListDraftTests {
    private let key = SigningKey()

    private func entry(_ name: String, _ number: UInt8, _ expires: Int64 = 100, depth: Int = 0) throws
        -> FingerprintEntry
    {
        try FingerprintEntry(name: name, pin: Pin.certificate([number]), expires: expires, depth: depth)
    }

    @Test("A quotation mark stays escaped whatever Unicode joins to it")
    func joinedMarks() throws {
        let names = ["x\"\u{301}y", "x\\\u{301}", "\"\u{200D}\\\u{20E3}", "a\u{0D4E}\"-"]
        let key = SigningKey()
        let list = try PinListDraft(names.map { try entry($0, 1) }).signed(by: key)
        let read = try FingerprintList(verifying: list, with: try key.publicKey).entries.map { Array($0.name.utf8) }
        #expect(Set(read) == Set(names.map { Array($0.utf8) }))
    }

    @Test("What is signed verifies, entry by entry, names with quotes and depths included")
    func roundTrip() throws {
        let draft = PinListDraft([
            try entry("www.example.com", 1), try entry(#"a "quoted\name""#, 2, 5), try entry("bücher", 3, 0, depth: 2),
        ])
        let data = try draft.signed(by: key)
        let list = try FingerprintList(verifying: data, with: key.publicKey)
        #expect(list.entries == draft.entries && list.entries.count == 3)
        #expect(data.last == 0x0A)
        #expect(throws: DocumentError.self) { try FingerprintList(verifying: data, with: SigningKey().publicKey) }
        #expect(try FingerprintList(verifying: PinListDraft().signed(by: key), with: key.publicKey).entries.isEmpty)
    }

    @Test("A draft of many entries is what adding them one after the other gives, each place once with its last entry")
    func together() throws {
        var generator = SplitMix64(seed: 28)
        let entries = try (0..<400).map { _ in
            try entry(
                ["a", "b", "B", "e\u{301}", "é"].randomElement(using: &generator) ?? "a",
                UInt8.random(in: 0...3, using: &generator), Int64.random(in: 1...9, using: &generator),
                depth: Int.random(in: 0...1, using: &generator))
        }
        var draft = PinListDraft()
        for entry in entries { draft.add(entry) }
        #expect(PinListDraft(entries).entries.map(\.signedBytes) == draft.entries.map(\.signedBytes))
        #expect(PinListDraft(entries) == draft)
    }

    @Test("Entries are sorted by name, of one name the latest expiry first, whatever the order they came in")
    func order() throws {
        let entries = try [entry("b", 1, 5), entry("a", 2, 7), entry("b", 3, 9), entry("a", 4, 8), entry("B", 5, 6)]
        let sorted = ["B 6", "a 8", "a 7", "b 9", "b 5"]
        #expect(PinListDraft(entries).entries.map { "\($0.name) \($0.expires)" } == sorted)
        #expect(PinListDraft(entries.reversed()) == PinListDraft(entries))
    }

    @Test("No two entries are alike: the later one counts; another depth is another entry")
    func noTwoAlike() throws {
        var draft = PinListDraft([try entry("a", 1, 5), try entry("a", 1, 9), try entry("a", 1, 7, depth: 1)])
        #expect(draft.entries.map(\.expires) == [9, 7])
        draft.add(try entry("a", 1, 3))
        #expect(draft.entries.map(\.expires) == [7, 3])
    }

    @Test("Replacing takes the place of all entries of the same names, and of no other")
    func replacing() throws {
        var draft = PinListDraft([try entry("a", 1), try entry("a", 2), try entry("b", 3)])
        draft.replace(with: [try entry("a", 4), try entry("a", 5)])
        #expect(Set(draft.entries) == Set(try [entry("a", 4), entry("a", 5), entry("b", 3)]))
    }

    @Test("Pruning removes what has expired, to the second")
    func pruning() throws {
        var draft = PinListDraft([try entry("a", 1, 10), try entry("a", 2, 11)])
        #expect(draft.prune(at: Date(timeIntervalSince1970: 10)).isEmpty)
        #expect(draft.prune(at: Date(timeIntervalSince1970: 10.5)).map(\.expires) == [10])
        #expect(draft.entries.map(\.expires) == [11])
    }

    @Test("A name with one unexpired certificate has no backup; two equal pins are one")
    func backups() throws {
        let draft = PinListDraft(
            try [
                entry("none", 1), entry("none", 1, 200, depth: 1), entry("two", 2), entry("two", 3),
                entry("expired", 4, 5),
                entry("expired", 5), entry("gone", 6, 5),
            ])
        #expect(draft.namesWithoutBackup(at: Date(timeIntervalSince1970: 50)) == ["expired", "none"])
    }
}

@Suite("Answers to challenges")
struct ChallengeSignerTests {
    private let key = SigningKey()
    private let time = Date(timeIntervalSince1970: 1_900_000_000.7)

    @Test("An answer verifies for its challenge, and says what it was told to", arguments: [16, 24, 32])
    func answer(length: Int) throws {
        let entries = [try FingerprintEntry(name: "*.example.com", pin: Pin.certificate([1]), expires: 5, depth: 1)]
        let challenge = Data(repeating: 7, count: length).base64EncodedString()
        let answer = try ChallengeSigner(key: key).answer(
            to: challenge, entries: entries, at: time,
            versionCheck: .init(update: .suggested, message: "A \"new\" one\n\u{1F600}"))
        let response = try ChallengeResponse(
            verifying: answer.body, signature: answer.signature, challenge: challenge, by: key.publicKey)
        #expect(response.entries == entries && response.issuedAt == Date(timeIntervalSince1970: 1_900_000_000))
        #expect(response.versionCheck == .init(update: .suggested, message: "A \"new\" one\n\u{1F600}"))
        let other = Data(repeating: 8, count: length).base64EncodedString()
        #expect(throws: DocumentError.self) {
            try ChallengeResponse(
                verifying: answer.body, signature: answer.signature, challenge: other, by: key.publicKey)
        }
    }

    private struct Challenge: CustomTestStringConvertible {
        let text: String?
        var testDescription: String { text.map { $0.utf8.count > 60 ? "\($0.utf8.count) characters" : $0 } ?? "none" }
    }

    @Test(
        "No challenge, a short, a long and an undecodable one are invalid",
        arguments: ([
            nil, "", "AAEC", Data(count: 15).base64EncodedString(), Data(count: 33).base64EncodedString(),
            "AAECAwQFBgcICQoLDA0ODw",
            "AAECAwQFBgcICQoLDA0ODx==", "*", String(repeating: "A", count: 100_000),
        ] as [String?]).map { Challenge(text: $0) })
    private func challenges(challenge: Challenge) {
        #expect { try ChallengeSigner(key: key).answer(to: challenge.text, entries: [], at: time) } throws: {
            ($0 as? SigningError)?.code == .invalidChallenge
        }
    }
}
