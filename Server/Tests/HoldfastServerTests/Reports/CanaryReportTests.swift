import Foundation
import Holdfast
import HoldfastProbe
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// Reports are unverified: they may hold a canary, and let none pass.
@Suite("Reports about a canary", .timeLimit(.minutes(10)))
struct CanaryReportTests {
    private static let day: Int64 = 86_400

    /// A world whose app takes reports, where the canary has a change.
    private func withCanary(
        for span: Int64 = CanaryReportTests.day, _ formats: [ContentFormat] = World.fewFormats,
        _ body: (World, RandomID, ReportDesk) async throws -> Void
    ) async throws {
        try await World.run(canary: span) { world in
            try await world.publish(world.draft { $0.formats = formats }, forcing: [.canary])
            let desk = try await ReportDesk(world)
            let change = try await world.approved(formats).change
            #expect(try await world.publisher.publish(change) == .canary(until: world.now + span))
            try await desk.refresh()
            // Reports count from the next full hour on.
            try await world.followCanary(for: Self.partHour(world))
            try await body(world, change, desk)
        }
    }

    /// How many seconds the hour still has.
    private static func partHour(_ world: World) -> Int64 { 3_600 - world.now % 3_600 }

    /// Whether /metrics says that reports hold the canary.
    private func isHeldInMetrics(_ desk: ReportDesk) async throws -> Bool {
        desk.inbox.counters.set([desk.world.app: try await desk.standing()])
        let text = MetricsText(families: desk.inbox.families).text
        let line = text.split(separator: "\n").first { $0.hasPrefix("holdfast_canary_held_by_reports{") }
        return try #require(line) == #"holdfast_canary_held_by_reports{app="bank"} 1"#
    }

    /// The gate's refusal once the canary's time is over.
    private func refusal(_ world: World, _ change: RandomID) async throws -> String? {
        try await world.followCanary(for: Self.day)
        try await world.approve(change)
        return await expectError(.gate) { try await world.publisher.publish(change) }?.found
    }

