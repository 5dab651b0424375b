import HoldfastTesting
import Testing

@testable import HoldfastServer

@Suite("What vantages agree on")
struct VantageAgreementTests {
    private let root: TestAuthority
    private let old: TestCertificate
    private let new: TestCertificate
    private static let now = Story.now

    init() throws {
        root = try TestAuthority.root()
        old = try root.leaf(names: [.dns(World.host)])
        new = try root.leaf(names: [.dns(World.host)])
    }

    /// What an address shows, as it was seen for the first time and last, so many seconds ago.
    private func seen(
        _ vantage: String, _ certificate: TestCertificate?, since first: Int64 = 0, _ last: Int64 = 0,
        at address: String = "192.0.2.1:443"
    ) throws -> Observation {
        Observation(
            vantage: vantage, address: address, chain: try certificate.map { try HostChain($0.chain) },
            failure: certificate == nil ? "no answer" : nil, firstSeen: Self.now - first, lastSeen: Self.now - last)
    }

    private func agreement(_ observations: Observation..., needing count: Int64 = 2) -> VantageAgreement {
        VantageAgreement(observations, needing: count, at: Self.now)
    }

    private func key(_ certificate: TestCertificate) throws -> String {
        "\(Digest(of: try certificate.subjectPublicKeyInfo))"
    }

    @Test("Where one is enough nothing is compared; the same key at other addresses is agreement")
    func same() throws {
        let renewed = try root.renew(old)
        let one = agreement(try seen("a", old), try seen("b", new), needing: 1)
        #expect(one.words == nil && one.conflict == nil)
        let both = agreement(try seen("a", old), try seen("b", renewed, at: "192.0.2.7:443"))
        #expect(both.words == nil && both.conflict == nil, "\(both)")
        let three = agreement(try seen("a", old), try seen("b", old), try seen("c", old), needing: 3)
        #expect(three.words == nil)
    }

    @Test("A sighting counts for an hour; who has not seen anything since is named")
    func silent() throws {
        let alone = try #require(agreement(try seen("a", old)).words)
        #expect(alone == "it was seen from a only within the hour, and 2 vantages must agree")
        #expect(agreement(try seen("a", old), try seen("b", old, since: 9_000, 3_600)).words == nil)
        let late = try #require(agreement(try seen("a", old), try seen("b", old, since: 9_000, 3_601)).words)
        #expect(late.contains("from a only"), "\(late)")
        #expect(late.contains("b has seen nothing since \(ClockGuard.text(Self.now - 3_601))"), "\(late)")
        // An address that answers nothing is not seen.
        let dead = try #require(agreement(try seen("a", old), try seen("b", nil)).words)
        #expect(dead.contains("from a only"), "\(dead)")
        #expect(agreement(needing: 2).words?.contains("from nowhere") == true)
        let two = agreement(try seen("a", old), try seen("b", old), needing: 3).words
        #expect(two?.contains("from a, b only") == true)
    }

    @Test("A host that changes its key between two looks is held, and is no alarm")
    func changing() throws {
        let change = agreement(try seen("a", old, since: 9_000, 200), try seen("b", new, since: 100, 100))
        let words = try #require(change.words)
        #expect(change.conflict == nil && words.contains("and 2 vantages must agree"), "\(words)")
        // The second has looked again, and the first has not.
        let later = agreement(try seen("a", old, since: 9_000, 200), try seen("b", new, since: 100))
        #expect(later.words != nil && later.conflict == nil)
        // An address that showed the old key went away after the second had looked.
        let gone = agreement(
            try seen("a", old, since: 9_000, 300, at: "192.0.2.2:443"), try seen("a", new, since: 9_000),
            try seen("b", old, since: 9_000, 200, at: "192.0.2.2:443"), try seen("b", new, since: 9_000, 200))
        #expect(gone.words == nil && gone.conflict == nil, "\(gone)")
    }

    @Test("A vantage that looked while another saw a key, and saw another one, disagrees: both keys are named")
    func disagreeing() throws {
        for (first, second) in [
            (try seen("a", old), try seen("b", new)),
            (try seen("a", old, since: 9_000, 100), try seen("b", new, since: 200)),
            (try seen("a", old, since: 9_000), try seen("b", new, since: 100, 100)),
        ] {
            let found = agreement(second, first)
            let conflict = try #require(found.conflict, "\(first)")
            #expect(conflict.vantages == ["a", "b"])
            let words = try #require(found.words)
            for part in ["a sees the key \(try key(old))", "b the key \(try key(new))"] {
                let other = part.replacing("a sees the key", with: "a the key").replacing("b the", with: "b sees the")
                #expect(words.contains(part) || words.contains(other), "\(words)")
            }
            #expect(agreement(first, second).conflict?.digest == conflict.digest)
        }
    }

    @Test("One of three that sees another key disagrees with those that agree; what enough have seen is no doubt")
    func third() throws {
        let odd = agreement(try seen("a", old), try seen("b", old), try seen("c", new))
        let conflict = try #require(odd.conflict)
        let newKey = try key(new)
        #expect(conflict.vantage == "c" && "\(conflict.key)" == newKey && conflict.other == "a")
        // A host with two keys, of which one place sees one only.
        let second = "192.0.2.2:443"
        let fleet = agreement(
            try seen("a", old), try seen("a", new, at: second), try seen("b", old), try seen("b", new, at: second),
            try seen("c", old))
        #expect(fleet.words == nil)
        let half = agreement(try seen("a", old), try seen("a", new, at: second), try seen("b", old))
        #expect(half.conflict?.vantage == "a" && half.conflict?.other == "b", "\(half)")
    }

    @Test("Who cannot read an address says nothing about what it shows")
    func unreadable() throws {
        let second = "[2001:db8::1]:443"
        let blind = agreement(
            try seen("a", old), try seen("a", new, at: second), try seen("b", old), try seen("b", nil, at: second))
        #expect(blind.conflict == nil)
        #expect(blind.words?.contains("the key \(try key(new)) was seen from a only") == true, "\(blind)")
        // What it saw there before does not count anymore.
        let wall = agreement(try seen("a", old), try seen("b", new, since: 9_000, 50), try seen("b", nil, at: second))
        #expect(wall.words != nil)
    }
}
