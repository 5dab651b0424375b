#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("Pins of a trust server that come and go")
struct PublishingOverlapTests {
    private let issuing: TestAuthority
    private let anchors: TrustAnchors
    private let now = Date(timeIntervalSince1970: SystemWallClock().now.timeIntervalSince1970.rounded(.down))
    private let host: DialedHost
    private let hour: TimeInterval = 3_600
    private let day: TimeInterval = 86_400

    init() throws {
        let root = try TestAuthority.root()
        issuing = try root.intermediate()
        anchors = try TrustAnchors(der: [root.root])
        host = try DialedHost("a.example.com", port: 443)
    }

    private func path(_ host: DialedHost? = nil, leaf: TestCertificate? = nil) throws -> ValidatedPath {
        let host = host ?? self.host
        let chain = PresentedChain(try (leaf ?? issuing.leaf(names: [.dns(host.name)])).chain)
        let outcome = PathValidator(anchors: anchors).validate(chain, for: .server(identity: host), at: now) { _ in true
        }
        return try #require(outcome.path)
    }

    private func key(_ path: ValidatedPath) throws -> String {
        Data(try #require(path.leaf).subjectPublicKeyInfo).base64EncodedString()
    }

    private func fingerprint(_ path: ValidatedPath) throws -> String {
        "\(try #require(path.leaf).certificatePin)".replacing("cert-sha256/", with: "")
    }

    private func round(
        _ paths: [ValidatedPath], after earlier: [SeenHost] = [], at elapsed: TimeInterval = 0,
        rules: PublishingRound.Rules = .init()
    ) -> PublishingRound {
        let answer =
            paths.isEmpty
            ? PublishingRound.Answer.unreachable("down") : PublishingRound.Answer(paths: paths, problems: [])
        return PublishingRound([(host, answer)], earlier: earlier, rules: rules, at: now + elapsed)
    }

    @Test("What any address showed is published, each pin once")
    func union() throws {
        let (one, two) = (try path(), try path())
        let round = round([one, two, one])
        #expect(round.hosts.map(\.publicKeys) == [[try key(one), try key(two)]])
        #expect(round.hosts.map(\.fingerprints) == [[try fingerprint(one), try fingerprint(two)]])
    }

    @Test("A pin that is no longer seen leaves the document when the overlap has passed, and not a second earlier")
    func overlap() throws {
        let (old, new) = (try path(), try path())
        var memory = round([old]).remembered
        for elapsed in stride(from: hour, to: 7 * day, by: hour) {
            let round = round([new], after: memory, at: elapsed)
            #expect(round.hosts.map(\.publicKeys) == [[try key(new), try key(old)]])
            memory = round.remembered
        }
        let before = round([new], after: memory, at: 7 * day - 1)
        #expect(before.hosts.map(\.publicKeys.count) == [2])
        #expect(round([new], after: before.remembered, at: 7 * day).hosts.map(\.publicKeys) == [[try key(new)]])
        let again = round([old], after: memory, at: 7 * day - 1)
        #expect(again.remembered.first?.publicKeys.map(\.unseen) == [.zero, .seconds(hour - 1)])
    }

    @Test("While a host cannot be asked its pins do not grow older")
    func outage() throws {
        let (old, new) = (try path(), try path())
        var memory = round([old]).remembered
        memory = round([new], after: memory, at: hour).remembered
        for elapsed in stride(from: 2 * hour, to: 6 * day, by: hour) {
            let round = round([], after: memory, at: elapsed)
            #expect(round.hosts.map(\.publicKeys.count) == [2])
            memory = round.remembered
        }
        #expect(memory.first?.publicKeys.map(\.unseen) == [.zero, .seconds(hour)])
    }

    @Test("Neither an outage of the publisher nor a wrong clock withdraws a pin in one round", arguments: [-1, 1])
    func clock(sign: TimeInterval) throws {
        let (old, new) = (try path(), try path())
        let memory = round([old, new]).remembered
        let astray = round([new], after: memory, at: sign * 400 * day)
        #expect(astray.hosts.map(\.publicKeys.count) == [2])
        let right = round([new], after: astray.remembered, at: hour)
        #expect(right.hosts.map(\.publicKeys.count) == [2])
    }

    @Test("Without an overlap a pin is withdrawn at once, and does not come back", arguments: [0, -1])
    func withdrawal(overlap: Int64) throws {
        let (old, new) = (try path(), try path())
        let withdrawn = round([new], after: round([old]).remembered, at: 1, rules: .init(overlap: .seconds(overlap)))
        #expect(withdrawn.hosts.map(\.publicKeys) == [[try key(new)]])
        #expect(round([new], after: withdrawn.remembered, at: 2).hosts.map(\.publicKeys) == [[try key(new)]])
    }

    @Test("A host with ever new certificates has the newest pins, and no more than a reader takes")
    func ballast() throws {
        var memory: [SeenHost] = []
        var newest: ValidatedPath?
        for second in 0..<140 {
            let next = try path()
            newest = next
            memory = round([next], after: memory, at: TimeInterval(second)).remembered
        }
        let backups = TrustServerBackups(
            certificates: [], keys: try (0..<128).map { _ in try .init(der: TestKey(.p256).subjectPublicKeyInfoDER) })
        let published = round([], after: memory, at: 140, rules: .init(backups: backups))
        #expect(memory.first?.publicKeys.count == 128)
        #expect(published.hosts.first?.publicKeys.first == (try key(try #require(newest))))
        let signer = try TrustServerKey(customer: "acme", kind: .p256, at: now)
        let draft = try TrustServerDraft(customer: "acme", hosts: published.hosts, timestamp: now)
        #expect(throws: Never.self) { try draft.signed(by: signer) }
    }

    @Test("Of a Merkle Tree Certificate only the key is a backup")
    func merkleTreeBackup() throws {
        let root = try TestAuthority.root()
        let (plain, proved) = try (
            X509Certificate(der: root.leaf(names: ["a"]).der),
            X509Certificate(der: root.leaf(names: ["a"]) { $0.signature = .foreign([1, 3, 6, 1, 5, 5, 7, 6, 67]) }.der)
        )
        let backups = TrustServerBackups(certificates: [plain, proved], keys: [])
        #expect(backups.fingerprints == [TrustServerHost.fingerprint(of: plain)])
        #expect(backups.publicKeys.count == 2)
    }

    @Test("A host that shows more certificates at once than a reader takes is reported", arguments: [128, 129])
    func tooMany(count: Int) throws {
        let paths = try (0..<count).map { _ in try path() }
        let round = round(paths + paths)
        #expect(round.hosts.first?.publicKeys.count == 128)
        #expect(round.failures.allSatisfy { $0.consequence == .partial && !$0.isHarmless })
        let problems = count > 128 ? ["it showed 129 certificates, and clients accept 128 of a host"] : []
        #expect(round.failures.flatMap(\.problems).map(\.reason) == problems)
    }

    // MARK: Many changes

    private func hosts(_ count: Int) throws -> [(host: DialedHost, answer: PublishingRound.Answer)] {
        try (0..<count).map { number in
            let host = try DialedHost("h\(number).example.com", port: 443)
            return (host, .validated(try path(host)))
        }
    }

    @Test("When more hosts changed than may, what was published before is published again, and nothing is learned")
    func held() throws {
        let first = PublishingRound(try hosts(3), earlier: [], rules: .init(maximumChanges: 0), at: now)
        #expect(!first.isHeld && first.hosts.count == 3)
        var changed = try hosts(3)
        changed[2] = (try DialedHost("new.example.com", port: 443), .unreachable("down"))
        // Two have other keys, and one has left the list.
        for (limit, isHeld) in [(2, true), (3, false)] {
            let round = PublishingRound(
                changed, earlier: first.remembered, rules: .init(maximumChanges: limit), at: now + hour)
            #expect(round.isHeld == isHeld && round.heldAt == (isHeld ? limit : nil))
            #expect(round.changed == ["h0.example.com:443", "h1.example.com:443", "h2.example.com:443"])
            #expect(round.left == ["h2.example.com:443"])
            #expect((round.hosts == first.hosts) == isHeld)
            #expect((round.remembered == first.remembered) == isHeld)
            #expect(round.previous == first.hosts)
        }
        let late = PublishingRound(
            changed, earlier: first.remembered, rules: .init(maximumChanges: 1), at: now + 7 * day + 1)
        #expect(late.isHeld && !late.isPublishable)
    }

    @Test("While rounds are held, hosts that are as before stay published, and so do those that show an old pin still")
    func heldForLong() throws {
        var answers = try hosts(4)
        let first = PublishingRound(answers, earlier: [], rules: .init(maximumChanges: 0), at: now)
        let both = answers[1].answer.paths + [try path(answers[1].host)]
        answers[0].answer = .validated(try path(answers[0].host))
        answers[1].answer = .init(paths: both, problems: [])
        answers[2].answer = .unreachable("down")
        var memory = first.remembered
        for elapsed in [6 * day, 8 * day, 14 * day] {
            let round = PublishingRound(answers, earlier: memory, rules: .init(maximumChanges: 0), at: now + elapsed)
            #expect(round.isHeld)
            memory = round.remembered
            let kept = elapsed > 7 * day ? [first.hosts[1], first.hosts[3]] : first.hosts
            #expect(round.hosts.map(\.hostname) == kept.map(\.hostname))
            #expect(round.hosts.map(\.publicKeys) == kept.map(\.publicKeys))
            #expect(round.previous == round.hosts)
        }
        // Nothing was learned but the time.
        #expect(memory.map(\.publicKeys) == first.remembered.map(\.publicKeys))
    }

    @Test("By default half of the hosts may change, and ten in any case", arguments: [(10, 10), (11, 10), (30, 15)])
    func defaultLimit(count: Int, limit: Int) throws {
        let first = PublishingRound(try hosts(count), earlier: [], rules: .init(), at: now)
        var next = try hosts(count)
        for index in limit..<count { next[index].answer = .unreachable("down") }
        let allowed = PublishingRound(next, earlier: first.remembered, rules: .init(), at: now + hour)
        #expect(!allowed.isHeld && allowed.changed.count == limit)
        guard count > limit else { return }
        next = try hosts(limit + 1) + next.dropFirst(limit + 1)
        let held = PublishingRound(next, earlier: first.remembered, rules: .init(), at: now + hour)
        #expect(held.isHeld && held.heldAt == limit)
    }

    @Test("The renewal of one certificate is one change for all hosts that share it; certificates of their own are not")
    func sharedCertificate() throws {
        let hosts = try (0..<40).map { try DialedHost("h\($0).example.com", port: 443) }
        func answers(_ leaf: TestCertificate) throws -> [(host: DialedHost, answer: PublishingRound.Answer)] {
            try hosts.map { ($0, .validated(try path($0, leaf: leaf))) }
        }
        let wildcard = { try self.issuing.leaf(names: ["*.example.com"]) }
        let first = PublishingRound(try answers(try wildcard()), earlier: [], rules: .init(), at: now)
        let renewed = PublishingRound(
            try answers(try wildcard()), earlier: first.remembered, rules: .init(maximumChanges: 1), at: now + hour)
        #expect(!renewed.isHeld && renewed.changes == 1 && renewed.changed.count == 40)
        // Twenty of them leave the wildcard for certificates of their own.
        var half = try answers(try wildcard())
        for index in 0..<20 { half[index].answer = .validated(try path(hosts[index])) }
        let split = PublishingRound(half, earlier: first.remembered, rules: .init(maximumChanges: 0), at: now + hour)
        #expect(split.heldAt == 0 && split.changes == 21)

        // One certificate in the place of many is no renewal.
        let own = PublishingRound(try self.hosts(40), earlier: [], rules: .init(), at: now)
        let taken = PublishingRound(
            try answers(try wildcard()), earlier: own.remembered, rules: .init(), at: now + hour)
        #expect(taken.isHeld && taken.changes == 40)
    }

    @Test("New hosts, and pins that were seen before, are no changes")
    func unchanged() throws {
        let (one, two) = (try path(), try path())
        let memory = round([one, two]).remembered
        let again = round([two], after: memory, at: hour, rules: .init(maximumChanges: 0))
        #expect(again.changed.isEmpty && !again.isHeld)
        let more = try DialedHost("b.example.com", port: 443)
        let grown = PublishingRound(
            [(host, .validated(one)), (more, .validated(try path(more)))], earlier: memory,
            rules: .init(maximumChanges: 0), at: now + hour)
        #expect(!grown.isHeld && grown.hosts.count == 2)
    }

    // MARK: Memory

    @Test("What is remembered is read as it was written")
    func memory() throws {
        let seen = round([try path()], after: round([try path()]).remembered, at: hour).remembered
        let spare = try X509Certificate(der: try issuing.leaf(names: ["a.example.com"]).der)
        let memory = PublishingMemory(hosts: seen, backups: TrustServerBackups(certificates: [spare], keys: []))
        #expect(try PublishingMemory(reading: try memory.data) == memory)
    }

    @Test(
        "Of what is damaged nothing counts",
        arguments: [
            ("\"version\":2", "\"version\":3"), ("a.example.com", "A.example.com"), ("a.example.com", "127.1"),
            (":443", ":0"), ("\"unseen\":0", "\"unseen\":-1"), ("\"unseen\":0", "\"unseen\":9223372036854775807"),
            ("\"validated\":", "\"validated\":-"), ("\"pk\":[{\"pin\":\"M", "\"pk\":[{\"pin\":\"N"), ("{", ""),
            ("\"fp\":[{\"pin\":\"", "\"fp\":[{\"pin\":\"0"),
        ])
    func damage(part: String, damaged: String) throws {
        let memory = PublishingMemory(hosts: round([try path()]).remembered, backups: TrustServerBackups())
        let text = String(decoding: try memory.data, as: UTF8.self)
        let other = text.replacing(part, with: damaged, maxReplacements: 1)
        #expect(other != text)
        #expect(throws: SigningError.self) { try PublishingMemory(reading: Data(other.utf8)) }
        let twice = PublishingMemory(hosts: memory.hosts + memory.hosts, backups: TrustServerBackups())
        #expect(throws: SigningError.self) { try PublishingMemory(reading: try twice.data) }
    }
}
#endif
