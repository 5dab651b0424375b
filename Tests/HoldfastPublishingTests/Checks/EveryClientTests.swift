import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

/// Seeded publications with all that clients may hold, on several platforms, at servers of which some do not answer. Every
/// verb gets the same.
@Suite("No two verbs disagree about every client that may be out there", .timeLimit(.minutes(15)))
struct EveryClientTests {
    private enum Answer: String, Hashable {
        case `in`, ending, out, unknown

        /// The worst, in the order of exit codes: 1, 3, 4, 0.
        static func worst(_ answers: [Answer]) -> Answer {
            [.out, .unknown, .ending, .in].first { answers.contains($0) } ?? .unknown
        }
    }

    /// The input of every verb.
    private struct Given {
        /// The pins that the published document replaces now.
        var old: PublishedPins
        var new: PublishedPins
        var earlier: [PublicationOutlook.Document]
        var builds: [PublishedPins]
        var versions: PublicationOutlook.AppVersions
        var platforms: [PublicationOutlook.Platform]
        /// The servers' certificates; nil for a server that does not answer.
        var leaves: [TestCertificate?]
        var now: Date

        /// All that clients may hold once the new document is published.
        var documents: [PublicationOutlook.Document] {
            var replaced = old.document
            (replaced.published, replaced.replaced) = (.distantPast, now)
            return [new.document] + builds.map(\.document) + [replaced] + earlier
        }

        var host: PublicationOutlook.Host {
            .init(
                OutlookScene.host, port: 443,
                shown: leaves.enumerated().map { index, leaf in
                    guard let leaf else { return .init(unreadable: "192.0.2.\(index)", because: "no answer") }
                    return .init(leaf.chain.map { Data($0) }, at: "192.0.2.\(index)", seen: now)
                })
        }
    }

    private let scene: OutlookScene
    private let host: DialedHost
    private let stranger: TestAuthority

    init() throws {
        scene = try OutlookScene()
        host = try DialedHost(OutlookScene.host, port: 443)
        stranger = try TestAuthority.root(name: "Another", clock: scene.clock)
    }

    // MARK: Verbs

    private func answer(_ worst: HostsOutlook.Finding.Kind?) -> Answer {
        switch worst {
        case nil: .in
        case .ending: .ending
        case .refused: .out
        case .unreachable: .unknown
        }
    }

    private func outlook(_ given: Given) throws -> Answer {
        let outlook = try PublicationOutlook(
            judging: .init(
                documents: given.documents, hosts: [given.host], platforms: given.platforms,
                appVersions: given.versions, now: given.now))
        return try #require(Answer(rawValue: outlook.verdict(within: .seconds(1)).verdict.rawValue))
    }

    /// `repository status` and `renew`.
    private func status(_ given: Given) throws -> Answer {
        let outlook = try HostsOutlook(
            of: [given.new.document] + given.builds.map(\.document),
            after: EarlierDocuments(Array(given.documents.dropFirst(1 + given.builds.count))), at: [given.host],
            platforms: given.platforms, appVersions: given.versions, at: given.now)
        return answer(outlook.worst)
    }

    /// `sign`, `list remove`, `repository pins`, `sign` and `publish`, `export`.
    private func change(_ given: Given) throws -> (answer: Answer, change: ChangeOutlook) {
        let subject = ChangeOutlook.Subject(
            from: [given.old.document], to: [given.new.document], after: EarlierDocuments(given.earlier),
            beside: given.builds.map(\.document), appVersions: given.versions)
        let change = try ChangeOutlook(
            of: subject, at: [given.host], platforms: given.platforms, at: given.now)
        let kinds = (change.objections + change.standing).map { answer($0.kind) }
        let mine = Answer.worst(kinds.isEmpty ? [.in] : kinds)
        #expect(answer(change.after.worst) == mine)
        return (mine, change)
    }

    /// `check`.
    private func check(_ given: Given) async throws -> Answer {
        let versions = try #require(PublishedPinVersions([given.new] + given.builds))
        let policy = try PolicyLog.$shared.withValue(RecordingLog().policyLog) { try versions.policy(of: host) }
        let checking = try ChainChecking(trusting: TrustAnchors(der: given.platforms[0].anchors.map { [UInt8]($0) }))
        var reports: [CheckReport] = []
        for leaf in given.leaves {
            guard let leaf else {
                reports.append(
                    CheckReport(host: host, time: given.now, pins: []).failing("timedOut", "no answer"))
                continue
            }
            let certificates = try leaf.chain.map { try X509Certificate(der: $0) }
            reports.append(await checking.report(on: certificates, of: host, by: policy, at: given.now))
        }
        try PublishedOutlook(documents: given.documents, platforms: given.platforms, appVersions: given.versions)
            .judge(&reports, at: given.now)
        return Answer.worst(
            reports.map { report in
                switch report.outcome {
                case .untrusted: .out
                case .unknown: .unknown
                case .trusted: report.published?.expiresSoon == true ? .ending : .in
                }
            })
    }

