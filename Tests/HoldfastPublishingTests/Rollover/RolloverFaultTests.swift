import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

/// Wrong advice that `holdfastctl rollover` once gave.
@Suite("Advice on real documents and chains", .timeLimit(.minutes(10)))
struct RolloverFaultTests {
    private static let day: TimeInterval = 86_400

    private static func inputs(
        _ scene: OutlookScene, _ document: PublicationOutlook.Document, _ servers: [TestCertificate],
        next: TestCertificate? = nil, retiring: Set<Pin> = [], staleness: Duration? = .seconds(7 * day),
        hasEarlierDocuments: Bool = false, now: Date = OutlookScene.start
    ) -> RolloverInputs {
        RolloverInputs(
            host: OutlookScene.host, port: 443, documents: [document], hasEarlierDocuments: hasEarlierDocuments,
            servers: servers.enumerated().map {
                .init($1.chain.map { Data($0) }, at: "192.0.2.\($0)", seen: now)
            },
            candidates: next.map { [.init("next.pem", chain: $0.chain.map { Data($0) })] } ?? [], retiring: retiring,
            platforms: [scene.platform], staleness: staleness, now: now)
    }

    private static func advice(_ inputs: RolloverInputs) throws -> (RolloverSituation, RolloverAdvice) {
        let situations = try RolloverSituation.situations(from: inputs)
        #expect(situations.count == 1)
        let situation = try #require(situations.first)
        return (situation, RolloverAdvice(on: situation))
    }

    private static func list(_ scene: OutlookScene, _ pins: [(Pin, days: Double)], published: Double = -30) throws
        -> PublicationOutlook.Document
    {
        let entries = try pins.map {
            try FingerprintEntry(name: OutlookScene.host, pin: $0.0, until: OutlookScene.after(days: $0.days))
        }
        return .init(
            "pins.json", kind: .staticList(publicKey: try scene.listKey.publicKey.base64),
            octets: try PinListDraft(entries).signed(by: scene.listKey),
            published: OutlookScene.after(days: published))
    }

    private static func file(
        _ pins: [(TestCertificate, PinFile.KeyPin.State)], notAfter days: Double? = nil
    ) throws -> PublicationOutlook.Document {
        let file = try PinFile(
            notAfter: days.map { OutlookScene.after(days: $0) },
            hosts: [
                PinFile.Host(
                    HostPattern(OutlookScene.host),
                    pins: pins.map { try PinFile.KeyPin(.publicKey(of: $0.0.der), state: $0.1) })
            ])
        return .init(
            "bank.pins.json", kind: .shippedPins, octets: Data(file.json), published: OutlookScene.after(days: -30))
    }

    @Test("The next certificate is never taken for the old one because it ends first")
    func nextEndsFirst() throws {
        let scene = try OutlookScene(days: 80)
        let next = try scene.issuing.leaf(names: [.dns(OutlookScene.host)]) { $0.notAfter = .days(40) }
        let (old, new) = (Pin.certificate(scene.served.der), Pin.certificate(next.der))
        let list = try Self.list(scene, [(old, 80), (new, 40)])
        // If no certificate is named, nothing is removed, whatever ends when.
        let (_, unnamed) = try Self.advice(Self.inputs(scene, list, [scene.served]))
        if case .remove = unnamed.step { Issue.record("\(unnamed)") }
        let (situation, named) = try Self.advice(Self.inputs(scene, list, [scene.served], next: next))
        let target = try #require(situation.identities.firstIndex { $0.pin == new })
        // When what is served ends, the next one has ended already: nothing is better then, so no date is given.
        #expect(named.step == .deploy(target, servers: [0], before: nil))
        // Also when it is served: what was served before has to be named.
        let (_, done) = try Self.advice(Self.inputs(scene, list, [next]))
        if case .remove = done.step { Issue.record("\(done)") }
        // Even then it stays as long as nothing else outlasts what is served.
        let (_, alone) = try Self.advice(Self.inputs(scene, list, [next], retiring: [old]))
        #expect(alone.step == .prepareNext(by: OutlookScene.after(days: 33).addingTimeInterval(1)))
        let third = Pin.certificate(scene.next.der)
        let longer = try Self.list(scene, [(old, 80), (new, 40), (third, 900)])
        let (after, removal) = try Self.advice(Self.inputs(scene, longer, [next], retiring: [old]))
        let withdrawn = try #require(after.identities.firstIndex { $0.pin == old })
        #expect(removal.step == .remove([withdrawn]))
    }

    @Test("While two of three servers show the new key already, the third gets that, and not the backup")
    func halfDeployed() throws {
        let scene = try OutlookScene()
        let backup = try scene.issuing.leaf(names: [.dns(OutlookScene.host)])
        let file = try Self.file([(scene.served, .retiring), (scene.next, .active), (backup, .backup)])
        let (situation, advice) = try Self.advice(
            Self.inputs(scene, file, [scene.next, scene.served, scene.next]))
        let new = try #require(try situation.identities.firstIndex { try $0.pin == .publicKey(of: scene.next.der) })
        #expect(advice.step == .deploy(new, servers: [1], before: nil))
    }

