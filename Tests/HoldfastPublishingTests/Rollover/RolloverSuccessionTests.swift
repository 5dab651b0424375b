import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Testing

@Suite("What takes the place of a document, and who still has that", .timeLimit(.minutes(10)))
struct RolloverSuccessionTests {
    private static let hour = OutlookScene.hour

    @Test("Clients with the round before are let in by its grace: nobody is lost while they wait for the next one")
    func earlierRound() throws {
        let scene = try OutlookScene()
        let before = scene.clock.now.addingTimeInterval(-120)
        let documents = [
            try scene.trustDocument(scene.served, at: before, replaced: OutlookScene.start),
            try scene.trustDocument(scene.served, scene.next),
        ]
        let inputs = RolloverInputs(
            host: OutlookScene.host, port: 443, documents: documents, hasEarlierDocuments: false,
            servers: [scene.shown(scene.served)],
            candidates: [.init("next.pem", chain: scene.next.chain.map { Data($0) })], platforms: [scene.platform],
            appVersions: .noShippedPins, staleness: .seconds(25 * 3_600 + 1), now: OutlookScene.start)
        let situation = try #require(try RolloverSituation.situations(from: inputs).first)
        let shown = situation.servers[0].shows
        let next = try #require(situation.next)
        func isLetIn(_ identity: Int, _ time: Date) -> Bool {
            situation.clients[0].admissions[identity].contains { $0.contains(time) }
        }
        // The document is past its time after an hour, and clients go on with it for a day.
        let end = before.addingTimeInterval(25 * Self.hour + 1)
        for time in [OutlookScene.start, before.addingTimeInterval(2 * Self.hour), end.addingTimeInterval(-1)] {
            #expect(isLetIn(shown, time) && !isLetIn(next, time), "\(time)")
        }
        // A client that still has it then asks before it decides.
        #expect(isLetIn(shown, end) && isLetIn(next, end))
        let advice = RolloverAdvice(on: situation)
        #expect(advice.step == .wait(until: end))
        #expect(advice.savesEverybody, "\(advice)")
    }