    @Test("Forged failures of 60,000 networks hold one change back, and a signed force of its approvers goes on")
    func held() async throws {
        try await withCanary { world, change, desk in
            let served = world.publisher.live.current.documents["lists/bank.json"]?.bytes
            try desk.count((0..<300).map { _ in ReportDesk.networkError("ok") })
            let count = mutants > 10_000 ? 60_000 : 1_000
            try desk.countEach((0..<count).lazy.map { _ in ReportDesk.networkError() }, of: "bank-canary")
            _ = try await desk.rows()
            let words = try await refusal(world, change) ?? ""
            #expect(
                words.contains(
                    "the canary bank-canary is held: 100.0 % of the canary's reported connections to "
                        + "\(World.host):443 failed, but only 0.0 % of other clients' (\(count) and 300 reports"),
                "\(words)")
            #expect(!words.contains("has it until"), "its time is over: \(words)")
            let standing = try #require(try await world.publisher.standing(of: world.app).canary)
            #expect(standing.refusals.isEmpty && standing.reported.count == 1, "hearsay makes nothing red")
            #expect(standing.heldSince == nil && standing.lines.contains { $0.hasPrefix("HELD: ") })
            #expect(try await isHeldInMetrics(desk))
            var finder = NoticeFinder(world.catalog.server)
            try await finder.readReports(in: world.catalog, at: world.now)
            let told = finder.notices(world.catalog.ledger, world.publisher.live.current, at: world.now)
                .map { String(decoding: $0.bytes, as: UTF8.self) }
            #expect(told.contains { $0.contains(#""about":"canary""#) && $0.contains("\(change)") }, "\(told)")
            #expect(world.publisher.live.current.documents["lists/bank.json"]?.bytes == served)
            // One change is delayed, and only until people say so.
            let forced = try await world.propose(
                world.draft {
                    $0.formats = World.fewFormats
                    $0.lifetime = 170 * Self.day
                }, forcing: [.canary]
            ).change
            try await world.approve(forced)
            #expect(try await world.publisher.publish(forced) == .published(generation: 2))
            await expectError(.outOfTurn) { try await world.publisher.publish(change) }
            #expect(try await !isHeldInMetrics(desk))
            // The next canary begins with no report against it.
            let next = try await world.approved().change
            world.clock.advance(by: .seconds(3_600))
            try await world.see(world.shown)
            #expect(try await world.publisher.publish(next) == .canary(until: world.now + Self.day))
            try await world.followCanary(for: Self.day)
            try await world.approve(next)
            #expect(try await world.publisher.publish(next) == .published(generation: 3))
        }
    }

    @Test("Forged successes let no canary pass before its time")
    func successes() async throws {
        try await withCanary { world, change, desk in
            try desk.count((0..<100).map { _ in ReportDesk.networkError() })
            let count = mutants > 10_000 ? 60_000 : 1_000
            try desk.countEach((0..<count).lazy.map { _ in ReportDesk.networkError("ok") }, of: "bank-canary")
            _ = try await desk.rows()
            let end = try #require(world.catalog.ledger.canaries[world.app]).began + Self.day
            try await world.followCanary(for: end - 60 - world.now)
            try await world.approve(change)
            let early = await expectError(.gate) { try await world.publisher.publish(change) }
            #expect(early?.found.contains("has it until") == true, "\(early as Any)")
            #expect(early?.found.contains("\(count) reports of the canary: 0.0 % failed") == true, "\(early as Any)")
            try await world.followCanary(for: 60)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
        }
    }

    @Test(
        "Too few reports say so, and the canary waits for its time only; invented hosts and reports of before its first hour are none"
    )
    func tooFew() async throws {
        try await World.run(canary: Self.day) { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            let desk = try await ReportDesk(world)
            // Of the canary before this one.
            try desk.countEach((0..<500).map { _ in ReportDesk.networkError() }, of: "bank-canary")
            world.clock.advance(by: .seconds(3_600))
            try await world.see(world.shown)
            let change = try await world.approved().change
            try await world.publisher.publish(change)
            try await desk.refresh()
            // It is unknown which canary these are about.
            try desk.countEach((0..<500).map { _ in ReportDesk.networkError() }, of: "bank-canary")
            let part = Self.partHour(world)
            try await world.followCanary(for: part - 1)
            try desk.countEach((0..<500).map { _ in ReportDesk.networkError() }, of: "bank-canary")
            try await world.followCanary(for: 1)
            try await world.approve(change)
            try desk.countEach((0..<199).map { _ in ReportDesk.networkError() }, of: "bank-canary")
            let invented = (0..<500).map { ReportDesk.networkError(at: "https://h\($0).example.org/") }
            try desk.countEach(invented, of: "bank-canary")
            _ = try await desk.rows()
            let early = await expectError(.gate) { try await world.publisher.publish(change) }
            #expect(early?.found.contains("too few reports of the canary: 199 of 200") == true, "\(early as Any)")
            #expect(early?.found.contains("is held") == false, "\(early as Any)")
            try await world.followCanary(for: Self.day)
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
        }
    }

    /// Summaries of a day that come when it is over.
    private enum Summaries: CaseIterable {
        case ofTheDayInWhichItBegan, ofNoDay, ofTheDayAfter, ofItsOwnDocument, ofTheDocumentBefore
    }

    @Test(
        "A summary of a day holds a canary if all of that day was after its beginning, or if it is about a document of its own",
        arguments: Summaries.allCases)
    private func summaries(_ kind: Summaries) async throws {
        let formats = World.formats.filter { [.list, .trustServer, .pinFile].contains($0.kind) }
        try await withCanary(for: 3 * Self.day, formats) { world, change, desk in
            let began = try #require(world.catalog.ledger.canaries[world.app]).began
            func day(_ number: Int64) throws -> String {
                String(try #require(UTCText.encode(began + number * Self.day)).prefix(10))
            }
            /// As clients call a pin file that was issued at a time.
            func version(_ time: Int64) throws -> String {
                try #require(UTCText.encode(time)).filter { $0 != "-" && $0 != ":" }
            }
            let document = try #require(world.publisher.live.current.documents["pins/bank-canary.pins.json"])
            let own = try version(
                Int64(try #require(PinFile(json: Data(document.bytes)).issuedAt).timeIntervalSince1970))
            let (said, about): (String?, String) =
                switch kind {
                case .ofTheDayInWhichItBegan: (try day(0), "-")
                case .ofNoDay: (nil, "-")
                case .ofTheDayAfter: (try day(1), "-")
                case .ofItsOwnDocument: (try day(0), own)
                case .ofTheDocumentBefore: (try day(0), try version(began - 1))
                }
            // Reports of the day after arrive when that is over as well.
            try await world.followCanary(for: (kind == .ofTheDayAfter ? 2 : 1) * Self.day)
            let body = ReportDesk.summary(successes: 0, failures: ["pinMismatch": 1], day: said, version: about)
            try desk.countEach((0..<300).map { _ in body }, of: "bank-canary")
            let rows = try await desk.rows()
            let standing = try #require(try await world.publisher.standing(of: world.app).canary)
            #expect(rows.reduce(0) { $0 + $1.sums.count } == 300, "they are counted all the same")
            switch kind {
            case .ofTheDayAfter, .ofItsOwnDocument:
                #expect(standing.reported.count == 1 && standing.reported[0].contains("100.0 %"), "\(standing)")
                #expect(try await isHeldInMetrics(desk))
            case .ofTheDayInWhichItBegan, .ofNoDay, .ofTheDocumentBefore:
                #expect(standing.reported.isEmpty, "\(standing)")
                #expect(try await !isHeldInMetrics(desk))
                let end = began + 3 * Self.day
                try await world.followCanary(for: end - 60 - world.now)
                try await world.approve(change)
                let early = await expectError(.gate) { try await world.publisher.publish(change) }
                #expect(early?.found.contains("too few reports of the canary: 0 of 200") == true, "\(early as Any)")
                try await world.followCanary(for: 60)
                #expect(try await world.publisher.publish(change) == .published(generation: 2))
            }
        }
    }

    @Test(
        "Whenever a canary begins, 72 hours have a day for the summaries of its first whole day, and 24 hours have none"
    )
    func spans() throws {
        let midnight = (Story.now / 86_400) * 86_400
        func isLater(_ day: Int64, told time: Int64, than began: Int64) throws -> Bool {
            let name = String(try #require(UTCText.encode(day)).prefix(10))
            let body = ReportDesk.summary(successes: 1, failures: [:], day: name, version: "-")
            let report = try #require(try ReportReader.read(Array(body.utf8)).first)
            return ReportCount.since(report, of: .canary, at: time) >= (began + 3_599) / 3_600
        }
        for began in stride(from: midnight, to: midnight + Self.day, by: 5_400) {
            var hours: [Int64: Int] = [:]
            for (span, hour) in [24, 72].flatMap({ span in (0..<span).map { (Int64(span), Int64($0)) } }) {
                let time = began + hour * 3_600
                // Each client tells a day on the next one.
                let yesterday = (time / 86_400 - 1) * 86_400
                hours[span, default: 0] += try isLater(yesterday, told: time, than: began) ? 1 : 0
            }
            // At midnight sharp the day that begins is a whole one.
            #expect(hours[24] == 0 && (24...48).contains(hours[72, default: 0]), "\(began - midnight): \(hours)")
        }
    }

    @Test("What clients tell late is about the time that they say, and if they say none, about the hour of its coming")
    func late() throws {
        let time = Story.now
        let (hour, day) = (time / 3_600, time / 86_400)
        func since(_ body: String) throws -> Int64 {
            let report = try #require(try ReportReader.read(Array(body.utf8)).first)
            #expect(ReportCount.since(report, of: .everybody, at: time) == hour)
            return ReportCount.since(report, of: .canary, at: time)
        }
        func failure(_ begins: Int64) throws -> String {
            ReportDesk.pinFailure([]).replacing("2026-11-24T12:00:00Z", with: try #require(UTCText.encode(begins)))
        }
        func old(_ milliseconds: Int64) -> String {
            ReportDesk.networkError().replacing("\"age\": 20", with: "\"age\": \(milliseconds)")
        }
        #expect(try since(old(20)) == hour)
        #expect(try since(old(3_600_000)) == hour - 1)
        #expect(try since(old(7_200_000)) == (day - 1) * 24)
        #expect(try since(old(9_007_199_254_740_991)) == 0)
        #expect(try since(failure(time)) == hour)
        #expect(try since(failure(time - 86_400)) == (day - 1) * 24)
        #expect(try since(failure((day - 1) * 86_400)) == (day - 1) * 24)
        #expect(try since(failure((day - 1) * 86_400 - 1)) == 0)
        // A clock that is ahead says nothing about what is to come.
        #expect(try since(failure(time + 86_400)) == hour)
        #expect(try since(ReportDesk.pinFailure([]).replacing("date-time", with: "date")) == hour)
        #expect(try since(ReportDesk.summary(successes: 1, failures: [:], day: nil)) == 0)
    }

    /// Two anonymous requests once held any canary: 64 reports each about a document of the year 2099.
    @Test("Versions that the canary never had, repetitions and few sources hold nothing, whatever they claim")
    func fewSources() async throws {
        let formats = World.formats.filter { [.list, .trustServer, .pinFile].contains($0.kind) }
        try await withCanary(formats) { world, change, desk in
            let future = #", "document-version": "20990101T000000Z""#
            let one = String(ReportDesk.networkError(more: future).dropFirst().dropLast())
            let many = "[\(Array(repeating: one, count: 64).joined(separator: ", "))]"
            // Of a version that it never had, from very many networks,
            try desk.countEach((0..<1_000).map { _ in many }, of: "bank-canary")
            // and of no version, or of invented ones, again and again from few.
            for number in 0..<100 {
                for body in [
                    ReportDesk.networkError(), ReportDesk.networkError(more: #", "document-version": "\#(number)""#),
                    "[\(Array(repeating: String(ReportDesk.networkError().dropFirst().dropLast()), count: 64).joined(separator: ", "))]",
                ] {
                    for source in 0..<3 {
                        try desk.count([body], of: "bank-canary", from: ReportDesk.source(source))
                    }
                }
            }
            // One IPv6 network has many prefixes.
            for number in 0..<1_000 {
                let site = String(number / 256, radix: 16), prefix = String(number % 256, radix: 16)
                let source = SourcePrefix(try IPAddress("2001:db8:\(site):\(prefix)00::1"))
                try desk.count([ReportDesk.networkError()], of: "bank-canary", from: source)
            }
            _ = try await desk.rows()
            try await world.followCanary(for: Self.day - 3_600)
            try await world.approve(change)
            let early = await expectError(.gate) { try await world.publisher.publish(change) }
            // Three sources, and four /48.
            #expect(early?.found.contains("too few reports of the canary: 7 of 200") == true, "\(early as Any)")
            #expect(early?.found.contains("is held") == false, "\(early as Any)")
        }
    }

    @Test("Rows of reports that somebody damaged hold nothing up")
    func damagedRows() async throws {
        try await withCanary { world, change, desk in
            try desk.countEach((0..<300).map { _ in ReportDesk.networkError() }, of: "bank-canary")
            _ = try await desk.rows()
            _ = try await world.engine.write { session throws(ServerError) in
                try session.run("DROP TABLE report_count")
            }
            try await world.followCanary(for: Self.day)
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
        }
    }
}
