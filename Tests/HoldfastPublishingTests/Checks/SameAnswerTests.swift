import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

/// Seeded documents before one host, which every verb judges that publishes, watches or changes them.
@Suite("No two verbs disagree about a publication", .timeLimit(.minutes(15)))
struct SameAnswerTests {
    private enum Answer: Hashable {
        case `in`, ending, out
    }

    private let scene: OutlookScene
    private let host: DialedHost
    private let anchors: TrustAnchors

    init() throws {
        scene = try OutlookScene()
        host = try DialedHost(OutlookScene.host, port: 443)
        anchors = try TrustAnchors(der: [scene.authority.root])
    }

    // MARK: Verbs

    /// `repository status`, `renew`, `sign` and `export`.
    private func status(
        _ document: PublicationOutlook.Document, _ leaf: TestCertificate, at now: Date
    ) throws -> Answer {
        let shown = PublicationOutlook.Presentation(leaf.chain.map { Data($0) }, at: "192.0.2.1", seen: now)
        let outlook = try HostsOutlook(
            of: [document], at: [.init(OutlookScene.host, port: 443, shown: [shown])], platforms: [scene.platform],
            appVersions: document.appVersions.isEmpty
                ? .noShippedPins : .versions(document.appVersions.map { .init($0) }),
            at: now)
        #expect(outlook.findings.allSatisfy { $0.host == "\(OutlookScene.host):443" })
        switch outlook.worst {
        case nil: return .in
        case .ending: return .ending
        case .refused: return .out
        case .unreachable: throw CancellationError()
        }
    }

    /// `gate`, for what is served already.
    private func gate(
        _ document: PublicationOutlook.Document, _ leaf: TestCertificate, at now: Date
    ) throws -> Answer {
        let gate = try InstallationGate(
            installing: .chain(leaf.chain.map { Data($0) }), on: host,
            judging: .init(
                documents: [document], hosts: [], platforms: [scene.platform],
                appVersions: document.appVersions.isEmpty
                    ? .noShippedPins : .versions(document.appVersions.map { .init($0) }),
                span: .seconds(1), now: now), hasEarlierDocuments: false)
        switch gate.answer {
        case .open: return .in
        case .ending: return .ending
        case .closed: return .out
        case .unknown: throw CancellationError()
        }
    }

    /// `check`.
    private func check(
        _ published: PublishedPins, _ leaf: TestCertificate, at now: Date
    ) async throws -> (answer: Answer, report: CheckReport) {
        let policy = try PolicyLog.$shared.withValue(RecordingLog().policyLog) { try published.policy(of: host) }
        let certificates = try leaf.chain.map { try X509Certificate(der: $0) }
        let report = await (try ChainChecking(trusting: anchors))
            .report(on: certificates, of: host, by: policy, at: now)
        var reports = [report]
        let versions = published.document.appVersions
        try PublishedOutlook(
            documents: [published.document], platforms: [scene.platform],
            appVersions: versions.isEmpty ? .noShippedPins : .versions(versions.map { .init($0) })
        ).judge(&reports, at: now)
        let isEnding = reports[0].published?.verdict == PublicationOutlook.Verdict.ending.rawValue
        return (reports[0].outcome == .trusted ? isEnding ? .ending : .in : .out, report)
    }

    /// `sign` and `list remove`.
    private func change(
        from old: PublishedPins, to new: PublishedPins, at host: PublicationOutlook.Host, _ now: Date
    ) throws -> ChangeOutlook {
        var subject = ChangeOutlook.Subject(from: [old.document], to: [new.document], appVersions: .noShippedPins)
        subject.isCompared = true
        return try ChangeOutlook(of: subject, at: [host], platforms: [scene.platform], at: now)
    }

    // MARK: Documents

    private func pinFile(_ generator: inout SplitMix64) throws -> PinFile? {
        let keys = [scene.served, scene.next, scene.issuing.certificate, scene.authority.certificate]
        let pins = (0..<(1 + generator.below(3))).compactMap { _ in
            try? PinFile.KeyPin(
                Pin.publicKey(of: keys[generator.below(keys.count)].der),
                role: generator.below(2) == 0 ? .leaf : .issuer,
                state: PinFile.KeyPin.State.allCases[generator.below(4)],
                notAfter: generator.below(3) == 0 ? OutlookScene.start.addingTimeInterval(3_600) : nil)
        }
        let entry = try? PinFile.Host(
            HostPattern(generator.below(4) == 0 ? "**.example.com" : OutlookScene.host),
            enforcement: generator.below(6) == 0 ? .reportOnly : .enforce,
            requirement: generator.below(4) == 0 ? .oneOfEachRole : .any,
            afterExpiry: generator.below(4) == 0 ? .standardValidation : .reject, pins: pins)
        guard let entry else { return nil }
        let days = generator.below(2) == 0 ? 0.25 : 1_000
        return try? PinFile(
            issuedAt: OutlookScene.start, notAfter: OutlookScene.after(days: days),
            refresh: PinFile.Refresh(after: 21_600, grace: generator.below(2) * 86_400), hosts: [entry])
    }

