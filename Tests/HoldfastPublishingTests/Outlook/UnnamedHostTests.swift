import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("Hosts that the pins of a build do not name")
struct UnnamedHostTests {
    private static let newHost = "new.example.com"

    private let scene: OutlookScene
    private let added: TestCertificate

    init() throws {
        scene = try OutlookScene()
        added = try scene.issuing.leaf(names: [.dns(Self.newHost)]) { $0.notAfter = .days(1_000) }
    }

    private func file(_ pins: [(host: String, leaf: TestCertificate)], ports: [Int] = []) throws -> PinFile {
        try PinFile(
            hosts: pins.map { host, leaf in
                try PinFile.Host(HostPattern(host), ports: ports, pins: [PinFile.KeyPin(Pin.publicKey(of: leaf.der))])
            })
    }

    private func build(_ version: String, _ file: PinFile) throws -> PublishedPins {
        try PublishedPins(
            pinFile: Data(file.json), named: "\(version).json", carriedBy: [version], at: OutlookScene.start)
    }

    private func outlook(_ builds: [PublishedPins]) throws -> PublicationOutlook {
        try scene.outlook(
            builds.map(\.document),
            [
                scene.host(scene.shown(scene.served)),
                .init(Self.newHost, port: 443, shown: [scene.shown(added)]),
            ], versions: .versions(builds.flatMap(\.document.appVersions).map { .init($0) }))
    }

    @Test("A build whose pins do not name a host is not judged there if another source does, and a premise says so")
    func otherSource() throws {
        let old = try build("1", file([(OutlookScene.host, scene.served)]))
        let new = try build("2", file([(OutlookScene.host, scene.served), (Self.newHost, added)]))
        let both = try outlook([old, new])
        #expect(both.verdict == .in, "\(both.rows.filter { $0.verdict != .in })")
        #expect(both.rows.filter { $0.hostIndex == 1 }.map(\.document) == [1])
        #expect(both.premises.contains { $0.hasPrefix("1.json does not name new.example.com:443: ") })
        // A statement that the build dials the host is believed.
        var dialing = old.document
        dialing.hosts = ["**.example.com"]
        let said = try scene.outlook(
            [dialing, new.document], [.init(Self.newHost, port: 443, shown: [scene.shown(added)])],
            versions: .versions([.init("1"), .init("2")]))
        #expect(said.rows.first { $0.document == 0 }?.verdict == .out)
        // A wrong pin of the build that names the host is found all the same.
        let wrong = try build("3", file([(OutlookScene.host, scene.served), (Self.newHost, scene.next)]))
        #expect(try outlook([old, wrong]).verdict == .out)
    }

    @Test("A host with another port, or that is retired, is named: the build's own policy refuses it")
    func named() throws {
        let new = try build("2", file([(OutlookScene.host, scene.served), (Self.newHost, added)]))
        let port = try build("1", file([(OutlookScene.host, scene.served), (Self.newHost, added)], ports: [8_443]))
        let entries = try file([(OutlookScene.host, scene.served)]).hosts
        let retired = try build("1", PinFile(hosts: entries + [.retired(HostPattern(Self.newHost))]))
        for build in [port, retired] {
            let outlook = try outlook([build, new])
            #expect(outlook.rows.contains { $0.hostIndex == 1 && $0.document == 0 && $0.verdict == .out })
        }
    }

    @Test("Where no source names the host, an app that asks one of them is refused, as by the app's own manager")
    func nobody() throws {
        let builds = try ["1", "2"].map { try build($0, file([(OutlookScene.host, scene.served)])) }
        let outlook = try outlook(builds)
        #expect(outlook.rows.filter { $0.hostIndex == 1 }.map(\.verdict) == [.out, .out])
        let manager = try PolicyLog.$shared.withValue(RecordingLog().policyLog) {
            try TrustManager(file([(OutlookScene.host, scene.served)]), clock: scene.clock)
        }
        let trust = ServerTrust(
            certificates: added.chain, host: try DialedHost(Self.newHost, port: 443),
            anchors: try TrustAnchors(der: [scene.authority.root]))
        #expect(!manager.evaluate(trust, at: OutlookScene.start).isTrusted)
    }

    @Test("What was replaced decides about hosts that it names, and what took its place about those as well")
    func replaced() throws {
        let later = OutlookScene.start.addingTimeInterval(-86_400)
        func list(_ names: [(String, TestCertificate)], replaced: Date? = nil) throws -> PublicationOutlook.Document {
            let entries = try names.map { name, leaf in
                try FingerprintEntry(name: name, pin: .certificate(leaf.der), until: OutlookScene.after(days: 900))
            }
            return .init(
                replaced == nil ? "new" : "old", kind: .staticList(publicKey: try scene.listKey.publicKey.base64),
                octets: try PinListDraft(entries).signed(by: scene.listKey), published: .distantPast,
                replaced: replaced)
        }
        func document(_ hosts: [TestTrustServer.Host], replaced: Date? = nil) throws -> PublicationOutlook.Document {
            .init(
                replaced == nil ? "new" : "old",
                kind: .trustServer(signer: scene.trustServer.certificate, customer: "gcx"),
                octets: try scene.trustServer.document(at: OutlookScene.start, hosts), published: .distantPast,
                replaced: replaced)
        }
        let (both, one) = (
            [(OutlookScene.host, scene.served), (Self.newHost, added)], [(OutlookScene.host, scene.served)]
        )
        let hosts = [
            scene.host(scene.shown(scene.served)), .init(Self.newHost, port: 443, shown: [scene.shown(added)]),
        ]
        for (wide, narrow, old) in [
            (try list(both), try list(one), try list(one, replaced: later)),
            (
                try document(both.map { .init($0, [$1]) }), try document(one.map { .init($0, [$1]) }),
                try document(one.map { .init($0, [$1]) }, replaced: OutlookScene.start)
            ),
        ] {
            let good = try scene.outlook([wide, old], hosts, span: 60)
            #expect(good.verdict == .in, "\(good.rows.filter { $0.verdict != .in })")
            #expect(!good.rows.contains { $0.hostIndex == 1 && $0.document == 1 })
            // Clients dial what the document before named, and the new one does not let them in there.
            var before = wide
            before.replaced = old.replaced
            let rows = try scene.outlook([narrow, before], hosts, span: 60).rows.filter { $0.hostIndex == 1 }
            #expect(rows.contains { $0.document == 0 && $0.verdict == .out })
            #expect(rows.contains { $0.document == 1 && $0.verdict == .in })
        }
    }

    @Test("The policy of several versions asks only those that name the host")
    func policy() throws {
        let old = try build("1", file([(OutlookScene.host, scene.served)]))
        let new = try build("2", file([(OutlookScene.host, scene.served), (Self.newHost, added)]))
        let host = try DialedHost(Self.newHost, port: 443)
        let trust = ServerTrust(
            certificates: added.chain, host: host, anchors: try TrustAnchors(der: [scene.authority.root]))
        func isTrusted(_ versions: [PublishedPins]) throws -> Bool {
            let versions = try #require(PublishedPinVersions(versions))
            return try versions.policy(of: host).evaluate(trust, at: OutlookScene.start).isTrusted
        }
        #expect(try isTrusted([old, new]))
        #expect(try isTrusted([new, old]))
        #expect(try !isTrusted([old]))
    }
}
