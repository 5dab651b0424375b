import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("A repository of pins", .timeLimit(.minutes(15)))
struct PinRepositoryTests {
    @Test(
        "Before the first update nobody is trusted; after it one repository serves any number of hosts",
        arguments: PinScene.Way.allCases)
    func first(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        try scene.publish(
            scene.pinFile([scene.entry(), scene.entry("**.example.com"), .retired(try HostPattern("old.example.com"))]))
        let pins = try scene.start()
        #expect(pins.state == .absent && pins.pinFile == nil && scene.provider.requests.isEmpty)
        #expect(try scene.rejection(pins) == .noUsablePins)
        await pins.settle()
        #expect(pins.state == .fresh)
        for host in [PinScene.host, PinScene.other] {
            #expect(try scene.rejection(pins, host) == nil)
            #expect(try scene.rejection(pins, host, scene.backup) == nil)
            #expect(try scene.rejection(pins, host, scene.foreign) == .pinMismatch)
        }
        #expect(try scene.rejection(pins, "old.example.com") == .hostRetired)
        let manager = TrustManager(policies: [try pins.policy(for: "**.example.com")], clock: scene.clock)
        #expect(manager.evaluate(try scene.trust()).isTrusted)
        #expect(try manager.evaluate(scene.trust(PinScene.host, scene.foreign)).failure?.code == .pinMismatch)
        let asked = scene.provider.asked
        #expect(
            way == .bundle
                ? Set(asked) == ["bundle.json"] : asked.first == "metadata/2.root.json" && asked.count >= 5)
    }

    @Test("A new pin file replaces the old one as a whole", arguments: PinScene.Way.allCases)
    func replacement(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        let pins = try scene.start()
        try await pins.update()
        #expect(try scene.rejection(pins, PinScene.other) == nil)
        let revision = try pins.policy(for: PinScene.host).revision
        try scene.publish(scene.pinFile([scene.entry(active: scene.foreign)]))
        try await pins.update(mode: .forced)
        #expect(try scene.rejection(pins) == .pinMismatch)
        #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == nil)
        #expect(try scene.rejection(pins, PinScene.other) == .noUsablePins)
        #expect(try pins.policy(for: PinScene.host).revision > revision)
    }

    @Test("A decision says which version of the pin file decided, and which entry, in its grace as well")
    func entry() async throws {
        let scene = try PinScene()
        let pins = try scene.start()
        try await pins.update()
        let version = try #require(pins.pinFile?.version)
        for days in [0.0, 31] {
            scene.clock.set(TestRepository.start.addingTimeInterval(days * PinScene.day))
            let entry = try #require(try scene.decision(pins).entry)
            #expect(entry.version == version && entry.pattern.description == PinScene.host)
        }
        await pins.settle()
    }

    @Test("An older state of the repository is refused, also after a restart", arguments: PinScene.Way.allCases)
    func rollback(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        let old = scene.repository
        try scene.publish(scene.pinFile([scene.entry(active: scene.foreign)]))
        let pins = try scene.start()
        try await pins.update()
        scene.provider.serve(old)
        for pins in [pins, try scene.start()] {
            #expect(await pins.refusal()?.metadataCode == .rolledBack)
            #expect(try scene.rejection(pins) == .pinMismatch)
            #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == nil)
        }
    }

    @Test(
        "A frozen repository ends refreshing and never pinning: fresh, stale, grace, expired",
        arguments: PinScene.Way.allCases)
    func states(way: PinScene.Way) async throws {
        let scene = try PinScene(way)
        let pins = try scene.start()
        try await pins.update()
        let uses = Lock(0)
        pins.addObserver { if case .usedInGrace = $0.kind { uses.withLock { $0 += 1 } } }
        for (days, state) in [(9.0, StoreState.fresh), (11, .stale), (29, .stale), (31, .grace), (43, .grace)] {
            scene.clock.set(TestRepository.start.addingTimeInterval(days * PinScene.day))
            #expect(pins.state == state)
            let refusal = await pins.refusal()
            #expect(refusal?.metadataCode == (state == .fresh ? nil : .expired))
            for pins in [pins, try scene.start()] {
                let decision = try scene.decision(pins)
                #expect(pins.state == state && decision.isTrusted)
                #expect(decision.notices.map(\.code) == (state == .grace ? [.pinsPastTheirTime] : []))
                #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == .pinMismatch)
                await pins.settle()
            }
        }
        #expect(uses.withLock { $0 } == 2)
        // One line for each repository that met it: this one, and the two that were started in the grace.
        #expect(scene.log.lines.count { $0.hasPrefix("warning a document is past its time and still counts") } == 3)
        scene.clock.set(TestRepository.start.addingTimeInterval(45 * PinScene.day))
        for pins in [pins, try scene.start()] {
            #expect(pins.state == .expired)
            #expect(try scene.rejection(pins) == .pinsExpired)
            await pins.settle()
        }
    }

    @Test("Metadata has expired at the second that it states; a pin file's notAfter, and its grace, end after theirs")
    func lastSeconds() async throws {
        let scene = try PinScene()
        let pins = try scene.start()
        try await pins.update()
        let ends: [(days: Double, before: StoreState, at: StoreState, after: StoreState)] = [
            (10, .fresh, .stale, .stale), (30, .stale, .stale, .grace), (44, .grace, .grace, .expired),
        ]
        for end in ends {
            for (seconds, state) in [(-1.0, end.before), (0, end.at), (1, end.after)] {
                scene.clock.set(TestRepository.start.addingTimeInterval(end.days * PinScene.day + seconds))
                #expect(pins.state == state, "day \(end.days), \(seconds) s")
            }
        }
    }

    @Test("A host whose entry says so falls back to standard validation when the grace is over")
    func fallback() async throws {
        var scene = try PinScene()
        scene.floor.requiresEnforcement = false
        try scene.publish(scene.pinFile([scene.entry(afterExpiry: .standardValidation)]))
        let pins = try scene.start()
        try await pins.update()
        scene.clock.advance(by: .seconds(45 * PinScene.day))
        let decision = try scene.decision(pins, PinScene.host, scene.foreign)
        #expect(decision.isTrusted && decision.notices.map(\.code) == [.pinsExpired])
        await pins.settle()
    }

    @Test(
        "What is stored is proved again on load: a changed state is none, and says so", arguments: PinScene.Way.allCases
    )
    func restart(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        let pins = try scene.start()
        try await pins.update()
        scene.provider.fail()
        let restarted = try scene.start()
        #expect(restarted.state == .fresh && restarted.storageError == nil)
        #expect(try scene.rejection(restarted) == nil)
        let key = pins.documents.format.storageKey
        let own = try #require(scene.storage.loadData(forKey: key))
        // Another repository, whole and signed, in place of the stored one.
        let other = try PinScene(way)
        let others = try other.start()
        try await others.update()
        #expect(key == others.documents.format.storageKey)
        _ = scene.storage.save(data: try #require(other.storage.loadData(forKey: key)), forKey: key)
        let robbed = try scene.start()
        #expect(robbed.state == .absent && robbed.storageError?.code == .damagedStorage)
        #expect(try scene.rejection(robbed) == .noUsablePins)
        await robbed.settle()
        // A floor that a later build raises holds for what is stored as well.
        _ = scene.storage.save(data: own, forKey: key)
        #expect(try scene.start().state == .fresh)
        scene.floor.covered.append(try HostPattern("more.example.com"))
        #expect(try scene.start().state == .absent)
    }

    @Test("An update that began before the storage could be read does not take the place of what is stored")
    func lockedStorage() async throws {
        let scene = try PinScene(.files)
        try await scene.start().update()
        let storage = LockableStorage(scene.storage)
        var configuration = try scene.configuration()
        configuration.secureDataStore = storage
        let pins = try PinRepository(checking: configuration, clock: scene.clock, logger: scene.log.logger)
        #expect(pins.state == .absent)
        storage.lock(false)
        var withheld = scene.repository
        withheld.files = withheld.files.filter { $0.key.kind == .metadata }
        scene.provider.serve(withheld)
        // It continues from the stored files, and downloads none of them again.
        #expect(await pins.refusal() == nil)
        for pins in [pins, try scene.start()] {
            #expect(pins.state == .fresh)
            #expect(try scene.rejection(pins) == nil)
        }
    }

    @Test(
        "A later build's floor drops the pins of before and not the versions that were seen",
        arguments: PinScene.Way.allCases)
    func raisedFloor(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        let old = scene.repository
        try scene.publish(scene.pinFile([scene.entry(), scene.entry(PinScene.other)]))
        try await scene.start().update()
        scene.floor.covered.append(try HostPattern("old.example.com"))
        scene.provider.serve(old)
        let next = try scene.start()
        #expect(next.state == .absent && next.storageError == nil)
        #expect(await next.refusal()?.metadataCode == .rolledBack)
    }

    @Test(
        "A document dated ahead by decades does not last longer than the floor allows", arguments: PinScene.Way.allCases
    )
    func dated(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        try scene.publish(scene.pinFile(issuedAt: scene.clock.now.addingTimeInterval(20_000 * PinScene.day), days: 300))
        let pins = try scene.start()
        try await pins.update()
        #expect(try scene.rejection(pins) == nil)
        scene.clock.advance(by: .seconds(402 * PinScene.day))
        for pins in [pins, try scene.start()] {
            #expect(pins.state == .expired)
            #expect(try scene.rejection(pins) == .pinsExpired)
            await pins.settle()
        }
    }

    @Test("A mismatch that is only reported asks for newer pins once for each document")
    func reportedMismatch() async throws {
        var scene = try PinScene()
        scene.floor.requiresEnforcement = false
        try scene.publish(scene.pinFile([scene.entry(enforcement: .reportOnly)]))
        let pins = try scene.start()
        try await pins.update()
        let before = scene.provider.requests.count
        #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == nil)
        await pins.settle()
        #expect(scene.provider.requests.count == before + 1)
        scene.clock.advance(by: .seconds(301))
        #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == nil)
        await pins.settle()
        #expect(scene.provider.requests.count == before + 1)
        #expect(try !pins.policy(for: PinScene.host).needsPreparation)
        try scene.publish(scene.pinFile([scene.entry(enforcement: .reportOnly)]))
        try await pins.update(mode: .forced)
        #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == nil)
        await pins.settle()
        #expect(scene.provider.requests.count == before + 3)
    }

    @Test(
        "Pins that have run out take no place of pins that hold, and nothing older takes theirs",
        arguments: PinScene.Way.allCases)
    func expiredSuccessor(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        let pins = try scene.start()
        try await pins.update()
        let good = scene.repository
        let long = scene.clock.now.addingTimeInterval(-60 * PinScene.day)
        try scene.publish(scene.pinFile(issuedAt: long))
        let refusal = await pins.refusal()
        #expect(refusal?.code == .invalidData, "\(String(describing: refusal))")
        scene.provider.serve(good)
        for pins in [pins, try scene.start()] {
            #expect(pins.state == .fresh)
            #expect(try scene.rejection(pins) == nil)
            #expect(await pins.refusal()?.metadataCode == .rolledBack)
        }
        try scene.renew()
        try scene.publish()
        try await pins.update(mode: .forced)
        #expect(try scene.rejection(pins) == nil)
    }

    @Test(
        "What an unfinished update has proved is kept: newer metadata guards against rollback, the pins stay",
        arguments: PinScene.Way.allCases)
    func unfinished(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        let pins = try scene.start()
        try await pins.update()
        let good = scene.repository
        // Signed and whole, but below the floor.
        try scene.publish(scene.pinFile([scene.entry(PinScene.other)]))
        #expect(await pins.refusal()?.floorCode == .hostNotCovered)
        scene.provider.serve(good)
        for pins in [pins, try scene.start()] {
            #expect(pins.state == .fresh)
            #expect(try scene.rejection(pins) == nil)
            #expect(try scene.rejection(pins, PinScene.other) == nil)
            #expect(await pins.refusal()?.metadataCode == .rolledBack)
        }
    }

    @Test(
        "Keys that were rotated are followed, and the stolen ones are good for nothing",
        arguments: PinScene.Way.allCases)
    func rotation(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        let pins = try scene.start()
        try await pins.update()
        let stolen = scene.repository
        for role in ["root", "timestamp", "snapshot", "targets"] {
            scene.repository.setKeys(of: role, [try TestSigner()])
        }
        let next = scene.repository.signers["root"] ?? []
        scene.repository.signers["root"] = (stolen.signers["root"] ?? []) + next
        try scene.repository.publish("root", increment: true)
        scene.repository.signers["root"] = next
        try scene.publish(scene.pinFile([scene.entry(active: scene.foreign)]))
        try await pins.update(mode: .forced)
        #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == nil)
        // A thief of the old keys signs a newer state with them.
        scene.repository = stolen
        for _ in 0..<9 { try scene.publish(scene.pinFile([scene.entry()])) }
        for pins in [pins, try scene.start()] {
            #expect(await pins.refusal() != nil)
            #expect(try scene.rejection(pins) == .pinMismatch)
        }
    }

    @Test(
        "A mismatch leads to one forced refresh in five minutes, shared by all connections",
        arguments: PinScene.Way.allCases)
    func mismatch(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        let pins = try scene.start()
        try await pins.update()
        func updates() -> Int { scene.provider.asked.count { $0 == "bundle.json" || $0 == "metadata/timestamp.json" } }
        let before = updates()
        for _ in 0..<20 {
            #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == .pinMismatch)
            #expect(try scene.rejection(pins, PinScene.other, scene.foreign) == .pinMismatch)
        }
        await pins.settle()
        #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == .pinMismatch)
        await pins.settle()
        #expect(updates() == before + 1)
        scene.clock.advance(by: .seconds(301))
        try scene.publish(scene.pinFile([scene.entry(active: scene.foreign)]))
        #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == .pinMismatch)
        try await pins.policy(for: PinScene.host).prepare()
        #expect(try scene.rejection(pins, PinScene.host, scene.foreign) == nil)
        #expect(updates() == before + 2)
    }

    @Test("A bundle is asked for with its entity tag; one that has not changed is judged again, its expirations too")
    func conditional() async throws {
        let scene = try PinScene()
        let pins = try scene.start()
        try await pins.update()
        try await pins.update(mode: .forced)
        #expect(scene.provider.notModified == 1 && scene.provider.requests.count == 2)
        let restarted = try scene.start()
        try await restarted.update(mode: .forced)
        #expect(scene.provider.notModified == 2)
        scene.clock.advance(by: .seconds(11 * PinScene.day))
        #expect(await pins.refusal()?.metadataCode == .expired)
        #expect(scene.provider.notModified == 3)
        #expect(try scene.rejection(pins) == nil)
    }

    @Test(
        "A document ahead of the clock is taken; it moves the stored time by a day at most",
        arguments: PinScene.Way.allCases)
    func ahead(way: PinScene.Way) async throws {
        var scene = try PinScene(way)
        try scene.publish(scene.pinFile(issuedAt: scene.clock.now.addingTimeInterval(400 * PinScene.day)))
        let pins = try scene.start()
        try await pins.update()
        #expect(try scene.rejection(pins) == nil)
        #expect(pins.trustedTime == scene.clock.now.addingTimeInterval(PinScene.day))
        #expect(try scene.start().trustedTime == scene.clock.now.addingTimeInterval(PinScene.day))
    }

    @Test("Its clock set back by years, a device goes by what it knows: the build's date, and the newest document")
    func behind() async throws {
        var scene = try PinScene()
        scene.buildDate = TestRepository.start
        let pins = try scene.start()
        try await pins.update()
        scene.clock.advance(by: .seconds(11 * PinScene.day))
        #expect(pins.state == .stale)
        scene.clock.set(Date(timeIntervalSince1970: 0))
        #expect(pins.trustedTime == TestRepository.start)
        #expect(try scene.rejection(pins) == nil)
    }

    @Test("https is wanted unless told otherwise, and a root that is one")
    func configuration() throws {
        let scene = try PinScene()
        var configuration = try scene.configuration()
        configuration.source = .bundle(try #require(URL(string: "http://127.0.0.1/bundle.json")))
        #expect(configuration.error?.code == .invalidConfiguration)
        configuration.allowsPlainHTTP = true
        #expect(configuration.error == nil)
        configuration.root = try #require(scene.repository.served("timestamp.json"))
        #expect(configuration.error?.code == .invalidConfiguration)
    }

    @Test("Of a repository whose timestamp alone is renewed nothing but the timestamp is downloaded again")
    func counted() async throws {
        var scene = try PinScene(.files)
        let pins = try scene.start()
        try await pins.update()
        for _ in 0..<20 {
            try scene.repository.publish("timestamp", increment: true)
            scene.provider.serve(scene.repository)
            try await pins.update(mode: .forced)
        }
        let asked = scene.provider.asked
        #expect(asked.count { $0.hasPrefix("targets/") } == 1)
        #expect(asked.count { $0.hasSuffix("snapshot.json") } == 1)
        #expect(asked.count { $0.hasSuffix("timestamp.json") } == 21)
    }
}