    @Test("status, gate, check and publish say the same of a pin file, whatever it has, at any time of its life")
    func pinFiles() async throws {
        var generator = SplitMix64(seed: 71)
        var counts: [Answer: Int] = [:]
        for round in 0..<400 {
            guard let file = try pinFile(&generator) else { continue }
            let leaf = generator.below(2) == 0 ? scene.served : scene.next
            let now = OutlookScene.start.addingTimeInterval(
                [0, 3_600, 7_200, 8 * 3_600, 12 * 3_600, 40 * 3_600][round % 6])
            let published = try PublishedPins(
                pinFile: Data(file.json), named: "bank.pins.json", carriedBy: ["1"], at: OutlookScene.start)
            let answer = try status(published.document, leaf, at: now)
            #expect(try gate(published.document, leaf, at: now) == answer, "gate, round \(round)")
            let (checked, report) = try await check(published, leaf, at: now)
            #expect(checked == answer, "check, round \(round)")
            let publication = PinPublicationCheck(new: file, live: nil, at: now, until: now.addingTimeInterval(1))
            let findings = try publication.findings(
                of: published, [(host: host, reports: [report])], platforms: [scene.platform])
            #expect(findings.contains { $0.kind == .refused } == (answer == .out), "publish, round \(round)")
            counts[answer, default: 0] += 1
        }
        #expect(counts[.in] ?? 0 > 40 && counts[.out] ?? 0 > 40 && counts[.ending] ?? 0 > 5, "\(counts)")
    }

    @Test("A change of a list after which clients get in for a shorter time is told of, and no other")
    func shorterTime() throws {
        func list(_ certificate: TestCertificate, days: Double) throws -> PublishedPins {
            let entry = try FingerprintEntry(
                name: OutlookScene.host, pin: Pin.certificate(certificate.der), until: OutlookScene.after(days: days))
            return try PublishedPins(
                list: PinListDraft([entry]).signed(by: scene.listKey), named: "pins.json",
                key: scene.listKey.publicKey, at: OutlookScene.start)
        }
        let host = PublicationOutlook.Host(OutlookScene.host, port: 443, shown: [scene.shown(scene.served)])
        func findings(from old: PublishedPins, to new: PublishedPins) throws -> [HostsOutlook.Finding] {
            let change = try change(from: old, to: new, at: host, OutlookScene.start)
            return change.objections + change.standing
        }
        let (long, short) = (try list(scene.served, days: 90), try list(scene.served, days: 3))
        let found = try findings(from: long, to: short)
        #expect(found.map(\.kind) == [.ending] && found[0].until != nil)
        #expect(try findings(from: short, to: long).isEmpty)
        #expect(try findings(from: long, to: long).isEmpty)
        #expect(try findings(from: long, to: list(scene.next, days: 90)).map(\.kind) == [.refused])
        // A list that lasts longer than an outlook looks ahead.
        let lasting = try list(scene.served, days: 900)
        let shortened = try findings(from: lasting, to: short)
        #expect(shortened.map(\.kind) == [.ending] && shortened[0].text.contains("now they get in for longer"))
        #expect(try findings(from: lasting, to: lasting).isEmpty)
    }

    @Test("status, gate and check say the same of a list, and list remove refuses what they call a lock-out")
    func lists() async throws {
        var generator = SplitMix64(seed: 72)
        var counts: [Answer: Int] = [:]
        var refused = 0
        let key = scene.listKey
        let certificates = [scene.served, scene.next, scene.issuing.certificate]
        func list() throws -> PublishedPins {
            let entries = try (0..<(1 + generator.below(3))).map { _ in
                try FingerprintEntry(
                    name: generator.below(4) == 0 ? "*.example.com" : OutlookScene.host,
                    pin: Pin.certificate(certificates[generator.below(certificates.count)].der),
                    until: OutlookScene.start.addingTimeInterval(generator.below(3) == 0 ? 3_600 : 90 * 86_400))
            }
            return try PublishedPins(
                list: PinListDraft(entries).signed(by: key), named: "pins.json", key: key.publicKey,
                at: OutlookScene.start)
        }
        for round in 0..<160 {
            let (old, new) = (try list(), try list())
            let leaf = generator.below(2) == 0 ? scene.served : scene.next
            let now = OutlookScene.start.addingTimeInterval(round % 2 == 0 ? 0 : 7_200)
            let answers = try [old, new].map { try status($0.document, leaf, at: now) }
            for (published, answer) in zip([old, new], answers) {
                #expect(try gate(published.document, leaf, at: now) == answer, "gate, round \(round)")
                #expect(try await check(published, leaf, at: now).answer == answer, "check, round \(round)")
                counts[answer, default: 0] += 1
            }
            let shown = PublicationOutlook.Presentation(leaf.chain.map { Data($0) }, at: "192.0.2.1", seen: now)
            let change = try change(
                from: old, to: new, at: .init(OutlookScene.host, port: 443, shown: [shown]), now)
            let isLoss = answers[0] != .out && answers[1] == .out
            #expect(change.objections.contains { $0.kind == .refused } == isLoss, "list remove, round \(round)")
            if isLoss { refused += 1 }
        }
        #expect(counts[.in] ?? 0 > 40 && counts[.out] ?? 0 > 40 && refused > 10, "\(counts), \(refused)")
    }
}

extension SplitMix64 {
    fileprivate mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
