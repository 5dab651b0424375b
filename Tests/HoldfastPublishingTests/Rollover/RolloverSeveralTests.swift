import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

/// An app that has gone over from a list to a pin file, and older versions of it that still get the list.
@Suite("Advice on several published documents", .timeLimit(.minutes(10)))
struct RolloverSeveralTests {
    private static let day = OutlookScene.day

    private static func file(
        _ scene: OutlookScene, _ certificates: [TestCertificate], published days: Double = -100,
        replaced: Double? = nil
    ) throws -> PublicationOutlook.Document {
        let file = try PinFile(hosts: [
            PinFile.Host(
                HostPattern(OutlookScene.host),
                pins: certificates.map { try PinFile.KeyPin(.publicKey(of: $0.der)) })
        ])
        return .init(
            "bank.pins.json", kind: .shippedPins, octets: Data(file.json), published: OutlookScene.after(days: days),
            replaced: replaced.map { OutlookScene.after(days: $0) })
    }

    private static func list(
        _ scene: OutlookScene, _ certificates: [TestCertificate], published days: Double = -100,
        replaced: Double? = nil
    ) throws -> PublicationOutlook.Document {
        let entries = try scene.entries(certificates, until: OutlookScene.after(days: 900))
        return .init(
            "pins.json", kind: .staticList(publicKey: try scene.listKey.publicKey.base64),
            octets: try PinListDraft(entries).signed(by: scene.listKey), published: OutlookScene.after(days: days),
            replaced: replaced.map { OutlookScene.after(days: $0) })
    }

    private static func situation(
        _ scene: OutlookScene, _ documents: [PublicationOutlook.Document], showing shown: TestCertificate,
        retiring: Set<Pin> = [], hasEarlierDocuments: Bool = false
    ) throws -> RolloverSituation {
        let inputs = RolloverInputs(
            host: OutlookScene.host, port: 443, documents: documents, hasEarlierDocuments: hasEarlierDocuments,
            servers: [scene.shown(shown)],
            candidates: [.init("next.pem", chain: scene.next.chain.map { Data($0) })], retiring: retiring,
            platforms: [scene.platform], staleness: .seconds(7 * day), now: OutlookScene.start)
        return try #require(try RolloverSituation.situations(from: inputs).first)
    }

    @Test("The next certificate has to be in all of them: what only one has is published in the others first")
    func publish() throws {
        let scene = try OutlookScene()
        let (old, both) = ([scene.served], [scene.served, scene.next])
        for (list, file) in [(old, both), (both, old)] {
            let documents = [try Self.list(scene, list), try Self.file(scene, file)]
            // Their order says nothing about which is published.
            for documents in [documents, documents.reversed()] {
                let situation = try Self.situation(scene, documents, showing: scene.served)
                let next = try #require(situation.next)
                let advice = RolloverAdvice(on: situation)
                #expect(advice.step == .publish([next]), "\(advice)")
                // To deploy it all the same would lock out the clients of the other.
                let losses = situation.losses(of: .deploy(next, servers: [0], before: nil))
                #expect(
                    losses.map { situation.clients[$0.clients].document } == [
                        list.count == 1 ? "pins.json" : "bank.pins.json"
                    ])
            }
        }
        let ready = try Self.situation(
            scene, [Self.list(scene, both), Self.file(scene, both)], showing: scene.served)
        guard case .deploy = RolloverAdvice(on: ready).step else {
            Issue.record("all clients have it: \(RolloverAdvice(on: ready))")
            return
        }
    }

    @Test("The wait lasts until the clients of each have it, also those of documents that nobody has named")
    func wait() throws {
        let scene = try OutlookScene()
        let (old, both) = ([scene.served], [scene.served, scene.next])
        let replaced = [
            try Self.list(scene, old, replaced: -3), try Self.list(scene, both, published: -3),
            try Self.file(scene, both),
        ]
        let named = RolloverAdvice(on: try Self.situation(scene, replaced, showing: scene.served))
        #expect(named.step == .wait(until: OutlookScene.after(days: 4)) && named.savesEverybody, "\(named)")
        // That the list's former versions are known says nothing about the pin file's.
        let young = [
            try Self.list(scene, both, replaced: -3), try Self.list(scene, both, published: -3),
            try Self.file(scene, both, published: -1),
        ]
        for hasEarlier in [true, false] {
            let situation = try Self.situation(
                scene, young, showing: scene.served, hasEarlierDocuments: hasEarlier)
            let next = try #require(situation.next)
            let expected: RolloverAdvice.Step =
                hasEarlier
                ? .wait(until: OutlookScene.after(days: 6)) : .deploy(next, servers: [0], before: nil)
            let step = RolloverAdvice(on: situation).step
            #expect(step == expected, "\(step)")
        }
    }

    @Test("What no server shows anymore is removed from all; what one shows would be missed by the clients of each")
    func remove() throws {
        let scene = try OutlookScene()
        let both = [scene.served, scene.next]
        let old: Set<Pin> = [.certificate(scene.served.der), try .publicKey(of: scene.served.der)]
        let situation = try Self.situation(
            scene, [Self.list(scene, both), Self.file(scene, both)], showing: scene.next, retiring: old)
        guard case .remove(let identities) = RolloverAdvice(on: situation).step else {
            Issue.record("\(RolloverAdvice(on: situation))")
            return
        }
        #expect(Set(identities.map { situation.identities[$0].pin }) == old)
        #expect(situation.losses(withdrawing: old).isEmpty)
        let losses = situation.losses(withdrawing: [.certificate(scene.next.der)])
        #expect(Set(losses.map { situation.clients[$0.clients].document }) == ["pins.json", "bank.pins.json"])
    }

    @Test("Of several lists for the same clients the last one is published, and what came before is replaced by it")
    func successors() throws {
        let scene = try OutlookScene()
        let documents = [
            try Self.list(scene, [scene.served]), try Self.list(scene, [scene.served, scene.next], published: -2),
        ]
        let situation = try Self.situation(scene, documents, showing: scene.served)
        #expect(situation.clients.map(\.replaced) == [OutlookScene.after(days: -2), nil])
        #expect(RolloverAdvice(on: situation).step == .wait(until: OutlookScene.after(days: 5)))
    }

    @Test("In the model, two documents with one history are like one, and what one of them lacks is not deployed")
    func fleets() {
        var lacking = 0
        for seed in 0..<2_000 {
            var random = SplitMix64(seed: UInt64(seed))
            var fleet = RolloverFleet(using: &random)
            fleet.documents[fleet.documents.count - 1].end = RolloverFleet.never
            let one = RolloverScene(fleet).situation(of: RolloverWorld(fleet))
            var two = one
            two.clients += one.clients
            let step = RolloverAdvice(on: one).step
            #expect(RolloverAdvice(on: two).step == step, "seed \(seed): \(fleet)")
            guard case .deploy(let identity, servers: _, before: _) = step,
                let other = two.clients.lastIndex(where: { !$0.isShipped && $0.replaced == nil })
            else { continue }
            // Clients that have just got the other document would refuse it.
            two.clients[other].admissions[identity] = []
            if case .deploy(identity, servers: _, before: _) = RolloverAdvice(on: two).step {
                Issue.record("seed \(seed): \(fleet)")
            }
            lacking += 1
        }
        #expect(lacking > 50)
    }
}
