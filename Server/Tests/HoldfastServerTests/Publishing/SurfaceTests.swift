import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// The command, REST, the overview, metrics and notices about an app, in every state of a quarter.
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
            // Known results are a minute old at most, and each state is evaluated again.
            let standing = try await world.publisher.standing(of: world.app)
            let alerts = standing.alerts(at: now)
            #expect(Set(alerts.map(\.kind)) == kinds, "\(state): \(alerts)", sourceLocation: sourceLocation)
            #expect(standing.isGood == kinds.isEmpty, "\(state)", sourceLocation: sourceLocation)
            #expect(standing.verdict == verdict, "\(state)", sourceLocation: sourceLocation)
            try await rest(standing, state, sourceLocation)
            try await overview(kinds, state, sourceLocation)
            try await page(alerts, state, sourceLocation)
            try await metrics(standing, state, sourceLocation)
            // A notice looks at the audit as well.
            await finder.readStandings(from: world.publisher, at: now)
            let notices = finder.notices(world.catalog.ledger, world.publisher.live.current, at: now)
            let told = try notices.compactMap { notice -> String? in
                // A canary that is held back has a notice of its own.
                if notice.kind == .canary { return Kind.canary.rawValue }
                guard notice.kind == .status else { return nil }
                let facts = try JSONSerialization.jsonObject(with: Data(notice.bytes)) as? [String: String]
                return facts?["about"]
            }
            #expect(Set(told) == Set(kinds.map(\.rawValue)), "\(state)", sourceLocation: sourceLocation)
            // A time that lies in the past says what to do now.
            for (time, words) in [
                (standing.refusedFrom, standing.refusalWords(at: now)),
                (standing.deadline.map { $0.lastSafe + 1 }, standing.deadline?.advice(at: now)),
            ] {
                guard let time, let words else { continue }
                #expect(
                    time > now || words.contains("publish now"), "\(state): \(words)", sourceLocation: sourceLocation)
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
                decoding: CanonicalJSON.object(AdministrationView.standing(standing)).bytes, as: UTF8.self)
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
            let isQuiet = try await desk.html("/").contains("No action is needed now.")
            #expect(isQuiet == needs.isEmpty, "\(state)", sourceLocation: sourceLocation)
            #expect(!isQuiet || kinds.isEmpty, "\(state)", sourceLocation: sourceLocation)
        }

        /// The page of the app lists the same alerts, and no others.
        private func page(
            _ alerts: [Publisher.StandingAlert], _ state: String, _ sourceLocation: SourceLocation
        ) async throws {
            let shown = PageValue.record(try await desk.made("/apps/bank").content)["alerts"]?.values ?? []
            #expect(
                shown.map { $0.text("words") } == alerts.map { "\($0.words)." }
                    && shown.map { $0.text("kind") } == alerts.map { OverviewNeed.Kind($0.kind).rawValue },
                "\(state): \(shown)", sourceLocation: sourceLocation)
            let html = try await desk.html("/apps/bank")
            #expect(html.contains("<h2 id=\"alerts\">") == !alerts.isEmpty, "\(state)", sourceLocation: sourceLocation)
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
            // The announced certificate will not be installed.
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
                    CertificateChain(certificate.chain), from: world.now, on: world.catalogHost, of: world.app,
                    by: "operator")
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

    /// 47 days before 29 February 2028.
    private static let winter: Int64 = 1_831_334_400
    private static let lifetime: Int64 = 47 * day

    /// A certificate that lives for 47 days.
    private static func leaf(_ world: World) throws -> TestCertificate {
        try world.root.leaf(names: [.dns(World.host)]) {
            $0.notBefore = .days(0)
            $0.notAfter = .days(47)
        }
    }

    /// Proposes what follows from an announcement, and has the canary get it.
    private static func announce(_ certificate: TestCertificate, _ world: World) async throws -> RandomID {
        try await world.catalog.announce(
            CertificateChain(certificate.chain), from: world.now + 10 * day, on: world.catalogHost, of: world.app,
            by: "operator")
        let change = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
        try await world.approve(change)
        return change
    }

    @Test("All surfaces agree while certificates of 47 days are renewed with a canary, up to 29 February")
    func renewals() async throws {
        try await AdministrationSite.run(canary: Self.day, at: Self.winter) { site in
            let world = site.world
            var surfaces = try Surfaces(site)
            // The certificates that a world begins with live longer.
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            let first = try Self.leaf(world)
            world.clock.advance(by: .seconds(Vantage.lifetime + 1))
            try await world.see(first)
            let second = try world.root.renew(first)
            let backup = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            for (certificate, wait) in [(first, 0), (backup, 120 * Self.day)] {
                try await world.catalog.announce(
                    CertificateChain(certificate.chain), from: world.now + wait, on: world.catalogHost, of: world.app,
                    by: "operator")
            }
            let missed = try await world.propose(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            try await world.approve(missed.change, by: [.alice])
            try await surfaces.agree(on: [], "an approval is missing", nil)
            try await world.pass(Change.span + 1, showing: first)
            try await surfaces.agree(on: [], "the time for approvals has ended", nil)
            await #expect(throws: ServerError.self) { try await world.publisher.publish(missed.change) }
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            try await surfaces.agree(on: [], "published")

            // A renewal with the same key: documents that name certificates have to be published before.
            try await world.pass(2 * Self.day, showing: first)
            let sameKey = try await Self.announce(second, world)
            // No client is locked out before its announced day, and its document can reach all of them before that.
            try await surfaces.agree(on: [.publish], "a renewal is announced")
            #expect(try await world.publisher.publish(sameKey).stage == .canary(until: world.now + Self.day))
            try await surfaces.agree(on: [.publish], "the canary has the renewal")
            try await follow(world, first)
            try await world.approve(sameKey)
            #expect(try await world.publisher.publish(sameKey).stage == .published(generation: 2))
            try await surfaces.agree(on: [], "the renewal is published")
            try await world.pass(8 * Self.day, showing: first)
            world.clock.advance(by: .seconds(Vantage.lifetime + 1))
            try await world.see(second)
            try await surfaces.agree(on: [], "the renewal with the same key is installed")

            // A renewal with another key, which a host shows before the canary knows it.
            let third = try Self.leaf(world)
            let other = try await Self.announce(third, world)
            #expect(try await world.publisher.publish(other).stage == .canary(until: world.now + Self.day))
            let stranger = try Self.leaf(world)
            try await world.see(stranger, at: "192.0.2.2")
            _ = await world.publisher.probeCanaries()
            try await surfaces.agree(
                on: [.lockedOut, .canary, .publish], "one address shows an unknown key", .out)
            world.clock.advance(by: .seconds(Vantage.lifetime + 1))
            try await world.see(second)
            _ = await world.publisher.probeCanaries()
            // The canary waits until it is followed for its time.
            try await surfaces.agree(on: [.canary, .publish], "the unknown key is gone")
            try await follow(world, second)
            try await follow(world, second)
            try await world.approve(other)
            #expect(try await world.publisher.publish(other).stage == .published(generation: 3))
            try await world.pass(8 * Self.day, showing: second)
            world.clock.advance(by: .seconds(Vantage.lifetime + 1))
            try await world.see(third)
            try await surfaces.agree(on: [], "the renewal with another key is installed")

            // The next renewal is missed: what the host shows ends soon after 29 February.
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            let end = Int64(try #require(third.notAfter).timeIntervalSince1970) + 1
            let timing = try await world.catalog.app(world.app).settings.timing
            let alert = timing.alert(
                before: end, lead: PublicationTiming.lead(forLifetimes: [.seconds(Self.lifetime)]))
            try await world.pass(alert - 1 - world.now, showing: third)
            try await surfaces.agree(on: [], "right before the alert")
            try await world.pass(1, showing: third)
            try await surfaces.agree(on: [.publish], "the alert")
            let leap: Int64 = Self.winter + Self.lifetime
            #expect(UTCText.encode(leap) == "2028-02-29T00:00:00Z" && alert < leap && leap < end)
            try await world.pass(leap - world.now, showing: third)
            try await surfaces.agree(on: [.publish], "29 February")
            try await world.pass(end - world.now, showing: third)
            try await surfaces.agree(on: [.lockedOut, .expired], "the certificate has expired", .out)
        }
    }

    /// The canary's time passes, and the host shows a certificate.
    private func follow(_ world: World, _ certificate: TestCertificate) async throws {
        for _ in 0...24 {
            try await world.pass(3_600, showing: certificate)
            #expect(try await world.publisher.renew().problems == [])
            #expect(await world.publisher.probeCanaries() == [])
        }
    }

    @Test("All surfaces name what a restored server holds back, and agree again after the next publication")
    func restored() async throws {
        try await World.settled { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let backup = try await world.backUp()
            // The public documents are newer than the backup.
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            try await world.restored(backup) { restored, report in
                #expect(report.held == [restored.app])
                let read = try await restored.token("read", .read)
                let every = try await restored.token("every", .read, app: nil)
                try await AdministrationSite.listening(for: restored.publisher) { port in
                    var surfaces = try Surfaces(
                        AdministrationSite(world: restored, port: port, tokens: ["read": read, "every": every]))
                    try await surfaces.agree(on: [.held], "restored")
                    try await restored.publish(restored.draft { $0.formats = World.fewFormats })
                    try await surfaces.agree(on: [], "published after the restore")
                }
            }
        }
    }
}
