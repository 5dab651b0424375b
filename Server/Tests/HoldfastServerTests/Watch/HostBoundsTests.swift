import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// A watched host that presents as much as it can: what it leaves behind has a bound, and never displaces what counts.
@Suite("Bounds of what watched hosts present", .timeLimit(.minutes(5)))
struct HostBoundsTests {
    /// Different chains with one leaf: each set of other certificates makes another.
    private struct Chains {
        let leaf: TestCertificate
        let others: [[UInt8]]

        init(_ world: World, names: [String] = [World.host]) throws {
            leaf = try world.root.leaf(names: names.map { .dns($0) })
            others = try (0..<11).map { try world.root.leaf(names: [.dns("other\($0).example.com")]).der }
        }

        func chain(_ number: Int) throws -> CertificateChain {
            let set = others.indices.filter { number >> $0 & 1 == 1 }.map { others[$0] }
            return try CertificateChain([leaf.der] + set)
        }
    }

    private func observation(
        _ chain: CertificateChain?, at address: String, _ world: World, from vantage: String = "here"
    ) -> Observation {
        Observation(
            vantage: vantage, address: address, chain: chain, failure: chain == nil ? "nothing" : nil,
            firstSeen: world.now, lastSeen: world.now)
    }

    private func note(_ seen: [Observation], _ world: World, from vantage: String = "here") async throws {
        try await world.catalog.note(
            [(host: world.catalogHost, seen: seen)], from: vantage, of: world.app, by: "test")
    }

    private func count(_ query: Query, _ world: World) async throws -> Int64 {
        try await world.engine.read { session throws(ServerError) in
            try session.run(query, []).first?.integer(0) ?? 0
        }
    }