    @Test("No action is dated back: not after pins have ended, nor long after the last document")
    func dates() throws {
        let scene = try OutlookScene()
        let file = try Self.file([(scene.served, .active), (scene.next, .backup)], notAfter: -300)
        let (situation, ended) = try Self.advice(Self.inputs(scene, file, [scene.served]))
        #expect(!situation.refusals.isEmpty)
        guard case .publish(let identities) = ended.step else {
            Issue.record("\(ended)")
            return
        }
        #expect(identities.contains(situation.servers[0].shows))
        let soon = try Self.file([(scene.served, .active), (scene.next, .backup)], notAfter: 3)
        let (_, renewal) = try Self.advice(Self.inputs(scene, soon, [scene.served]))
        guard case .renew(_, by: nil) = renewal.step else {
            Issue.record("\(renewal)")
            return
        }
    }

    @Test("Until everybody has the document nothing changes, and a server with keys of two kinds is two changes")
    func kinds() throws {
        let scene = try OutlookScene()
        let rsa = try scene.issuing.leaf(names: [.dns(OutlookScene.host)], key: .sharedRSA(bits: 2_048, index: 0))
        let file = try Self.file([(scene.served, .retiring), (scene.next, .active), (rsa, .active)])
        var inputs = Self.inputs(
            scene, file, [scene.served, rsa], staleness: .seconds(90 * Self.day), hasEarlierDocuments: true)
        inputs.servers[1].place = inputs.servers[0].place
        inputs.candidates = [.init("next.pem", chain: scene.next.chain.map { Data($0) })]
        let situations = try RolloverSituation.situations(from: inputs)
        #expect(situations.map(\.servers.count) == [1, 1])
        let steps = situations.map { RolloverAdvice(on: $0).step }
        #expect(steps.first == .wait(until: OutlookScene.after(days: 60)))
        if case .remove = steps.last { Issue.record("\(steps)") }
        inputs.servers[0] = .init(unreadable: "192.0.2.9", because: "it is down")
        let error = try #require(throws: PublishingError.self) { try RolloverSituation.situations(from: inputs) }
        #expect(error.code == .notSeen)
    }

    private static func file(
        _ requirement: PinSet.Requirement, _ pins: [PinFile.KeyPin]
    ) throws -> PublicationOutlook.Document {
        let file = try PinFile(
            hosts: [PinFile.Host(HostPattern(OutlookScene.host), requirement: requirement, pins: pins)])
        return .init(
            "bank.pins.json", kind: .shippedPins, octets: Data(file.json), published: OutlookScene.after(days: -30))
    }

    private static func keyPin(
        _ certificate: TestCertificate, _ role: PinFile.KeyPin.Role = .leaf, _ state: PinFile.KeyPin.State = .active,
        days: Double? = nil
    ) throws -> PinFile.KeyPin {
        try PinFile.KeyPin(
            .publicKey(of: certificate.der), role: role, state: state,
            notAfter: days.map { OutlookScene.after(days: $0) })
    }

    @Test("The pin of an authority is no spare key that servers could show")
    func issuerAsSpare() throws {
        let scene = try OutlookScene()
        let stranger = try TestAuthority.root(name: "Another").certificate
        let (spare, backup) = (try Self.keyPin(scene.next, .leaf, .backup), try Self.keyPin(stranger, .issuer, .backup))
        for (pins, hasSpare) in [([spare], true), ([backup], false), ([spare, backup], true)] {
            let file = try Self.file(.any, [Self.keyPin(scene.served)] + pins)
            let (situation, advice) = try Self.advice(Self.inputs(scene, file, [scene.served]))
            #expect((advice.step == .addBackup) == !hasSpare, "\(advice)")
            for identity in situation.identities.indices where situation.identities[identity].pin == backup.pin {
                #expect(situation.identities[identity].validity.isEmpty)
                #expect(situation.clients[0].admissions[identity].isEmpty)
            }
        }
    }

