import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Testing

@Suite("The bundle of a repository that an app ships", .timeLimit(.minutes(15)))
struct ShippedBundleTests {
    private static let version = "7.4"

    /// A signed pin file needs a backup as well.
    private static func file(_ scene: OutlookScene, _ leaf: TestCertificate, days: Double) throws -> PinFile {
        let spare = try scene.issuing.leaf(names: [.dns(OutlookScene.host)])
        return try PinFile(
            issuedAt: OutlookScene.start, notAfter: OutlookScene.after(days: days),
            refresh: PinFile.Refresh(after: 21_600, grace: 0),
            hosts: [
                try PinFile.Host(
                    HostPattern(OutlookScene.host),
                    pins: [
                        PinFile.KeyPin(Pin.publicKey(of: leaf.der)),
                        PinFile.KeyPin(Pin.publicKey(of: spare.der), state: .backup),
                    ])
            ])
    }

    private static func outlook(
        _ scene: OutlookScene, _ documents: [PublicationOutlook.Document], showing leaf: TestCertificate, day: Double
    ) throws -> HostsOutlook {
        let now = OutlookScene.after(days: day)
        var shown = scene.shown(leaf)
        shown.seen = now
        return try HostsOutlook(
            of: documents, at: [.init(OutlookScene.host, port: 443, shown: [shown])], platforms: [scene.platform],
            appVersions: .versions([.init(version)]), at: now)
    }

    /// An app that begins on a day with the bundle that it was built with.
    private static func begins(
        _ scene: OutlookScene, _ published: PublishedBundle, grace: Duration, showing leaf: TestCertificate, day: Double
    ) throws -> Bool {
        let url = try #require(URL(string: "https://pins.example.com/bundle.json"))
        var configuration = PinRepositoryConfiguration(
            source: .bundle(url), root: published.root, floor: PinFloor(covering: []))
        configuration.secureDataStore = InMemoryDataStore()
        configuration.shipped = .init(bundle: published.bundle, grace: grace)
        let now = OutlookScene.after(days: day)
        let app = try PolicyLog.$shared.withValue(RecordingLog().policyLog) {
            try PinRepository(checking: configuration, clock: ManualClock(now: now))
        }
        let trust = ServerTrust(
            certificates: leaf.chain, host: try DialedHost(OutlookScene.host),
            anchors: try TrustAnchors(der: [scene.authority.root]))
        return try app.policy(for: OutlookScene.host).evaluate(trust, at: now).isTrusted
    }

    @Test("It lets in what the app lets in that begins with it, although its timestamp expired long ago")
    func asTheApp() async throws {
        let scene = try OutlookScene()
        let published = try await PublishedBundle(
            of: try Self.file(scene, scene.served, days: 60), at: OutlookScene.start)
        var trusted = 0
        for grace in [Duration.zero, .seconds(400 * OutlookScene.day)] {
            let pins = try PublishedPins(
                shippedBundle: published.bundle, root: published.root, grace: grace, named: "app.bundle.json",
                carriedBy: [Self.version], at: OutlookScene.start)
            #expect(pins.hosts.map(\.name) == [OutlookScene.host])
            for day in [1.0, 20, 59, 61, 200, 459, 461] {
                for leaf in [scene.served, scene.next] {
                    let isIn = try Self.begins(scene, published, grace: grace, showing: leaf, day: day)
                    let outlook = try Self.outlook(scene, [pins.document], showing: leaf, day: day)
                    let expected: HostsOutlook.Finding.Kind? = isIn ? (day > 60 ? .ending : nil) : .refused
                    #expect(outlook.worst == expected, "grace \(grace), day \(day): \(outlook.findings)")
                    if isIn { trusted += 1 }
                }
            }
        }
        #expect(trusted == 9)
    }

    @Test("An app with another root does not begin with it")
    func otherRoot() async throws {
        let scene = try OutlookScene()
        let file = try Self.file(scene, scene.served, days: 60)
        let (one, other) = (
            try await PublishedBundle(of: file, at: OutlookScene.start),
            try await PublishedBundle(of: file, at: OutlookScene.start)
        )
        let error = #expect(throws: PublishingError.self) {
            try PublishedPins(
                shippedBundle: one.bundle, root: other.root, grace: .zero, named: "app.bundle.json",
                carriedBy: [Self.version], at: OutlookScene.start)
        }
        #expect(error?.code == .invalidDocument)
    }

    @Test("It says nothing about what clients of the repository held before, so the gate stays closed")
    func gate() async throws {
        let scene = try OutlookScene()
        let published = try await PublishedBundle(
            of: try Self.file(scene, scene.next, days: 60), at: OutlookScene.start)
        let current = try PublishedPins(
            bundle: published.bundle, root: published.root, named: "bundle.json", at: OutlookScene.start
        ).document
        let shipped = try PublishedPins(
            shippedBundle: published.bundle, root: published.root, grace: .zero, named: "app.bundle.json",
            carriedBy: [Self.version], at: OutlookScene.start
        ).document
        func answer(hasEarlier: Bool) throws -> InstallationGate.Answer {
            try InstallationGate(
                installing: .chain(scene.next.chain.map { Data($0) }),
                on: DialedHost(OutlookScene.host, port: 443),
                judging: .init(
                    documents: [current, shipped], hosts: [], platforms: [scene.platform],
                    appVersions: .versions([.init(Self.version)]), span: .seconds(86_400), now: OutlookScene.start),
                hasEarlierDocuments: hasEarlier
            ).answer
        }
        if case .closed = try answer(hasEarlier: true) {} else { Issue.record("nobody named what was there before") }
        #expect(try answer(hasEarlier: false) == .open)
    }

    @Test("A change of keys waits for the versions that carry it, and does not take it for the published document")
    func rollover() async throws {
        let scene = try OutlookScene()
        let published = try await PublishedBundle(
            of: try Self.file(scene, scene.served, days: 60), at: OutlookScene.start)
        let shipped = try PublishedPins(
            shippedBundle: published.bundle, root: published.root, grace: .zero, named: "app.bundle.json",
            carriedBy: [Self.version], at: OutlookScene.start
        ).document
        let list = try scene.list(scene.served, scene.next, published: OutlookScene.after(days: -100))
        func step(_ documents: PublicationOutlook.Document...) throws -> RolloverAdvice {
            let situations = try RolloverSituation.situations(
                from: .init(
                    host: OutlookScene.host, port: 443, documents: documents, servers: [scene.shown(scene.served)],
                    candidates: [.init("next.pem", chain: scene.next.chain.map { Data($0) })],
                    platforms: [scene.platform], appVersions: .versions([.init(Self.version)]),
                    staleness: .seconds(7 * OutlookScene.day), now: OutlookScene.start))
            return RolloverAdvice(on: try #require(situations.first))
        }
        guard case .deploy = try step(list).step else {
            Issue.record("without the version everybody has the next certificate")
            return
        }
        let advice = try step(list, shipped)
        if case .deploy = advice.step { Issue.record("the version refuses the next certificate") }
        #expect(!advice.savesEverybody)
    }
}