    @Test("A new chain at each handshake leaves a bounded number of chains within an hour, and no key")
    func newChains() async throws {
        try await World.run { world in
            let chains = try Chains(world)
            let keys = try await count("SELECT count(*) FROM public_key", world)
            let before = try await count("SELECT count(*) FROM chain", world)
            var number = 0
            func look() async throws {
                let seen = try (0..<64).map { address in
                    number += 1
                    return observation(try chains.chain(number), at: "192.0.2.\(address)", world)
                }
                try await note(seen, world)
            }
            for _ in 0..<5 { try await look() }
            let limit = Int64(Catalog.maximumNewChains)
            // One of them is what the host presented before.
            #expect(try await count("SELECT count(*) FROM chain", world) == before + limit - 1)
            #expect(try await count("SELECT count(*) FROM public_key", world) == keys)
            // Each address says what became of the rest, and no older sighting seems to be what it shows now.
            let seen = try await world.catalog.observations(of: world.catalogHost, world.app)
            let newest = seen.filter { $0.address.hasPrefix("192.0.2.") && $0.vantage == "here" }
            #expect(newest.count == 64 && newest.allSatisfy { $0.failure?.contains("too many new") ?? false })
            // The next hour has room for others, and the oldest make place for them.
            for _ in 0..<5 {
                world.clock.advance(by: .seconds(3_601))
                try await look()
                try await look()
            }
            let bytes = try await count("SELECT CAST(sum(length(certificates)) AS BIGINT) FROM chain", world)
            #expect(bytes <= 2 * Int64(Catalog.maximumChainBytes), "\(bytes)")
            #expect(
                try await count("SELECT count(*) FROM observation", world) <= 2 * Int64(Catalog.maximumObservations))
            let unnamed = try await count(
                """
                SELECT count(*) FROM chain WHERE digest NOT IN (SELECT chain_digest FROM observation \
                WHERE chain_digest IS NOT NULL) AND digest NOT IN (SELECT chain_digest FROM next_chain)
                """, world)
            #expect(unnamed == 0)
        }
    }

    @Test("Sightings of approved keys outlast everything else that a host presents")
    func approvedKeys() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            // Another certificate over the published key, as after a renewal.
            let renewed = try CertificateChain(
                [world.shown.der] + [world.root.leaf(names: [.dns("x.example.com")]).der])
            try await note([observation(renewed, at: "198.51.100.7", world)], world)
            let chains = try Chains(world)
            var number = 0
            for _ in 0..<8 {
                world.clock.advance(by: .seconds(3_601))
                let seen = try (0..<100).map { address in
                    number += 1
                    return observation(try chains.chain(number % 2_000 + 1), at: "192.0.2.\(number % 250)", world)
                }
                let failures = (0..<200).map { observation(nil, at: "203.0.113.\($0)", world) }
                try await note(seen + failures, world)
            }
            let kept = try await world.catalog.observations(of: world.catalogHost, world.app)
            #expect(kept.first { $0.address == "198.51.100.7" }?.chain == renewed)
        }
    }

    @Test("The certificates that the audit says of a look are first those over approved keys")
    func said() async throws {
        try await World.run { world in
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            let chains = try (0..<40).map { _ in try CertificateChain(world.root.leaf(names: [.dns(World.host)]).chain)
            }
            let approved = try CertificateChain(stranger.chain)
            let said = Catalog.sayable(
                chains + [approved], unlike: [chains[0].fingerprint],
                [approved.digest: .accepted, chains[1].digest: .approvedKey, chains[2].digest: .approvedKey])
            #expect(said.count == 32 && said.first == approved.fingerprint)
            #expect(Set(said[1...2]) == [chains[1].fingerprint, chains[2].fingerprint])
            #expect(!said.contains(chains[0].fingerprint))
        }
    }

    @Test("A chain of more than 32 KiB is not read: a probe says so, and nobody can announce it")
    func largeChain() async throws {
        try await World.run { world in
            let names = (0..<1_500).map { "host\($0).long-name.example.com" }
            let large = try Chains(world, names: [World.host] + names).leaf
            #expect(large.der.count > CertificateChain.maximumBytes)
            expectError(.invalidValue) { try CertificateChain(large.chain) }
            try await withLoopbackTLSServer(serving: large) { server in
                let shop = try await Shop([.list], on: server.port, in: world)
                let report = try await shop.look()
                #expect(report.findings.map(\.verdict) == [.unreadable], "\(report)")
                #expect(report.findings.first?.words.contains("bytes of certificates") ?? false, "\(report)")
                let kept = try await world.catalog.observations(of: shop.host, shop.app)
                #expect(kept.map(\.chain) == [nil])
            }
        }
    }

    @Test("More new keys than get an alert each raise one alert that says so, and one more each day")
    func alerts() async throws {
        try await World.run { world in
            var number = 0
            func show(_ keys: Int) async throws -> [String] {
                var raised: [String] = []
                for _ in 0..<keys {
                    number += 1
                    let key = Digest(of: Array("key \(number)".utf8))
                    let words = try await world.catalog.alarm(
                        about: key, on: world.catalogHost, of: world.app, words: "key \(number)")
                    if let words { raised.append(words) }
                }
                return raised
            }
            let limit = Catalog.maximumAlarmsPerHour
            let first = try await show(128)
            #expect(first.count == limit + 1 && first.last?.contains("more new keys") ?? false, "\(first)")
            #expect(try await show(128) == [])
            // Nothing is asked of the database for what is too many already.
            #expect(world.catalog.hasAlarm(about: Digest(of: [9]), on: world.catalogHost, of: world.app, at: world.now))
            for _ in 0..<12 {
                world.clock.advance(by: .seconds(3_601))
                _ = try await show(128)
            }
            let ledger = world.catalog.ledger
            #expect(ledger.alarms.count <= HostMarks.maximumPerHost, "\(ledger.alarms.count)")
            // An alert that was raised before the rest keeps its place.
            let old = Digest(of: Array("key 1".utf8))
            #expect(ledger.alarms.contains(Ledger.Name(app: world.app, name: "\(world.catalogHost.label) \(old)")))
            #expect(ledger.hasTooManyKeys(world.catalogHost.label, of: world.app))
            let count = ledger.chain.head.count
            world.clock.advance(by: .seconds(43_200))
            #expect(try await show(128).count == 1)
            #expect(world.catalog.ledger.chain.head.count == count + 1)
            // Another host has alerts of its own.
            let other = try CatalogHost(name: "other.example.com")
            try await world.catalog.set(other, of: world.app, by: "test")
            let words = try await world.catalog.alarm(about: old, on: other, of: world.app, words: "its own")
            #expect(words == "its own")
        }
    }

    @Test("A host has the newest alerts only, and how many there were is still counted")
    func marks() throws {
        let app = try AppName("bank")
        let (host, other) = (Ledger.Name(app: app, name: "a:443"), Ledger.Name(app: app, name: "b:443"))
        var marks = HostMarks()
        marks.take(Ledger.Name(app: app, name: "b:443 x"), of: other, at: 1)
        for number in 0..<100 {
            marks.take(Ledger.Name(app: app, name: "a:443 \(number)"), of: host, at: Int64(number))
            #expect(marks.times.count == min(number + 1, HostMarks.maximumPerHost) + 1)
        }
        #expect(marks.times.count == HostMarks.maximumPerHost + 1 && marks.counts[app] == 101)
        #expect(marks.count(of: host, since: 89) == 10 && marks.repeated.isEmpty)
        // One that is raised again is the newest, and is counted once.
        let again = Ledger.Name(app: app, name: "a:443 36")
        marks.take(again, of: host, at: 200)
        #expect(marks.times.count == HostMarks.maximumPerHost + 1)
        #expect(marks.repeated == [again] && marks.counts[app] == 101)
        marks.take(Ledger.Name(app: app, name: "a:443 y"), of: host, at: 201)
        #expect(marks.times[again] == 200 && marks.times[Ledger.Name(app: app, name: "a:443 37")] == nil)
    }

    @Test("One vantage more than a host may have within an hour is refused, whatever it saw, and displaces no other")
    func vantages() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            // Published certificates are no news, so none of them is in the audit. The world looks from two vantages.
            let chain = try CertificateChain(world.shown.chain)
            func hand(_ vantage: String) async throws {
                try await note([observation(chain, at: "192.0.2.1", world, from: vantage)], world, from: vantage)
            }
            let names = (0..<Vantage.maximumPerHost - 2).map { "v\($0)" }
            for name in names { try await hand(name) }
            await expectError(.constraint) { try await hand("w") }
            // Those that are known go on.
            for name in names { try await hand(name) }
            func known() async throws -> Set<String> {
                Set(try await world.catalog.observations(of: world.catalogHost, world.app).map(\.vantage))
            }
            #expect(try await known() == Set(names + ["here", "there"]))
            world.clock.advance(by: .seconds(3_601))
            try await hand("w")
            #expect(try await known().contains("w"))
        }
    }

    @Test("What a vantage sees that clients accept outlasts the certificates that anyone can make over its key")
    func forged() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let stranger = try TestAuthority.root(clock: world.clock)
            let padding = (0..<700).map { TestGeneralName.dns("host\($0).example.com") }
            func hand(_ chains: [[[UInt8]]], at network: String) async throws {
                let shown = chains.enumerated().map { (address: "\(network).\($0)", chain: $1) }
                let bytes = SightingsReport.bytes(world.catalogHost.label, shown, at: world.now)
                try await world.catalog.take(
                    SightingsReport(bytes), from: "office", of: world.app, by: "test")
            }
            try await hand([world.shown.chain], at: "198.51.100")
            for _ in 0..<3 {
                world.clock.advance(by: .seconds(1_201))
                let forged = try (0..<64).map { _ in
                    [try stranger.leaf(names: [.dns(World.host)] + padding, key: .existing(world.shown.key)).der]
                }
                #expect(forged[0][0].count > Catalog.maximumChainBytes / 64)
                try await hand(forged, at: "192.0.2")
            }
            let kept = try await world.catalog.observations(of: world.catalogHost, world.app)
            let shown = try CertificateChain(world.shown.chain)
            #expect(kept.first { $0.address == "198.51.100.0" }?.chain == shown)
            let bytes = try await count("SELECT CAST(sum(length(certificates)) AS BIGINT) FROM chain", world)
            #expect(bytes <= 3 * Int64(Catalog.maximumChainBytes), "\(bytes)")
        }
    }

    @Test("The key of what is proposed is kept when the host no longer shows it; one that nothing names goes")
    func keys() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let pin = Digest(of: try world.shown.subjectPublicKeyInfo)
            try await world.engine.write { session throws(ServerError) in
                try session.run("DELETE FROM observation", [])
                try Catalog.dropUnnamedChains(session)
            }
            let kept = try await world.engine.read { session throws(ServerError) in
                try Catalog.publicKeys([pin, .nothing], session)
            }
            #expect(kept[pin] != nil && kept.count == 1)
            world.clock.advance(by: .seconds(301))
            #expect(try await world.publisher.renew().problems == [])

            let ready = try world.root.leaf(names: [.dns(World.host)])
            let key = try ready.subjectPublicKeyInfo
            func isStored() async throws -> Bool {
                try await world.engine.read { session throws(ServerError) in
                    try Catalog.publicKeys([Digest(of: key)], session)
                }.count == 1
            }
            try await world.catalog.announce(key: key, on: world.catalogHost, of: world.app, by: "test")
            #expect(try await isStored())
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "test")
            #expect(try await !isStored())
            #expect(try await count("SELECT count(*) FROM next_chain", world) == 0)
        }
    }

    @Test("Watched hosts are asked on one thread of their own, which gives way to what clients wait for")
    func threadOfProbes() async throws {
        let loops = Array(ProbeThread.group.makeIterator())
        #expect(loops.count == 1)
        let others = MultiThreadedEventLoopGroup.singleton.makeIterator()
        #expect(!others.contains { other in loops.contains { $0 === other } })
        #if os(Linux)
        let niceness = try await ProbeThread.group.any().submit {
            getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        }.get()
        #expect(niceness >= 10)
        #endif
    }
}
