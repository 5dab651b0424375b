import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@testable import HoldfastServer

/// What the command, REST, the overview, metrics and notices say about an app, in every state of a quarter.
@Suite("Surfaces agree about time", .timeLimit(.minutes(5)))
struct SurfaceTests {
    private typealias Kind = Publisher.StandingAlert.Kind

    private static let day: Int64 = 86_400

    /// The administration of a world, with everything that shows how its app stands.
    private struct Surfaces {
        let site: AdministrationSite
        let desk: PageDesk
        var finder: NoticeFinder

        var world: World { site.world }

        init(_ site: AdministrationSite) throws {
            self.site = site
            desk = try PageDesk(site.world)
            finder = NoticeFinder(site.world.catalog.server)
        }

        /// Requires that all of them alert for some kinds, and for no other.
        mutating func agree(
            on kinds: Set<Kind>, _ state: String, _ verdict: PublicationOutlook.Verdict? = .in,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let now = world.now
            let standing = try await world.publisher.standing(of: world.app)
            let alerts = standing.alerts(at: now)
            #expect(Set(alerts.map(\.kind)) == kinds, "\(state): \(alerts)", sourceLocation: sourceLocation)
            #expect(standing.isGood == kinds.isEmpty, "\(state)", sourceLocation: sourceLocation)
            #expect(standing.verdict == verdict, "\(state)", sourceLocation: sourceLocation)
            try await rest(standing, state, sourceLocation)
            try await overview(kinds, state, sourceLocation)
            try await metrics(standing, state, sourceLocation)
            // A notice looks at the audit as well.
            await finder.readStandings(from: world.publisher, at: now)
            let notices = finder.notices(world.catalog.ledger, world.publisher.live.current, at: now)
                .filter { $0.kind == .status }
                .compactMap { try? JSONSerialization.jsonObject(with: Data($0.octets)) as? [String: String] }
            #expect(
                Set(notices.compactMap { $0["about"] }) == Set(kinds.map(\.rawValue)), "\(state)",
                sourceLocation: sourceLocation)
            // A time that lies in the past says what to do now.
            for words in [standing.refusalWords(at: now), standing.deadline?.advice(at: now)].compactMap(\.self) {
                let isOver = standing.refusedFrom.map { $0 <= now } ?? false
                #expect(!isOver || words.contains("publish now"), "\(state): \(words)", sourceLocation: sourceLocation)
            }
            #expect(
                now <= standing.end ?? .max || standing.endWords(at: now).contains("now"), "\(state)",
                sourceLocation: sourceLocation)
        }

        private func rest(
            _ standing: Publisher.Standing, _ state: String, _ sourceLocation: SourceLocation
        ) async throws {
            let answer = try await site.call("GET", "/v1/apps/bank/status", token: "read")
            let command = String(
                decoding: CanonicalJSON.object(AdministrationView.standing(standing)).octets, as: UTF8.self)
            #expect(answer.body == command, "\(state)", sourceLocation: sourceLocation)
            let time = standing.refusedFrom.flatMap { UTCText.encode($0) }
            #expect(answer.json["refusedFrom"] as? String == time, "\(state)", sourceLocation: sourceLocation)
        }

        private func overview(
            _ kinds: Set<Kind>, _ state: String, _ sourceLocation: SourceLocation
        ) async throws {
            let needs = try await desk.overview().needs
            let shown = Set(needs.map(\.kind)).intersection(Kind.allCases.map { OverviewNeed.Kind($0) })
            #expect(
                shown == Set(kinds.map { OverviewNeed.Kind($0) }), "\(state): \(needs.map(\.words))",
                sourceLocation: sourceLocation)
            let isQuiet = try await desk.html("/").contains("Nothing needs anybody now.")
            #expect(isQuiet == needs.isEmpty, "\(state)", sourceLocation: sourceLocation)
            #expect(!isQuiet || kinds.isEmpty, "\(state)", sourceLocation: sourceLocation)
        }

        private func metrics(
            _ standing: Publisher.Standing, _ state: String, _ sourceLocation: SourceLocation
        ) async throws {
            let lines = try await site.call("GET", "/metrics", token: nil).body.split(separator: "\n")
            func value(_ name: String) -> Int64? {
                lines.first { $0.hasPrefix("\(name) ") }.flatMap { Int64($0.dropFirst(name.utf8.count + 1)) }
            }
            for kind in Kind.allCases {
                let count = value("holdfast_app_alerts{app=\"bank\",kind=\"\(kind.rawValue)\"}")
                let all = standing.alerts(at: world.now).filter { $0.kind == kind }
                #expect(count == Int64(all.count), "\(state): \(kind)", sourceLocation: sourceLocation)
            }
            #expect(
                value("holdfast_first_refusal_seconds{app=\"bank\"}") == standing.refusedFrom, "\(state)",
                sourceLocation: sourceLocation)
            #expect(
                value("holdfast_publish_until_seconds{app=\"bank\"}") == standing.deadline?.lastSafe, "\(state)",
                sourceLocation: sourceLocation)
        }
    }

    @Test("The command, REST, the overview, metrics and notices alert for the same in every state of a quarter")
    func quarter() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            var surfaces = try Surfaces(site)
            try await surfaces.agree(on: [], "nothing is published", nil)
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            try await surfaces.agree(on: [], "published")
            try await world.pass(40 * Self.day)
            try await surfaces.agree(on: [], "forty days later")
            // What it announced will not be installed.
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            let end = Int64(try #require(world.shown.notAfter).timeIntervalSince1970) + 1
            let lastSafe = end - AppSettings.defaultStaleness
            try await world.pass(lastSafe - 14 * Self.day - 1 - world.now)
            try await surfaces.agree(on: [], "right before the alert")
            try await world.pass(1)
            try await surfaces.agree(on: [.publish], "the alert")
            try await world.pass(lastSafe + 1 - world.now)
            try await surfaces.agree(on: [.publish], "after the last safe time", .ending)
            try await world.pass(end - world.now)
            try await surfaces.agree(on: [.lockedOut, .expired], "the certificate has expired", .out)
            let next = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(400) }
            for certificate in [next, world.announced] {
                try await world.catalog.announce(
                    HostChain(certificate.chain), from: world.now, on: world.catalogHost, of: world.app, by: "operator")
            }
            world.clock.advance(by: .seconds(Vantage.lifetime + 1))
            try await world.see(next)
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.outlook])
            try await surfaces.agree(on: [.lockedOut], "published for clients that have not asked yet", .out)
            try await world.pass(8 * Self.day, showing: next)
            try await surfaces.agree(on: [], "all have asked")
            world.clock.advance(by: .seconds(Vantage.lifetime + 1))
            try await surfaces.agree(on: [.lockedOut], "not seen within the hour", .unknown)
            try await world.see(next)
            try await surfaces.agree(on: [], "seen again")
            let last = try #require(try await world.publisher.published(world.app)).end
            try await world.pass(last + 1 - world.now, showing: next)
            try await surfaces.agree(on: [.lockedOut, .publish], "what is published has ended", .out)
        }
    }
}
