import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@Suite("The outlook of what hosts show, for verbs that publish, renew, export or watch")
struct HostsOutlookTests {
    private static func outlook(
        _ scene: OutlookScene, _ document: PublicationOutlook.Document, _ shown: PublicationOutlook.Presentation...,
        watch: Duration? = nil, now: Date = OutlookScene.start
    ) throws -> HostsOutlook {
        let shown = shown.map { presentation in
            var presentation = presentation
            if presentation.seen == OutlookScene.start { presentation.seen = now }
            return presentation
        }
        return try HostsOutlook(
            of: [document], at: [.init(OutlookScene.host, port: 8_443, shown: shown)], platforms: [scene.platform],
            appVersions: .versions(document.appVersions.map { .init($0) }), watch: watch, at: now)
    }

    @Test("Clients that get in at every address are no finding; one address with another key is one, with its place")
    func refused() throws {
        let scene = try OutlookScene()
        let pins = scene.shipped(try scene.pinFile(scene.served), in: "1")
        let good = try Self.outlook(scene, pins, scene.shown(scene.served), scene.shown(scene.served, at: "192.0.2.2"))
        #expect(good.findings.isEmpty && good.worst == nil)
        #expect(good.premises.contains { $0.contains("2 chains at 2 addresses") }, "\(good.premises)")
        let mixed = try Self.outlook(scene, pins, scene.shown(scene.served), scene.shown(scene.next, at: "192.0.2.2"))
        #expect(mixed.findings.map(\.kind) == [.refused] && mixed.worst == .refused)
        #expect(mixed.findings[0].host == "api.example.com:8443")
        #expect(mixed.findings[0].text.hasPrefix("api.example.com:8443 at 192.0.2.2: "), "\(mixed.findings)")
    }

    @Test("An address that could not be asked, a chain that was seen too long ago and a host without any are unknown")
    func unknown() throws {
        let scene = try OutlookScene()
        let pins = scene.shipped(try scene.pinFile(scene.served), in: "1")
        let silent = PublicationOutlook.Presentation(unreadable: "192.0.2.2", because: "no answer")
        let open = try Self.outlook(scene, pins, scene.shown(scene.served), silent)
        #expect(open.findings.map(\.kind) == [.unreachable] && open.findings[0].text.contains("no answer"))
        #expect(open.findings[0].text.contains("192.0.2.2 could not be asked: "))
        // It was asked, and showed one of two certificates.
        let hidden = PublicationOutlook.Presentation(unreadable: "192.0.2.1", because: "nobody knows its RSA key")
        let half = try Self.outlook(scene, pins, scene.shown(scene.served), hidden)
        #expect(half.findings.map(\.text) == ["api.example.com:8443 at 192.0.2.1: nobody knows its RSA key"])
        var old = scene.shown(scene.served)
        old.seen = OutlookScene.start.addingTimeInterval(-4_000)
        #expect(try Self.outlook(scene, pins, old).worst == .unreachable)
        let none = try HostsOutlook(
            of: [pins], at: [.init(OutlookScene.host, port: 443, shown: [])], platforms: [scene.platform],
            appVersions: .versions([.init("1")]), at: OutlookScene.start)
        #expect(none.worst == .unreachable)
        // A lock-out that was seen outweighs what is unknown.
        #expect(try Self.outlook(scene, pins, silent, scene.shown(scene.next)).worst == .refused)
    }

    @Test("Without a word on the app versions nobody knows, unless a lock-out was seen")
    func appVersions() throws {
        let scene = try OutlookScene()
        let list = try scene.list(scene.served)
        func outlook(
            _ shown: TestCertificate, _ versions: PublicationOutlook.AppVersions
        ) throws -> HostsOutlook {
            try HostsOutlook(
                of: [list], at: [.init(OutlookScene.host, port: 443, shown: [scene.shown(shown)])],
                platforms: [scene.platform], appVersions: versions, at: OutlookScene.start)
        }
        let open = try outlook(scene.served, .unknown)
        #expect(open.worst == .unreachable && open.findings.map(\.host) == [nil])
        #expect(open.findings[0].text.contains("app versions unknown"))
        #expect(open.premises.contains("app versions unknown"))
        #expect(try outlook(scene.served, .noShippedPins).worst == nil)
        #expect(try outlook(scene.served, .versions([.init("7.4", carriesDocument: false)])).worst == nil)
        // A version whose pins are not given may lock itself out.
        #expect(try outlook(scene.served, .versions([.init("7.4")])).worst == .unreachable)
        #expect(try outlook(scene.next, .unknown).worst == .refused)
    }

    @Test("An end counts only within the watched time, and grace always does")
    func ending() throws {
        let scene = try OutlookScene()
        let pins = scene.shipped(try scene.pinFile(scene.served, days: 10, grace: 86_400), in: "1")
        let shown = scene.shown(scene.served)
        #expect(try Self.outlook(scene, pins, shown).worst == nil)
        #expect(try Self.outlook(scene, pins, shown, watch: .seconds(9 * 86_400)).worst == nil)
        let soon = try Self.outlook(scene, pins, shown, watch: .seconds(11 * 86_400))
        #expect(soon.findings.map(\.kind) == [.ending])
        #expect(soon.findings[0].until == OutlookScene.after(days: 10).addingTimeInterval(1).formatted(.iso8601))
        let grace = try Self.outlook(scene, pins, shown, now: OutlookScene.after(days: 10.5))
        #expect(grace.findings.map(\.kind) == [.ending] && grace.findings[0].text.contains("grace"))
        #expect(try Self.outlook(scene, pins, shown, now: OutlookScene.after(days: 12)).worst == .refused)
    }

    @Test("Every document must let clients in, and new clients of a trust server too")
    func documents() throws {
        let scene = try OutlookScene()
        let host = PublicationOutlook.Host(OutlookScene.host, port: 443, shown: [scene.shown(scene.served)])
        let (mine, other) = (try scene.list(scene.served), try scene.list(scene.next, named: "other.json"))
        func worst(_ documents: PublicationOutlook.Document...) throws -> HostsOutlook.Finding.Kind? {
            try HostsOutlook(
                of: documents, at: [host], platforms: [scene.platform], appVersions: .noShippedPins,
                at: OutlookScene.start
            ).worst
        }
        #expect(try worst(mine) == nil)
        #expect(try worst(mine, other) == .refused)
        #expect(try worst(scene.trustDocument(scene.served)) == nil)
        let aged = OutlookScene.start.addingTimeInterval(-1_200)
        #expect(try worst(scene.trustDocument(scene.served, at: aged)) == .refused)
    }
}
