import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTesting
import Logging
import Testing

@testable import HoldfastServer

@Suite("Vantages that must agree", .besidePostgres, .timeLimit(.minutes(5)))
struct AgreeingVantagesTests {
    /// A world of which another process has the database as well.
    private static func run(_ kind: StorageKind, _ body: (World, Catalog) async throws -> Void) async throws {
        let address = try await kind.address()
        try await WorldDatabase.$current.withValue(address) {
            try await World.run { world in
                let engine: any StorageEngine =
                    if let address {
                        try await PostgreSQLEngine.open(address, clock: world.clock)
                    } else {
                        try SQLiteEngine(world.folder.appending(path: "server.db"), clock: world.clock)
                    }
                let result: Result<Void, any Error>
                do {
                    result = .success(try await body(world, try await world.another(engine).catalog))
                } catch {
                    result = .failure(error)
                }
                await engine.close()
                try result.get()
            }
        }
    }

    private func require(_ vantages: Int64, _ world: World) async throws {
        let settings = try await world.catalog.app(world.app).settings
        try await world.catalog.set(
            AppSettings(
                staleness: settings.staleness, canary: settings.canary, vantages: vantages, anchors: settings.anchors,
                builds: settings.builds), of: world.app, by: "operator")
    }

    private func watcher(_ catalog: Catalog, _ vantage: String, at address: String, _ world: World) throws -> Watcher {
        let address = try IPAddress(address)
        var settings = Watcher.Settings(vantage: vantage)
        settings.allowed = [try AddressBlock("127.0.0.0/8")]
        settings.clock = world.clock
        settings.resolver = AddressResolver { _ in [address] }
        return Watcher(catalog, settings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func alarms(_ world: World) async throws -> [AuditEntry] {
        try await world.catalog.audit(after: -1, limit: 1_000).map { try AuditEntry($0) }.filter { $0.event == .alarm }
    }

    @Test(
        "Processes of two vantages share hosts where one is enough, and look at each from both where two must agree",
        arguments: StorageKind.tested)
    func turns(_ kind: StorageKind) async throws {
        try await Self.run(kind) { world, other in
            try await withLoopbackTLSServer(serving: world.announced) { server in
                let host = try CatalogHost(name: World.host, port: Int64(server.port))
                try await world.catalog.set(host, of: world.app, by: "operator")
                let one = try watcher(world.catalog, "one", at: "127.0.0.1", world)
                let two = try watcher(other, "two", at: "127.0.0.1", world)
                var generator = SeededGenerator(seed: 7)
                func looks() async throws -> [[String]] {
                    var looks: [[String]] = []
                    for watcher in [one, two] {
                        looks.append(try await watcher.round(using: &generator).map(\.host).sorted())
                    }
                    return looks
                }
                let both = ["\(World.host):443", host.label].sorted()
                #expect(try await looks() == [both, []])
                try await require(2, world)
                #expect(try await looks() == [both, both])
                #expect(try await looks() == [[], []])
                world.clock.advance(by: .seconds(331))
                #expect(try await looks() == [both, both])
                world.clock.advance(by: .seconds(100))
                #expect(try await looks() == [[], []])
                try await require(1, world)
                world.clock.advance(by: .seconds(331))
                #expect(try await looks() == [both, []])
                let seen = try await world.catalog.observations(of: host, world.app)
                #expect(Set(seen.map(\.vantage)) == ["one", "two"])
            }
        }
    }

    @Test(
        "What one of two vantages sees counts for nothing; a machine in the middle before one is an alarm with both keys",
        arguments: StorageKind.tested)
    func middle(_ kind: StorageKind) async throws {
        try await Self.run(kind) { world, other in
            let stranger = try world.root.impersonate(world.announced)
            try await withLoopbackTLSServer(serving: world.announced) { server in
                let second = try await LoopbackTLSServer.start(
                    serving: world.announced, options: .init(address: "127.0.0.2", port: server.port))
                let host = try CatalogHost(name: World.host, port: Int64(server.port))
                try await world.catalog.set(host, of: world.app, by: "operator")
                try await world.catalog.announce(
                    HostChain(world.announced.chain), from: Story.now, on: host, of: world.app, by: "operator")
                try await require(2, world)
                let one = try watcher(world.catalog, "one", at: "127.0.0.1", world)
                let two = try watcher(other, "two", at: "127.0.0.2", world)
                var generator = SeededGenerator(seed: 7)
                func look(_ watcher: Watcher) async throws -> Watcher.Report {
                    let reports = try await watcher.round(using: &generator)
                    return try #require(reports.first { $0.host == host.label })
                }
                let alone = try await look(one)
                #expect(alone.held?.contains("seen from one only") == true, "\(alone)")
                let agreed = try await look(two)
                #expect(agreed.held == nil && agreed.findings.map(\.place) == ["127.0.0.2:\(server.port)"])

                try second.serve(stranger)
                world.clock.advance(by: .seconds(331))
                let first = try await look(two)
                #expect(first.findings.map(\.verdict) == [.unannounced] && first.held != nil, "\(first)")
                // The first has not looked since: nobody knows yet whether the host has changed.
                #expect(other.ledger.vantages.disagreements.isEmpty)
                world.clock.advance(by: .seconds(1))
                let found = try await look(one)
                #expect(found.findings.map(\.verdict) == [.known])
                let alarm = try #require(found.alarms.first, "\(found)")
                let keys = try [world.announced, stranger].map { "\(Digest(of: try $0.subjectPublicKeyInfo))" }
                for part in keys + ["vantages disagree", "one", "two"] { #expect(alarm.contains(part), "\(alarm)") }
                #expect(found.alarms.count == 1 && found.held == alarm)
                let entry = try #require(try await alarms(world).last)
                #expect(entry.facts["vantages"] == "one,two" && entry.facts["host"] == host.label)
                // Once, whoever looks next.
                world.clock.advance(by: .seconds(331))
                for watcher in [one, two] { #expect(try await look(watcher).alarms.isEmpty) }
                #expect(try await alarms(world).count { $0.facts["vantages"] != nil } == 1)
                #expect(world.catalog.ledger.proposals.isEmpty)
                #expect(try await world.catalog.next(of: host, world.app).chains.count == 1)

                try second.serve(world.announced)
                world.clock.advance(by: .seconds(331))
                _ = try await look(one)
                #expect(try await look(two).held == nil)
                await second.shutdown()
            }
        }
    }

    @Test(
        "Vantages that see different keys that are both pinned hold gates and installations, and remove no pin",
        arguments: StorageKind.tested)
    func gates(_ kind: StorageKind) async throws {
        try await Self.run(kind) { world, _ in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            try await world.pass(World.month)
            let digest = Digest(of: world.announced.der)
            func readiness() async throws -> InstallationReadiness {
                try await world.publisher.readiness(of: digest, on: world.catalogHost, of: world.app)
            }
            #expect(try await readiness().isReady)
            func draft() async throws -> Content { try await world.draft { $0.formats = World.fewFormats } }
            let pins = try await draft().hosts
            try await world.see(world.announced, from: ["there"])
            // For those who do not ask, both are what they know.
            #expect(try await readiness().isReady)
            try await require(2, world)
            let held = try await readiness()
            #expect(!held.isReady && held.until == nil && held.words.contains("vantages disagree"), "\(held)")
            for part in ["here", "there", "\(Digest(of: try world.shown.subjectPublicKeyInfo))"] {
                #expect(held.words.contains(part), "\(held)")
            }
            #expect(try await draft().hosts == pins)
            // No key is in reserve by now.
            let proposal = try await world.propose(draft(), forcing: [.lint])
            #expect(proposal.report.refusal?.gate == .outlook, "\(proposal.report)")
            #expect(proposal.report.refusal?.refusals.contains { $0.contains("vantages disagree") } == true)
            try await world.approve(proposal.change)
            await expectError(.gate) { try await world.publisher.publish(proposal.change) }
            let standing = try await world.publisher.standing(of: world.app)
            #expect(!standing.isGood && standing.held.count == 1 && standing.losses.isEmpty, "\(standing)")
            // The approvals wait as well.
            try await world.see(world.announced, from: ["here"])
            #expect(try await readiness().isReady)
            #expect(try await world.publisher.standing(of: world.app).held.isEmpty)
            guard case .published = try await world.publisher.publish(proposal.change).stage else {
                Issue.record("it is not published")
                return
            }
            try await world.everybodyFollows(isThorough: false)
        }
    }

    @Test("A change that names its way past the gate of the outlook is published although vantages disagree")
    func forced() async throws {
        try await World.run { world in
            try await require(2, world)
            try await world.see(world.announced, from: ["there"])
            let content = try await world.draft { $0.formats = World.fewFormats }
            // Both keys are shown, so that none is in reserve.
            #expect(try await world.propose(content, forcing: [.lint]).report.refusal?.gate == .outlook)
            try await world.publish(content, forcing: [.lint, .outlook])
        }
    }

    @Test(
        "A vantage that dies counts no more after an hour: what it was needed for is held, and an alarm says since when",
        arguments: StorageKind.tested)
    func silent(_ kind: StorageKind) async throws {
        try await Self.run(kind) { world, other in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            try await require(2, world)
            let last = world.now
            func held() async throws -> [String] { try await world.publisher.standing(of: world.app).held }
            world.clock.advance(by: .seconds(3_600))
            try await world.see(world.shown, from: ["here"])
            #expect(try await held().isEmpty)
            #expect(try await other.noteSilentVantages(of: world.app).isEmpty)
            world.clock.advance(by: .seconds(1))
            let words = try #require(try await held().first)
            #expect(words.contains("there has seen nothing since \(ClockGuard.text(last))"), "\(words)")
            let said = try await other.noteSilentVantages(of: world.app)
            #expect(said.count == 1 && said[0].contains("vantage there has seen nothing since"), "\(said)")
            // Once, whichever process asks.
            for catalog in [world.catalog, other] {
                #expect(try await catalog.noteSilentVantages(of: world.app).isEmpty)
            }
            let entry = try #require(try await alarms(world).last)
            #expect(entry.facts["vantage"] == "there" && entry.facts["since"] == "\(last)")
            // It comes back, and goes again.
            try await world.see(world.shown, from: ["there"])
            #expect(try await held().isEmpty)
            world.clock.advance(by: .seconds(3_601))
            try await world.see(world.shown, from: ["here"])
            #expect(try await world.catalog.noteSilentVantages(of: world.app).count == 1)
            // Others that are enough make up for it, and an app that asks for one needs nobody.
            try await world.see(world.shown, from: ["elsewhere"])
            #expect(try await held().isEmpty)
            try await require(1, world)
            world.clock.advance(by: .seconds(3_601))
            #expect(try await held().isEmpty)
            #expect(try await other.noteSilentVantages(of: world.app).isEmpty)
        }
    }

    @Test("People are told: on pages, in notices and in metrics")
    func told() async throws {
        try await World.run { world in
            try await require(2, world)
            try await world.see(world.announced, from: ["there"])
            let compared = try await world.catalog.compareVantages(of: [world.catalogHost], world.app)
            #expect(compared.count == 1 && compared[0].alarm != nil)
            // A new one each time: it has read nothing before.
            func desk() throws -> PageDesk { try PageDesk(world) }
            let needs = try await desk().overview().needs
            #expect(needs.contains { $0.kind == .alarm && $0.words.contains("Vantages disagree") }, "\(needs)")
            let page = try await desk().html("/apps/bank/hosts/\(World.host)")
            #expect(page.contains("<b>Held:</b> vantages disagree"), "\(page)")
            #expect(try await desk().html("/apps/bank").contains("<dt>Vantages that must agree</dt><dd>2</dd>"))
            func notices() throws -> [[String: String]] {
                var finder = NoticeFinder(Story.server)
                return try finder.notices(world.catalog.ledger, world.publisher.live.current, at: nil)
                    .filter { $0.kind == .alarm }.map {
                        try #require(try JSONSerialization.jsonObject(with: Data($0.octets)) as? [String: String])
                    }
            }
            #expect(try notices().map { $0["vantages"] } == ["here,there"])
            #expect(try notices().first?["host"] == "\(World.host):443")

            try await world.see(world.shown)
            #expect(try await desk().overview().needs.allSatisfy { $0.kind != .alarm })
            world.clock.advance(by: .seconds(3_601))
            try await world.see(world.shown, from: ["here"])
            let unseen = try await desk().overview().needs.filter { $0.kind == .unseen }
            #expect(unseen.count == 1 && unseen[0].words.contains("seen from here only"), "\(unseen)")
            #expect(try await world.catalog.noteSilentVantages(of: world.app).count == 1)
            #expect(try notices().contains { $0["vantage"] == "there" && $0["since"] != nil })
            let families = MetricsText.families(of: world.catalog.ledger, isReady: true, at: world.now)
            let alarms = try #require(families.first { $0.name == "holdfast_alarms_total" })
            #expect(alarms.samples.map(\.value) == [2])
        }
    }

    @Test("What the settings say of vantages is in the audit, has one spelling, and is between one and eight")
    func settings() async throws {
        try await World.run { world in
            let before = try await world.catalog.app(world.app).settings
            #expect(before.vantages == 1 && !String(decoding: before.octets, as: UTF8.self).contains("vantages"))
            try await require(3, world)
            #expect(try await world.catalog.app(world.app).settings.vantages == 3)
            let last = try #require(try await world.catalog.audit(after: -1, limit: 1_000).last)
            let settings = try await world.catalog.app(world.app).settings
            #expect(try AuditEntry(last).facts["digest"] == "\(Digest(of: settings.octets))")
            for count in [0, 9] as [Int64] { await expectError(.invalidValue) { try await require(count, world) } }
            let spelled = String(decoding: settings.octets, as: UTF8.self)
                .replacing(#""vantages":3"#, with: #""vantages":1"#)
            expectError(.malformed) { try AppSettings(Array(spelled.utf8)) }
            // Whose turn it is follows the settings; what counts is what the audit has.
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE app SET vantages = 1")
            }
            #expect(try await world.catalog.app(world.app).settings.vantages == 3)
        }
    }

    @Test("What another machine hands in is compared with what this one sees")
    func imported() async throws {
        try await World.run { world in
            try await require(2, world)
            let stranger = try world.root.impersonate(world.shown)
            func file(_ certificate: TestCertificate) -> SightingsFile {
                SightingsFile(
                    [
                        (
                            label: "\(World.host):443",
                            findings: [
                                WatchFinding(
                                    place: "192.0.2.1:443", chain: certificate.chain, verdict: .unpinned, words: "",
                                    key: nil)
                            ]
                        )
                    ], at: world.now)
            }
            #expect(
                try await world.catalog.take(file(world.shown), from: "office", of: world.app, by: "carol").isEmpty)
            world.clock.advance(by: .seconds(60))
            try await world.see(world.shown)
            let alarms = try await world.catalog.take(file(stranger), from: "office", of: world.app, by: "carol")
            #expect(alarms.count == 1 && alarms[0].contains("office"), "\(alarms)")
            #expect(
                try await world.catalog.take(file(stranger), from: "office", of: world.app, by: "carol").isEmpty)
        }
    }
}