    @Test("What a trust server has published as a backup is not to be published again when what is served ends")
    func unnamedBackup() throws {
        let scene = try OutlookScene(days: 40)
        let inputs = RolloverInputs(
            host: OutlookScene.host, port: 443, documents: [try scene.trustDocument(scene.served, scene.next)],
            hasEarlierDocuments: false, servers: [scene.shown(scene.served)], platforms: [scene.platform],
            appVersions: .noShippedPins, staleness: .seconds(25 * 3_600), now: OutlookScene.start)
        // The pin of its certificate does not reveal its key: it has to be named, or got.
        let advice = RolloverAdvice(on: try #require(try RolloverSituation.situations(from: inputs).first))
        let end = OutlookScene.after(days: 40).addingTimeInterval(1 - 25 * Self.hour)
        #expect(advice.step == .prepareNext(by: end), "\(advice)")
    }

    /// A bundle as a build carries it, and the same as published a day before.
    private static func repository(
        grace: Int, _ scene: OutlookScene
    ) async throws -> (published: PublishedPins, shipped: PublicationOutlook.Document) {
        let file = try PinFile(
            issuedAt: OutlookScene.start, notAfter: OutlookScene.after(days: 60),
            refresh: PinFile.Refresh(after: 21_600, grace: grace),
            hosts: [
                try PinFile.Host(
                    HostPattern(OutlookScene.host),
                    pins: [
                        PinFile.KeyPin(.publicKey(of: scene.served.der)),
                        PinFile.KeyPin(.publicKey(of: scene.next.der), state: .backup),
                    ])
            ])
        let bundle = try await PublishedBundle(of: file, at: OutlookScene.start)
        let shipped = try PublishedPins(
            shippedBundle: bundle.bundle, root: bundle.root, grace: .zero, named: "app.bundle.json", carriedBy: ["7.4"],
            at: OutlookScene.start)
        let published = try PublishedPins(
            bundle: bundle.bundle, root: bundle.root, named: "bundle.json", at: OutlookScene.start)
        return (published, shipped.document)
    }

    private static func advice(
        _ scene: OutlookScene, _ documents: [PublicationOutlook.Document], at now: Date = OutlookScene.start
    ) throws -> RolloverAdvice {
        let isCarried = documents.contains { !$0.appVersions.isEmpty }
        let inputs = RolloverInputs(
            host: OutlookScene.host, port: 443, documents: documents, servers: [scene.shown(scene.served)],
            candidates: [.init("next.pem", chain: scene.next.chain.map { Data($0) })], platforms: [scene.platform],
            appVersions: isCarried ? .versions([.init("7.4")]) : .noShippedPins, staleness: .seconds(6 * 3_600),
            now: now)
        return RolloverAdvice(on: try #require(try RolloverSituation.situations(from: inputs).first))
    }

    @Test(
        "A build whose bundle has ended asks the repository before it decides, so the change can be finished",
        arguments: [0, 14 * 86_400])
    func shippedBundle(grace: Int) async throws {
        let scene = try OutlookScene()
        let (published, shipped) = try await Self.repository(grace: grace, scene)
        let document = RolloverDocument(published, at: OutlookScene.start)
            .held(from: OutlookScene.after(days: -1), at: OutlookScene.start)
        let advice = try Self.advice(scene, [document, shipped])
        guard case .deploy = advice.step else {
            Issue.record("everybody has the next key: \(advice)")
            return
        }
        #expect(advice.savesEverybody, "\(advice)")
        // A build that follows nothing continues to use its expired pins, and stays locked out.
        let list = try scene.list(scene.served, scene.next, published: OutlookScene.after(days: -100))
        #expect(try !Self.advice(scene, [list, shipped]).savesEverybody)
    }

    @Test("A timestamp that a machine renews ends no pins, at whatever part of a second somebody asks")
    func timestamp() async throws {
        let scene = try OutlookScene()
        let (published, _) = try await Self.repository(grace: 0, scene)
        for part in [0, 0.000_1, 0.5, 0.999] {
            let now = OutlookScene.start.addingTimeInterval(part)
            let document = RolloverDocument(published, at: now)
            let held = document.held(from: OutlookScene.start, at: now)
            #expect(document.renewalPremise(at: now)?.contains("bundle.json is renewed before it ends at ") == true)
            let advice = try Self.advice(scene, [held], at: now)
            #expect(
                advice.step == .wait(until: OutlookScene.start.addingTimeInterval(6 * Self.hour)), "\(part): \(advice)")
        }
        // Without a machine, clients that begin are refused from its end on, however long the pins last.
        var stopped = published.document
        stopped.published = OutlookScene.after(days: -1)
        guard case .renew = try Self.advice(scene, [stopped]).step else {
            Issue.record("the timestamp ends in two weeks")
            return
        }
        let late = OutlookScene.after(days: 15)
        #expect(RolloverDocument(published, at: late).renewalPremise(at: late) == nil)
        #expect(RolloverDocument(published, at: late).held(from: late, at: late).lastRenewal == nil)
    }

    @Test("In the outlook as well, a build whose bundle has ended is one that begins, if its repository has newer pins")
    func outlook() async throws {
        let (offline, online) = (TUFSigningKey(), TUFSigningKey())
        try await RepositoryScene.published(root: [offline], targets: [offline], online: online) { scene in
            let root = try scene.served("metadata/1.root.json")
            let shipped = try PublishedPins(
                shippedBundle: try scene.served("bundle.json"), root: root, grace: .zero, named: "app.bundle.json",
                carriedBy: ["7.4"], at: scene.clock.now
            ).document
            func verdict(_ documents: [PublicationOutlook.Document]) throws -> PublicationOutlook.Verdict {
                let chain = scene.leaf.chain.map { Data($0) }
                return try PublicationOutlook(
                    judging: .init(
                        documents: documents,
                        hosts: [
                            .init(RepositoryScene.host, shown: [.init(chain, at: "192.0.2.1", seen: scene.clock.now)])
                        ],
                        platforms: [.init("company root", anchors: [Data(scene.authority.root)])],
                        appVersions: .versions([.init("7.4")]), span: .seconds(3_600), now: scene.clock.now)
                ).verdict
            }
            // Its pins last for 90 days, and are accepted for 14 more.
            scene.clock.set(RepositoryScene.start.addingTimeInterval(110 * RepositoryScene.day))
            try await scene.prepare(signedBy: [offline])
            try await scene.publish(online)
            let current = try PublishedPins(
                bundle: scene.served("bundle.json"), root: root, named: "bundle.json", at: scene.clock.now
            ).document
            #expect(try verdict([current, shipped]) == .in)
            #expect(try verdict([shipped]) == .out)
            // As the app itself, once it has asked.
            let device = try scene.device(.bundle)
            try await device.update(mode: .forced)
            #expect(try scene.lockedOut([device]) == 0)
        }
    }
}
