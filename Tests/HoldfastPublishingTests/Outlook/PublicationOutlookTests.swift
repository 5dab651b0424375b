import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("The outlook of a publication")
struct PublicationOutlookTests {
    private typealias Scene = OutlookScene

    // MARK: Pin files and builds

    @Test("Clients of a build whose pins the server has get in for the whole span")
    func shippedPinsGetIn() throws {
        let scene = try OutlookScene()
        let outlook = try scene.outlook(
            [scene.shipped(scene.pinFile(scene.served, scene.next), in: "1.0")], versions: .versions([.init("1.0")]))
        #expect(outlook.verdict == .in)
        #expect(outlook.decisive == nil)
        #expect(outlook.rows.map(\.verdict) == [.in])
        #expect(outlook.premises.contains("1 app version: 1.0"))
    }

    @Test("Of two builds, both have to let the server in")
    func everyBuildCounts() throws {
        let scene = try OutlookScene()
        let good = try scene.shipped(scene.pinFile(scene.served), in: "1.0")
        let bad = try scene.shipped(scene.pinFile(scene.next), in: "2.0")
        for documents in [[good, bad], [bad, good]] {
            let outlook = try scene.outlook(documents, versions: .versions([.init("1.0"), .init("2.0")]))
            #expect(outlook.verdict == .out)
            let row = outlook.rows[try #require(outlook.decisive)]
            #expect(row.appVersions == ["2.0"])
            #expect(row.cause?.code == .pins)
        }
        let outlook = try scene.outlook(
            [good, bad], versions: .versions([.init("1.0"), .init("2.0", usedUntil: Scene.start)]))
        #expect(outlook.verdict == .in)
    }

    @Test("Unknown builds are never good news, and neither is a build whose document is not given")
    func buildsAreKnown() throws {
        let scene = try OutlookScene()
        let file = try scene.shipped(scene.pinFile(scene.served))
        let unknown = try scene.outlook([file], versions: .unknown)
        #expect(unknown.verdict == .unknown)
        #expect(unknown.rows[try #require(unknown.decisive)].cause?.code == .appVersions)
        #expect(unknown.premises.contains("app versions unknown"))
        let missing = try scene.outlook([try scene.list(scene.served)], versions: .versions([.init("1.0")]))
        #expect(missing.verdict == .unknown)
        let nothing = try scene.outlook(
            [try scene.list(scene.served)], versions: .versions([.init("1.0", carriesDocument: false)]))
        #expect(nothing.verdict == .in)
        #expect(throws: PublishingError.self) {
            try scene.outlook([file], versions: .noShippedPins)
        }
    }

    @Test("Grace is no planned time: pins in their grace are ending, and end with it")
    func graceIsNotPlanned() throws {
        let scene = try OutlookScene()
        let file = try scene.shipped(scene.pinFile(scene.served, days: 10, grace: 5 * 86_400), in: "1.0")
        let versions = PublicationOutlook.AppVersions.versions([.init("1.0")])
        let graceBegins = Scene.after(days: 10).addingTimeInterval(1)
        let end = Scene.after(days: 15).addingTimeInterval(1)
        let before = try scene.outlook([file], versions: versions)
        #expect(before.verdict == .ending)
        #expect(before.rows[0].verdictEnd == graceBegins)
        #expect(before.rows[0].cause?.code == .pins)
        #expect(before.rows[0].spans.map(\.start) == [Scene.start, graceBegins, end])
        #expect(before.rows[0].spans.map(\.getsIn) == [true, true, false])
        #expect(before.rows[0].spans.last?.cause?.code == .grace)
        let within = try scene.outlook([file], versions: versions, now: Scene.after(days: 12))
        #expect(within.verdict == .ending)
        #expect(within.rows[0].verdictEnd == end)
        #expect(within.rows[0].cause?.code == .grace)
        // Also where nothing but grace is left of the span.
        let short = try scene.outlook([file], versions: versions, span: Scene.day, now: Scene.after(days: 12))
        #expect(short.verdict == .ending)
        #expect(short.rows[0].verdictEnd == end)
        let after = try scene.outlook([file], versions: versions, now: Scene.after(days: 16))
        #expect(after.verdict == .out)
    }

    // MARK: Lists

