import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("Before a certificate is installed")
struct InstallationGateTests {
    private typealias Scene = OutlookScene

    private static func gate(
        _ scene: OutlookScene, _ documents: [PublicationOutlook.Document], next: InstallationGate.Next? = nil,
        versions: PublicationOutlook.AppVersions = .noShippedPins, staleness: Duration = .seconds(30 * 86_400),
        span: Duration = .seconds(7 * 86_400), now: Date = Scene.start, hasEarlier: Bool = true,
        servedUntil: Date? = nil, keepsKeys: Bool = false
    ) throws -> InstallationGate {
        try InstallationGate(
            installing: next ?? .chain(scene.next.chain.map { Data($0) }), on: DialedHost(Scene.host, port: 443),
            judging: .init(
                documents: documents, hosts: [], platforms: [scene.platform], appVersions: versions,
                staleness: staleness, span: span, now: now),
            hasEarlierDocuments: hasEarlier, servedUntil: servedUntil, keepsKeys: keepsKeys)
    }

    private static func list(
        _ scene: OutlookScene, _ certificates: TestCertificate..., published: Double, replaced: Double? = nil
    ) throws -> PublicationOutlook.Document {
        let entries = try scene.entries(certificates, until: Scene.after(days: 900))
        return .init(
            "list.json", kind: .staticList(publicKey: try scene.listKey.publicKey.base64),
            octets: try PinListDraft(entries).signed(by: scene.listKey), published: Scene.after(days: published),
            replaced: replaced.map { Scene.after(days: $0) })
    }

    @Test("With a list that every client has had time to fetch, the next certificate may be installed")
    func open() throws {
        let scene = try OutlookScene()
        let list = try Self.list(scene, scene.served, scene.next, published: -30)
        let gate = try Self.gate(scene, [list])
        #expect(gate.answer == .open)
        #expect(gate.cause == nil && gate.decisive == nil && !gate.servedEndsFirst)
    }

    @Test("Clients that still hold the earlier list keep it closed, until the staleness of the last of them is over")
    func earlierList() throws {
        let scene = try OutlookScene()
        let documents = [
            try Self.list(scene, scene.served, published: -100, replaced: -1),
            try Self.list(scene, scene.served, scene.next, published: -1),
        ]
        let gate = try Self.gate(scene, documents)
        #expect(gate.answer == .closed(until: Scene.after(days: 29)))
        #expect(gate.decisive?.holders == .replaced)
        #expect(gate.cause?.code == .pins)
        // The second before, and the second itself.
        let before = try Self.gate(scene, documents, now: Scene.after(days: 29).addingTimeInterval(-1))
        #expect(before.answer == .closed(until: Scene.after(days: 29)))
        #expect(try Self.gate(scene, documents, now: Scene.after(days: 29)).answer == .open)
    }

    @Test("A young document without the one from before keeps it closed, unless nothing was published before")
    func unnamedDocument() throws {
        let scene = try OutlookScene()
        let list = try Self.list(scene, scene.served, scene.next, published: -10)
        let gate = try Self.gate(scene, [list])
        #expect(gate.answer == .closed(until: Scene.after(days: 20)))
        #expect(gate.cause?.words.contains("list.json") == true)
        #expect(try Self.gate(scene, [list], now: Scene.after(days: 20)).answer == .open)
        #expect(try Self.gate(scene, [list], hasEarlier: false).answer == .open)
        // The one from before had the pin too.
        let earlier = try Self.list(scene, scene.next, published: -100, replaced: -10)
        #expect(try Self.gate(scene, [earlier, list]).answer == .open)
    }

    @Test(
        "A document that was replaced long before the published one began leaves a gap, and so does a young one before it"
    )
    func gapBetweenDocuments() throws {
        let scene = try OutlookScene()
        let list = try Self.list(scene, scene.served, scene.next, published: -5)
        // No given document covers the time from the twentieth to the fifth day.
        let long = try Self.list(scene, scene.next, published: -100, replaced: -20)
        #expect(try Self.gate(scene, [long, list]).answer == .closed(until: Scene.after(days: 25)))
        let between = try Self.list(scene, scene.next, published: -20, replaced: -5)
        #expect(try Self.gate(scene, [between, long, list]).answer == .open)
        // Clients may hold the document that this one replaced for ten days more.
        let gate = try Self.gate(scene, [between, list])
        #expect(gate.answer == .closed(until: Scene.after(days: 10)))
        #expect(gate.cause?.words.contains("may hold an earlier document") == true)
    }