    @Test(
        "A key that only its pin names is let in as long as all are that the host requires, under each authority in use"
    )
    func requirement() throws {
        let scene = try OutlookScene(days: 5)
        let root = try scene.authority.leaf(names: [.dns(OutlookScene.host)])
        let spare = try Self.keyPin(scene.next, .leaf, .backup)
        func admitted(_ pins: [PinFile.KeyPin], by servers: [TestCertificate]) throws -> [[Range<Date>]] {
            let file = try Self.file(.oneOfEachRole, [spare] + pins)
            let (situation, _) = try Self.advice(Self.inputs(scene, file, servers))
            let identity = try #require(situation.identities.firstIndex { $0.pin == spare.pin })
            return [
                situation.clients[0].admissions[identity], situation.clients[0].admissions[situation.servers[0].shows],
            ]
        }
        func until(_ days: Double) -> [Range<Date>] {
            [OutlookScene.start..<OutlookScene.after(days: days).addingTimeInterval(1)]
        }
        let served = try Self.keyPin(scene.served)
        let issuing = try Self.keyPin(scene.issuing.certificate, .issuer, days: 10)
        let anchor = try Self.keyPin(scene.authority.certificate, .issuer, days: 20)
        // The served key gets in past its certificate's end, as long as the other; one pin of an issuer is enough.
        #expect(try admitted([served, issuing], by: [scene.served]) == [until(10), until(10)])
        #expect(try admitted([served, issuing, anchor], by: [scene.served]) == [until(20), until(20)])
        // It is unknown whether another server's authority will issue the next certificate.
        let other = try Self.keyPin(root)
        #expect(try admitted([served, other, issuing], by: [scene.served, root])[0].isEmpty)
        #expect(try admitted([served, other, anchor], by: [scene.served, root])[0] == until(20))
        // Without its own pin the key would get in nowhere, whatever the authority is pinned for.
        let stranger = try Self.keyPin(TestAuthority.root(name: "Another").certificate, .issuer)
        #expect(try admitted([served, stranger], by: [scene.served])[0].isEmpty)
    }

    @Test("Where an authority's pin alone lets everything in, a key without a certificate is not let in for that")
    func issuerLetsIn() throws {
        let scene = try OutlookScene()
        let file = try Self.file(.any, [Self.keyPin(scene.served), Self.keyPin(scene.issuing.certificate, .issuer)])
        var inputs = Self.inputs(scene, file, [scene.served])
        inputs.candidates = [.init("next.key", keyPin: try .publicKey(of: scene.next.der))]
        let (situation, advice) = try Self.advice(inputs)
        let identity = try #require(situation.next)
        #expect(situation.clients[0].admissions[identity].isEmpty && !situation.identities[identity].isPublished)
        #expect(advice.step == .publish([identity]))
    }

    @Test("What only the pin of its certificate names is not let in as long as clients of the document pin keys too")
    func certificatePinAlone() throws {
        let scene = try OutlookScene()
        let octets = try scene.trustDocument(scene.served, scene.next).octets
        func admitted(_ pinning: [PublicationOutlook.Document.PinnedSubject]) throws -> [Range<Date>] {
            let document = PublicationOutlook.Document(
                "acme.json.signed",
                kind: .trustServer(signer: scene.trustServer.certificate, customer: "gcx", pinning: pinning),
                octets: octets, published: OutlookScene.start)
            let (situation, _) = try Self.advice(Self.inputs(scene, document, [scene.served]))
            let pin = Pin.certificate(scene.next.der)
            let identity = try #require(situation.identities.firstIndex { $0.pin == pin })
            return situation.clients[0].admissions[identity]
        }
        #expect(try admitted([.certificate]).first?.contains(OutlookScene.start) == true)
        #expect(try admitted([.certificate, .publicKey]).isEmpty)
    }

    @Test("Clients of a trust server whose document ends before another can be deployed ask first, and are not lost")
    func endedDocument() throws {
        let scene = try OutlookScene()
        let hour = OutlookScene.hour
        let old = try scene.trustDocument(
            scene.served, at: OutlookScene.start.addingTimeInterval(-hour), replaced: OutlookScene.start)
        let now = OutlookScene.start.addingTimeInterval(300)
        let document = try scene.trustDocument(scene.served, scene.next, at: OutlookScene.start)
        var inputs = Self.inputs(
            scene, document, [scene.served], next: scene.next, staleness: .seconds(25 * hour), now: now)
        inputs.documents = [old, document]
        let (_, advice) = try Self.advice(inputs)
        #expect(advice.lost.isEmpty && advice.savesEverybody, "\(advice)")
        // Its clients use it for 25 hours after it was made, and a second.
        let end = OutlookScene.start.addingTimeInterval(24 * hour + 1)
        #expect(advice.step == .wait(until: end), "\(advice)")
    }

    @Test("What a withdrawal costs: the server that shows the pin, for those who fetch the next document")
    func withdrawal() throws {
        let scene = try OutlookScene()
        let file = try Self.file([(scene.served, .active), (scene.next, .backup)])
        let (situation, _) = try Self.advice(Self.inputs(scene, file, [scene.served]))
        #expect(try situation.losses(withdrawing: [.publicKey(of: scene.next.der)]).isEmpty)
        let losses = try situation.losses(withdrawing: [.publicKey(of: scene.served.der)])
        #expect(losses.map(\.servers) == [[0]])
    }
}