    @Test("A list without the served certificate locks its clients out, and clients keep the old one that has it")
    func removedFromTheList() throws {
        let scene = try OutlookScene()
        let old = try scene.list(scene.served, published: Scene.after(days: -9), replaced: Scene.start, named: "old")
        let new = try scene.list(scene.next, named: "new")
        let outlook = try scene.outlook([old, new])
        #expect(outlook.verdict == .out)
        #expect(outlook.rows[try #require(outlook.decisive)].document == 1)
        let empty = try scene.list(named: "empty")
        let refused = try scene.outlook([old, empty])
        #expect(refused.verdict == .out)
        #expect(refused.premises.contains { $0.contains("clients that hold old refuse empty") })
    }

    @Test("A list whose entries end is ending, by its pins")
    func entriesEnd() throws {
        let scene = try OutlookScene()
        let outlook = try scene.outlook([try scene.list(scene.served, until: Scene.after(days: 20))])
        #expect(outlook.verdict == .ending)
        #expect(outlook.rows[0].verdictEnd == Scene.after(days: 20))
        #expect(outlook.rows[0].cause?.code == .pins)
        let shorter = try scene.outlook(
            [try scene.list(scene.served, until: Scene.after(days: 20))], span: 20 * Scene.day)
        #expect(shorter.verdict == .in)
    }

    @Test("A replaced document counts for the staleness; older clients have a row that does not decide")
    func stalenessBounds() throws {
        let scene = try OutlookScene()
        // The list that was replaced ten days ago lacks the served certificate.
        let old = try scene.list(
            scene.next, published: Scene.after(days: -90), replaced: Scene.after(days: -10), named: "old")
        let new = try scene.list(scene.served, scene.next, named: "new")
        #expect(try scene.outlook([old, new], staleness: 30 * Scene.day).verdict == .out)
        let outlook = try scene.outlook([old, new], staleness: 5 * Scene.day)
        #expect(outlook.verdict == .in)
        #expect(outlook.rows.map(\.holders) == [.older, .current])
        #expect(outlook.rows[0].verdict == .out)
        #expect(outlook.premises.contains { $0.contains("1 of 1 row with them") })
    }

    @Test("Clients with challenges are judged by the answer that they would get")
    func challengedClients() throws {
        let scene = try OutlookScene()
        let challenge = Data(repeating: 7, count: 16).base64EncodedString()
        let answer = try ChallengeSigner(key: scene.listKey).answer(
            to: challenge, entries: try scene.entries([scene.served], until: Scene.after(days: 9)), at: Scene.start)
        let kind = PublicationOutlook.Document.Kind.challengedList(
            publicKey: try scene.listKey.publicKey.base64, challenge: challenge, signature: answer.signature)
        var document = PublicationOutlook.Document("answer", kind: kind, octets: answer.body, published: Scene.start)
        let outlook = try scene.outlook([document])
        #expect(outlook.rows.map(\.verdict) == [.ending])
        #expect(outlook.rows[0].verdictEnd == Scene.after(days: 9))
        document.octets.append(0x20)
        #expect(try scene.outlook([document]).rows[0].cause?.code == .document)
    }

    // MARK: Trust servers