    @Test("A certificate that no document pins never gets in, and there is no date")
    func never() throws {
        let scene = try OutlookScene()
        let list = try Self.list(scene, scene.served, published: -100)
        let gate = try Self.gate(scene, [list], servedUntil: Scene.after(days: 3))
        #expect(gate.answer == .closed(until: nil))
        #expect(gate.cause?.code == .pins && !gate.servedEndsFirst)
    }

    @Test("Every version of the app that carries pins has to let the next certificate in")
    func builds() throws {
        let scene = try OutlookScene()
        let old = try scene.shipped(scene.pinFile(scene.served), in: "1.0")
        let new = try scene.shipped(scene.pinFile(scene.served, scene.next), in: "2.0")
        func versions(_ end: Date?) -> PublicationOutlook.AppVersions {
            .versions([.init("1.0", usedUntil: end), .init("2.0")])
        }
        let gate = try Self.gate(scene, [old, new], versions: versions(nil))
        #expect(gate.answer == .closed(until: nil))
        #expect(gate.decisive?.appVersions == ["1.0"])
        let later = try Self.gate(scene, [old, new], versions: versions(Scene.after(days: 5)))
        #expect(later.answer == .closed(until: Scene.after(days: 5)))
        #expect(try Self.gate(scene, [old, new], versions: versions(Scene.start)).answer == .open)
    }

    @Test("Unknown app versions are never open")
    func unknownVersions() throws {
        let scene = try OutlookScene()
        let list = try Self.list(scene, scene.next, published: -100)
        let gate = try Self.gate(scene, [list], versions: .unknown)
        #expect(gate.answer == .unknown && gate.cause?.code == .appVersions)
        #expect(try Self.gate(scene, [], versions: .noShippedPins).answer == .unknown)
    }

    @Test("What is served ends first: that is said only if the next comes later")
    func servedEndsFirst() throws {
        let scene = try OutlookScene()
        let documents = [
            try Self.list(scene, scene.served, published: -100, replaced: -1),
            try Self.list(scene, scene.next, published: -1),
        ]
        let ready = Scene.after(days: 29)
        func ends(_ end: Date?) throws -> Bool {
            let gate = try Self.gate(scene, documents, servedUntil: end)
            #expect(gate.answer == .closed(until: ready))
            return gate.servedEndsFirst
        }
        #expect(try ends(ready.addingTimeInterval(-1)))
        // The second in which the wait ends is not enough: an installation takes time.
        #expect(try ends(ready))
        #expect(try ends(ready.addingTimeInterval(0.9)))
        #expect(try !ends(ready.addingTimeInterval(1)))
        #expect(try !ends(nil))
        #expect(try !Self.gate(scene, documents, now: ready, servedUntil: Scene.start).servedEndsFirst)
    }

    @Test("If what is served has ended, the next is to be installed now, whether clients ever get in with it or not")
    func servedHasEnded() throws {
        let scene = try OutlookScene()
        let unpinned = [try Self.list(scene, scene.served, published: -100)]
        let ended = try Self.gate(scene, unpinned, servedUntil: Scene.start)
        #expect(ended.answer == .closed(until: nil))
        #expect(ended.servedEndsFirst && ended.lockedOutSince == Scene.start)
        let valid = try Self.gate(scene, unpinned, servedUntil: Scene.after(days: 1))
        #expect(!valid.servedEndsFirst && valid.lockedOutSince == nil)
        let pinned = [try Self.list(scene, scene.served, scene.next, published: -100)]
        #expect(try !Self.gate(scene, pinned, servedUntil: Scene.after(days: -1)).servedEndsFirst, "it is open")
    }

    @Test("With the keys that are served now, an earlier document that nobody named does not matter if it pins keys")
    func sameKeys() throws {
        let scene = try OutlookScene()
        let build = try scene.shipped(scene.pinFile(scene.served), in: "1.0")
        let served = InstallationGate.Next.chain(scene.served.chain.map { Data($0) })
        let versions = PublicationOutlook.AppVersions.versions([.init("1.0")])
        #expect(try Self.gate(scene, [build], next: served, versions: versions, keepsKeys: true).answer == .open)
        // A list pins certificates, which a renewal replaces.
        let young = [try Self.list(scene, scene.served, published: -1)]
        let gate = try Self.gate(scene, young, next: served, keepsKeys: true)
        #expect(gate.cause?.code == .document, "\(gate.answer)")
    }