    /// `gate`, for what is served already.
    private func gate(_ given: Given, _ leaf: TestCertificate) throws -> Answer {
        let gate = try InstallationGate(
            installing: .chain(leaf.chain.map { Data($0) }), on: host,
            judging: .init(
                documents: given.documents, hosts: [], platforms: given.platforms, appVersions: given.versions,
                span: .seconds(1), now: given.now), hasEarlierDocuments: false)
        switch gate.answer {
        case .open: return .in
        case .ending: return .ending
        case .closed: return .out
        case .unknown: return .unknown
        }
    }

    // MARK: Publications

    private func list(_ generator: inout SplitMix64) throws -> PublishedPins {
        let certificates = [scene.served, scene.next, scene.issuing.certificate]
        let entries = try (0..<(1 + generator.below(3))).map { index in
            try FingerprintEntry(
                name: generator.below(4) == 0 ? "*.example.com" : OutlookScene.host,
                pin: Pin.certificate(certificates[index == 0 ? 0 : generator.below(certificates.count)].der),
                until: OutlookScene.start.addingTimeInterval(generator.below(6) == 0 ? 3_600 : 90 * 86_400))
        }
        return try PublishedPins(
            list: PinListDraft(entries).signed(by: scene.listKey), named: "pins.json",
            key: scene.listKey.publicKey, at: OutlookScene.start)
    }

    private func build(_ version: String, _ generator: inout SplitMix64) throws -> PublishedPins {
        let name = generator.below(4) == 0 ? "other.example.com" : OutlookScene.host
        let pinned = generator.below(4) == 0 ? scene.next : scene.served
        let days = generator.below(2) == 0 ? 0.0625 : 1_000
        let file = try PinFile(
            issuedAt: OutlookScene.start, notAfter: OutlookScene.after(days: days),
            refresh: PinFile.Refresh(after: 21_600, grace: 86_400),
            hosts: [PinFile.Host(HostPattern(name), pins: [PinFile.KeyPin(Pin.publicKey(of: pinned.der))])])
        return try PublishedPins(
            pinFile: Data(file.json), named: "\(version).json", carriedBy: [version], at: OutlookScene.start)
    }

    private func given(_ round: Int, _ generator: inout SplitMix64) throws -> Given {
        let now = OutlookScene.start.addingTimeInterval(round % 2 == 0 ? 0 : 7_200)
        let earlier = try (0..<generator.below(2)).map { _ in
            var document = try list(&generator).document
            let days: Double = generator.below(3) == 0 ? 40 : 2
            (document.published, document.replaced) = (.distantPast, now.addingTimeInterval(-days * 86_400))
            return document
        }
        let names = ["7.3", "7.4"].prefix(generator.below(3))
        let builds = try names.map { try build($0, &generator) }
        let unsaid: PublicationOutlook.AppVersions = generator.below(4) == 0 ? .unknown : .noShippedPins
        let leaves = (0..<(1 + generator.below(2))).map { _ -> TestCertificate? in
            switch generator.below(8) {
            case 0: nil
            case 1: scene.next
            default: scene.served
            }
        }
        let other = PublicationOutlook.Platform("another", anchors: [Data(stranger.root)])
        let both = PublicationOutlook.Platform("both", anchors: [Data(stranger.root), Data(scene.authority.root)])
        return Given(
            old: try list(&generator), new: try list(&generator), earlier: earlier, builds: builds,
            versions: builds.isEmpty ? unsaid : .versions(names.map { .init($0) }),
            platforms: [scene.platform] + (generator.below(8) == 0 ? [other] : generator.below(2) == 0 ? [both] : []),
            leaves: leaves, now: now)
    }