    @Test("While its rounds go on, a trust server's document is judged as renewed")
    func freshRounds() throws {
        let scene = try OutlookScene()
        let document = try scene.trustDocument(scene.served, scene.next)
        let outlook = try scene.outlook([document], now: Scene.start.addingTimeInterval(300))
        #expect(outlook.verdict == .in)
        #expect(
            outlook.rows.map(\.client)
                == [.trustServerCertificates, .trustServerKeys, .trustServerCertificates, .trustServerKeys])
        let changed = try scene.outlook(
            [try scene.trustDocument(scene.next)], [scene.host(scene.shown(scene.served))],
            now: Scene.start.addingTimeInterval(300))
        #expect(changed.verdict == .out)
    }

    @Test(
        "Without fresh rounds a trust server's document is in its grace, and clients that begin are refused",
        arguments: [20 * 3_600, 25 * 3_600 - 33 * 60])
    func stoppedRounds(seconds: Int) throws {
        let scene = try OutlookScene()
        let document = try scene.trustDocument(scene.served)
        let outlook = try scene.outlook([document], now: Scene.start.addingTimeInterval(TimeInterval(seconds)))
        #expect(outlook.verdict == .out)
        let current = outlook.rows.filter { $0.holders == .current }
        let beginning = outlook.rows.filter { $0.holders == .beginning }
        #expect(current.map(\.verdict) == [.ending, .ending])
        #expect(current.allSatisfy { $0.cause?.code == .grace })
        #expect(current.allSatisfy { $0.verdictEnd == Scene.start.addingTimeInterval(25 * 3_600 + 1) })
        #expect(beginning.map(\.verdict) == [.out, .out])
        #expect(beginning.allSatisfy { $0.cause?.code == .document })
    }

    // MARK: Chains

    @Test("What is about to be shown is judged from then on")
    func plannedChain() throws {
        let scene = try OutlookScene()
        let change = Scene.after(days: 7)
        let planned = PublicationOutlook.Presentation(
            planned: scene.next.chain.map { Data($0) }, at: "192.0.2.1", from: change)
        let host = scene.host(scene.shown(scene.served, until: change), planned)
        let outlook = try scene.outlook([try scene.list(scene.served)], [host])
        #expect(outlook.verdict == .ending)
        let row = outlook.rows[try #require(outlook.decisive)]
        #expect(row.presentation == 1)
        #expect(row.start == change)
        #expect(try scene.outlook([try scene.list(scene.served, scene.next)], [host]).verdict == .in)
        // Asked whether the chain may be installed at once.
        let gate = PublicationOutlook.Presentation(
            planned: scene.next.chain.map { Data($0) }, at: "192.0.2.1", from: Scene.start)
        #expect(try scene.outlook([try scene.list(scene.served)], [scene.host(gate)]).verdict == .out)
    }

    @Test("The certificate that ends first ends the access, and what begins later is out until then")
    func certificatesEnd() throws {
        let scene = try OutlookScene(days: 30)
        let outlook = try scene.outlook([try scene.list(scene.served)])
        #expect(outlook.verdict == .ending)
        #expect(outlook.rows[0].cause?.code == .certificate)
        #expect(outlook.rows[0].verdictEnd == Scene.after(days: 30).addingTimeInterval(1))
        let early = try scene.issuing.leaf(names: [.dns(OutlookScene.host)]) {
            $0.notBefore = .days(2)
            $0.notAfter = .days(900)
        }
        let later = try scene.outlook([try scene.list(early)], [scene.host(scene.shown(early))])
        #expect(later.verdict == .out)
        #expect(later.rows[0].verdictEnd == Scene.after(days: 2))
        #expect(later.rows[0].cause?.code == .certificate)
    }

    @Test("A chain that was not seen, or over an hour ago, is unknown")
    func unseenChains() throws {
        let scene = try OutlookScene()
        let document = try scene.list(scene.served)
        var old = scene.shown(scene.served)
        for (age, verdict) in [(3_600.0, PublicationOutlook.Verdict.in), (3_601, .unknown)] {
            old.seen = Scene.start.addingTimeInterval(-age)
            #expect(try scene.outlook([document], [scene.host(old)]).verdict == verdict)
        }
        old.seen = nil
        #expect(try scene.outlook([document], [scene.host(old)]).verdict == .unknown)
        let refused = PublicationOutlook.Presentation(unreadable: "2001:db8::1", because: "no route to the host")
        let mixed = try scene.outlook([document], [scene.host(scene.shown(scene.served), refused)])
        #expect(mixed.verdict == .unknown)
        #expect(mixed.rows[try #require(mixed.decisive)].cause?.words == "no route to the host")
        #expect(try scene.outlook([document], [scene.host()]).verdict == .unknown)
        #expect(try scene.outlook([document], []).verdict == .unknown)
        // A client that is locked out for sure comes first.
        let out = try scene.outlook([try scene.list(scene.next)], [scene.host(refused, scene.shown(scene.served))])
        #expect(out.verdict == .out)
    }

    @Test("A time for which no chain is given is unknown: a chain that ends, and one that begins later")
    func gapsBetweenChains() throws {
        let scene = try OutlookScene()
        let document = try scene.list(scene.served, scene.next)
        func planned(fromDay day: Double) -> PublicationOutlook.Presentation {
            .init(planned: scene.next.chain.map { Data($0) }, at: "192.0.2.1", from: Scene.after(days: day))
        }
        let ended = scene.shown(scene.served, until: Scene.after(days: 7))
        for (shown, verdict) in [
            ([ended], PublicationOutlook.Verdict.unknown), ([ended, planned(fromDay: 8)], .unknown),
            ([planned(fromDay: 1)], .unknown), ([scene.shown(scene.served, until: Scene.start)], .unknown),
            ([ended, planned(fromDay: 7)], .in),
        ] {
            let host = PublicationOutlook.Host(OutlookScene.host, port: 443, shown: shown)
            let outlook = try scene.outlook([document], [host])
            #expect(outlook.verdict == verdict)
            guard verdict == .unknown else { continue }
            #expect(outlook.rows[try #require(outlook.decisive)].cause?.code == .notSeen)
        }
    }

    @Test("Each address has to let clients in, such as those of a fleet with two keys")
    func everyAddressCounts() throws {
        let scene = try OutlookScene()
        let fleet = scene.host(scene.shown(scene.served), scene.shown(scene.next, at: "192.0.2.2"))
        let outlook = try scene.outlook([try scene.list(scene.served)], [fleet])
        #expect(outlook.verdict == .out)
        #expect(outlook.rows[try #require(outlook.decisive)].place == "192.0.2.2")
        #expect(try scene.outlook([try scene.list(scene.served, scene.next)], [fleet]).verdict == .in)
    }

    @Test("Each platform is judged with its own anchors and lists")
    func platformsCount() throws {
        let scene = try OutlookScene()
        let other = try TestAuthority.root(clock: scene.clock)
        let stranger = PublicationOutlook.Platform("other", anchors: [Data(other.root)])
        let outlook = try scene.outlook([try scene.list(scene.served)], platforms: [scene.platform, stranger])
        #expect(outlook.verdict == .out)
        #expect(outlook.rows.map(\.verdict) == [.in, .out])
        #expect(outlook.rows[1].platform == "other")
        #expect(outlook.rows[1].cause?.code == .certificate)
        var checking = scene.platform
        checking.revocationLists = [Data(try scene.issuing.revocationList { $0.nextUpdate = .days(3) })]
        let listed = try scene.outlook([try scene.list(scene.served)], platforms: [checking])
        #expect(listed.verdict == .ending)
        #expect(listed.rows[0].cause?.code == .list)
        #expect(listed.rows[0].verdictEnd == Scene.after(days: 3).addingTimeInterval(1))
    }

    // MARK: Values

    @Test("The same inputs give the same octets, also after they were written and read")
    func sameOctets() throws {
        let scene = try OutlookScene()
        let inputs = PublicationOutlook.Inputs(
            documents: [
                try scene.list(scene.served, replaced: Scene.start), try scene.trustDocument(scene.served),
                try scene.shipped(scene.pinFile(scene.served), in: "1.0"),
            ], hosts: [scene.host(scene.shown(scene.served))], platforms: [scene.platform],
            appVersions: .versions([.init("1.0")]), now: Scene.start)
        let outlook = try PublicationOutlook(judging: inputs)
        let again = try JSONDecoder().decode(
            PublicationOutlook.Inputs.self, from: try JSONEncoder().encode(inputs))
        #expect(again == inputs)
        #expect(try PublicationOutlook(judging: again).json == outlook.json)
        var other = inputs
        other.documents[2].octets.append(0x0A)
        #expect(try PublicationOutlook(judging: other).json != outlook.json)
        let object = try #require(try JSONSerialization.jsonObject(with: outlook.json) as? [String: Any])
        #expect(object["schema"] as? Int == 1)
        #expect(object["verdict"] as? String == outlook.verdict.rawValue)
        #expect((object["rows"] as? [Any])?.count == outlook.rows.count)
    }

    @Test("Inputs that contradict themselves or exceed the limits are refused")
    func invalidInputs() throws {
        let scene = try OutlookScene()
        let document = try scene.list(scene.served)
        func refused(_ change: (inout PublicationOutlook.Inputs) -> Void) {
            var inputs = PublicationOutlook.Inputs(
                documents: [document], hosts: [scene.host(scene.shown(scene.served))], platforms: [scene.platform],
                appVersions: .noShippedPins, now: Scene.start)
            change(&inputs)
            #expect(throws: PublishingError.self) { try PublicationOutlook(judging: inputs) }
        }
        refused { $0.span = .seconds(-1) }
        refused { $0.staleness = .seconds(3_661 * 86_400) }
        refused { $0.now = Date(timeIntervalSince1970: .infinity) }
        refused { $0.documents[0].replaced = Scene.after(days: -1) }
        refused { $0.hosts[0].name = "not a host" }
        refused { $0.documents[0].hosts = ["*"] }
        refused { $0.platforms[0].anchors = [Data([1, 2, 3])] }
        refused { $0.documents = Array(repeating: document, count: 300) }
        refused {
            $0.documents[0].appVersions = ["9"]
            $0.appVersions = .versions([])
        }
    }
}