    @Test("A certificate for another host, one of another authority, and one that is not yet valid stay out")
    func unsuitable() throws {
        let scene = try OutlookScene()
        let other = try scene.issuing.leaf(names: [.dns("other.example")])
        let stranger = try TestAuthority.root(name: "Elsewhere", clock: scene.clock).leaf(names: [.dns(Scene.host)])
        let early = try scene.issuing.leaf(names: [.dns(Scene.host)]) { $0.notBefore = .days(2) }
        for (certificate, answer) in [
            (other, InstallationGate.Answer.closed(until: nil)), (stranger, .closed(until: nil)),
            (early, .closed(until: early.notBefore)),
        ] {
            let list = try Self.list(scene, certificate, published: -100)
            let gate = try Self.gate(scene, [list], next: .chain(certificate.chain.map { Data($0) }))
            #expect(gate.answer == answer)
            #expect(gate.cause?.code == .certificate)
        }
    }

    @Test("Pins that end within the span make it end soon, with the date")
    func ending() throws {
        let scene = try OutlookScene()
        let file = try scene.shipped(scene.pinFile(scene.next, days: 3), in: "1.0")
        let gate = try Self.gate(scene, [file], versions: .versions([.init("1.0")]))
        #expect(gate.answer == .ending(at: Scene.after(days: 3).addingTimeInterval(1)))
        #expect(
            try Self.gate(
                scene, [file], versions: .versions([.init("1.0")]), span: .seconds(2 * 86_400)
            ).answer == .open)
    }

    @Test(
        "A certificate that does not last for the span is said from when until when; one that ends before is never in")
    func shortLife() throws {
        let scene = try OutlookScene()
        let short = try scene.issuing.leaf(names: [.dns(Scene.host)]) { $0.notAfter = .days(6) }
        let end = try X509Certificate(der: short.der).notAfter.addingTimeInterval(1)
        func gate(replaced days: Double, now: Double = 0) throws -> InstallationGate {
            try Self.gate(
                scene,
                [
                    Self.list(scene, scene.served, published: -100, replaced: -days),
                    Self.list(scene, scene.served, short, published: -days),
                ], next: .chain(short.chain.map { Data($0) }), now: Scene.after(days: now))
        }
        let later = try gate(replaced: 27)
        #expect(later.answer == .closed(until: Scene.after(days: 3)) && later.openUntil == end)
        let now = try gate(replaced: 27, now: 3)
        #expect(now.answer == .ending(at: end) && now.openUntil == nil)
        // All clients have its pin only four days after it has ended.
        let never = try gate(replaced: 20)
        #expect(never.answer == .closed(until: nil) && never.openUntil == nil)
        let long = try Self.gate(
            scene,
            [
                Self.list(scene, scene.served, published: -100, replaced: -27),
                Self.list(scene, scene.served, scene.next, published: -27),
            ])
        #expect(long.answer == .closed(until: Scene.after(days: 3)) && long.openUntil == nil)
    }

    @Test("Of a key without a certificate only its own pin counts")
    func key() throws {
        let scene = try OutlookScene()
        let next = InstallationGate.Next.key(
            Data(try X509Certificate(der: scene.next.der).subjectPublicKeyInfo))
        let versions = PublicationOutlook.AppVersions.versions([.init("1.0")])
        func answer(_ pinned: TestCertificate) throws -> InstallationGate.Answer {
            try Self.gate(scene, [try scene.shipped(scene.pinFile(pinned), in: "1.0")], next: next, versions: versions)
                .answer
        }
        #expect(try answer(scene.next) == .open)
        #expect(try answer(scene.served) == .closed(until: nil))
        // A list pins certificates, and there is none.
        #expect(
            try Self.gate(scene, [Self.list(scene, scene.next, published: -100)], next: next).answer
                == .closed(until: nil))
    }

    @Test("The answer is the outlook's: a host of an address is judged by its address")
    func addressHost() throws {
        let scene = try OutlookScene()
        let leaf = try scene.issuing.leaf(names: [.address([192, 0, 2, 1])])
        let file = try PinFile(
            issuedAt: Scene.start, notAfter: Scene.after(days: 900), refresh: nil,
            hosts: [
                PinFile.Host(
                    HostPattern("192.0.2.1"), pins: [try PinFile.KeyPin(Pin.publicKey(of: leaf.der))])
            ])
        for next in [
            InstallationGate.Next.chain(leaf.chain.map { Data($0) }),
            .key(Data(try X509Certificate(der: leaf.der).subjectPublicKeyInfo)),
        ] {
            let gate = try InstallationGate(
                installing: next, on: DialedHost("192.0.2.1", port: 8443),
                judging: .init(
                    documents: [scene.shipped(file, in: "1.0")], hosts: [], platforms: [scene.platform],
                    appVersions: .versions([.init("1.0")]), span: .seconds(86_400), now: Scene.start))
            #expect(gate.answer == .open, "\(gate)")
        }
    }
}