    @Test("status, check, gate, sign, list remove, publish and export say the same of the same inputs")
    func sameInputs() async throws {
        var generator = SplitMix64(seed: 73)
        var counts: [Answer: Int] = [:]
        var standing = 0
        for round in 0..<300 {
            let given = try given(round, &generator)
            let answer = try outlook(given)
            #expect(try status(given) == answer, "status, round \(round)")
            #expect(try await check(given) == answer, "check, round \(round)")
            let (changed, change) = try change(given)
            #expect(changed == answer, "a change, round \(round)")
            if given.leaves.count == 1, let leaf = given.leaves[0] {
                #expect(try gate(given, leaf) == answer, "gate, round \(round)")
            }
            // Only what is new, or not known, speaks against a change.
            let isOut = change.objections.contains { $0.kind == .refused }
            if answer == .out, !isOut { standing += 1 }
            counts[answer, default: 0] += 1
        }
        #expect(
            counts[.in] ?? 0 > 15 && counts[.out] ?? 0 > 40 && counts[.unknown] ?? 0 > 5 && counts[.ending] ?? 0 > 0
                && standing > 10, "\(counts), \(standing)")
    }

    // MARK: Changes

    private func entry(_ certificates: TestCertificate...) throws -> PublishedPins {
        let entries = try scene.entries(certificates, until: OutlookScene.after(days: 90))
        return try PublishedPins(
            list: PinListDraft(entries).signed(by: scene.listKey), named: "pins.json",
            key: scene.listKey.publicKey, at: OutlookScene.start)
    }

    private func given(from old: PublishedPins, to new: PublishedPins, at leaf: TestCertificate) -> Given {
        Given(
            old: old, new: new, earlier: [], builds: [], versions: .noShippedPins, platforms: [scene.platform],
            leaves: [leaf], now: OutlookScene.start)
    }

    @Test("What mends a lock-out is not objected to, and those who are locked out until they ask are named")
    func mending() throws {
        let (wrong, right) = (try entry(scene.next), try entry(scene.served))
        let mended = try change(given(from: wrong, to: right, at: scene.served)).change
        #expect(mended.objections.isEmpty && mended.standing.map(\.kind) == [.refused], "\(mended.standing)")
        #expect(mended.standing[0].text.contains("which was replaced, are locked out"))
        let broken = try change(given(from: right, to: wrong, at: scene.served)).change
        #expect(broken.objections.map(\.kind) == [.refused] && broken.standing.isEmpty, "\(broken.objections)")
        // A version of the app that is locked out whatever is published.
        var shipped = given(from: right, to: right, at: scene.served)
        shipped.builds = [
            try PublishedPins(
                pinFile: Data(scene.pinFile(scene.next).json), named: "app.json", carriedBy: ["7.3"],
                at: OutlookScene.start)
        ]
        shipped.versions = .versions([.init("7.3")])
        let build = try change(shipped).change
        #expect(build.objections.isEmpty && build.standing.map(\.kind) == [.refused])
        #expect(build.standing[0].text.contains("app.json"))
    }

    @Test("A platform on which a change locks clients out counts, and what nobody knows speaks against any change")
    func platformsAndUnknown() throws {
        let both = try entry(scene.served, scene.next)
        var here = given(from: both, to: try entry(scene.served), at: scene.served)
        #expect(try change(here).answer == .in)
        here.platforms.append(.init("another", anchors: [Data(stranger.root)]))
        let elsewhere = try change(here).change
        #expect(elsewhere.objections.map(\.kind) == [.refused], "\(elsewhere.objections)")
        var unsaid = given(from: both, to: both, at: scene.served)
        unsaid.versions = .unknown
        let open = try change(unsaid).change
        #expect(open.objections.map(\.kind) == [.unreachable] && open.standing.isEmpty)
        #expect(open.objections[0].text.contains("app versions unknown"))
    }

    @Test("Where a change is compared, clients that are out on every platform lose nothing by it, and others do")
    func compared() throws {
        func objections(from old: PublishedPins, to new: PublishedPins) throws -> [HostsOutlook.Finding.Kind] {
            var subject = ChangeOutlook.Subject(from: [old.document], to: [new.document], appVersions: .noShippedPins)
            subject.isCompared = true
            let other = PublicationOutlook.Platform("another", anchors: [Data(stranger.root)])
            return try ChangeOutlook(
                of: subject, at: [given(from: old, to: new, at: scene.served).host],
                platforms: [scene.platform, other], at: OutlookScene.start
            ).objections.map(\.kind)
        }
        let (served, next) = (try entry(scene.served), try entry(scene.next))
        // On the other platform no client gets in either way; on the first the change decides.
        #expect(try objections(from: served, to: next) == [.refused])
        #expect(try objections(from: next, to: served).isEmpty)
        #expect(try objections(from: next, to: next).isEmpty)
    }
}

extension SplitMix64 {
    fileprivate mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
