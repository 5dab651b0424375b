import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("The walk to the newest root (section 5.3)", .timeLimit(.minutes(15)))
struct RootWalkTests {
    @Test("Each version is asked for, verified and kept, until one is absent")
    func walk() async throws {
        var test = try TestClient()
        for _ in 0..<3 { try test.repository.publish("root", increment: true) }
        try await test.refresh()
        #expect(test.source.asked().prefix(4) == ["2.root.json", "3.root.json", "4.root.json", "5.root.json"])
        #expect(try test.version(of: .root) == 4)
    }

    @Test("The walk ends at its cap, and the next update goes on from there")
    func cap() async throws {
        var test = try TestClient(settings: TUFSettings(rootRotations: 2))
        for _ in 0..<3 { try test.repository.publish("root", increment: true) }
        try await test.refresh()
        #expect(try test.version(of: .root) == 3)
        try await test.refresh()
        #expect(try test.version(of: .root) == 4)
    }

    @Test("What was walked before does not use the cap up, where each walk begins with the application's root")
    func capOfOwnRoot() async throws {
        var test = try TestClient(initialized: false)
        let client = TUFClient(
            store: test.store, source: test.source, trustedRoot: test.repository.served("1.root.json"),
            settings: TUFSettings(rootRotations: 2), clock: test.clock)
        for _ in 0..<5 { try test.repository.publish("root", increment: true) }
        test.source.serve(test.repository)
        for version in [3, 5, 6] {
            _ = try await client.refresh()
            #expect(try test.version(of: .root) == version)
        }
    }

    @Test("A new root needs the thresholds of the keys before and of its own", arguments: [true, false])
    func bothThresholds(isSignedByOldKeys: Bool) async throws {
        var test = try TestClient()
        let old = try #require(test.repository.signers["root"])
        let new = [try TestSigner(), try TestSigner()]
        test.repository.setKeys(of: "root", new, threshold: 2)
        test.repository.signers["root"] = isSignedByOldKeys ? old + [new[0]] : new
        try test.repository.publish("root", increment: true)
        #expect(await test.refusal() == .notSigned)
        #expect(try test.versions() == [1, nil, nil, nil])
        test.repository.signers["root"] = old + new
        try test.repository.publish("root")
        #expect(await test.refusal() == nil)
    }

    @Test("A root of any other version than the next is refused", arguments: [1, 3, 100])
    func version(version: Int) async throws {
        var test = try TestClient()
        test.repository.change("root") { $0["version"] = version }
        let path = RepositoryFile(kind: .metadata, path: "2.root.json")
        test.repository.files[path] = try test.repository.signed("root")
        #expect(await test.refusal() == (version == 1 ? .rolledBack : .wrongVersion))
        #expect(try test.version(of: .root) == 1)
    }

    @Test("Only the last root of the walk must not have expired; what was walked is kept")
    func expiry() async throws {
        var test = try TestClient()
        test.repository.expire("root", at: test.repository.start)
        try test.repository.publish("root", increment: true)
        #expect(await test.refusal() == .expired)
        #expect(test.source.asked() == ["2.root.json", "3.root.json"])
        #expect(try test.versions() == [2, nil, nil, nil])
        test.repository.expire("root", at: test.repository.start + 1)
        try test.repository.publish("root", increment: true)
        #expect(await test.refusal() == nil)
    }

    @Test("Any other failure than an absent file ends the update")
    func failure() async throws {
        var test = try TestClient()
        test.hasTwin = false
        test.source.fail("2.root.json", with: CocoaError(.fileReadUnknown))
        #expect(await test.refusal() == .unavailable)
        #expect(test.source.asked() == ["2.root.json"])
    }

    @Test("When keys of timestamp or snapshot were rotated both are forgotten", arguments: ["timestamp", "snapshot"])
    func fastForward(role: String) async throws {
        var test = try TestClient()
        test.repository.change("timestamp") { $0["version"] = 1_000 }
        test.repository.change("snapshot") { $0["version"] = 1_000 }
        try test.repository.publishAll(increment: false)
        try await test.refresh()
        #expect(try test.versions() == [1, 1_000, 1_000, 1])
        test.repository.change("timestamp") { $0["version"] = 2 }
        test.repository.change("snapshot") { $0["version"] = 2 }
        try test.repository.publishAll(increment: false)
        #expect(await test.refusal() == .rolledBack)
        test.repository.setKeys(of: role, [try TestSigner()])
        try test.repository.publish("root", increment: true)
        try test.repository.publishAll(increment: false)
        try await test.refresh()
        #expect(try test.versions() == [2, 2, 2, 1])
    }

    @Test("A key that is only added is no rotation: rollback is still noticed")
    func addedKey() async throws {
        var test = try TestClient()
        try test.repository.publish("timestamp", increment: true)
        try await test.refresh()
        let keys = try #require(test.repository.signers["timestamp"])
        test.repository.setKeys(of: "timestamp", keys + [try TestSigner()])
        try test.repository.publish("root", increment: true)
        test.repository.change("timestamp") { $0["version"] = 1 }
        try test.repository.publish("timestamp")
        #expect(await test.refusal() == .rolledBack)
        #expect(try test.versions() == [2, 2, 1, 1])
    }

    @Test("An application's own root is walked from each time: a forged one in the store changes nothing")
    func ownRoot() async throws {
        var test = try TestClient(initialized: false)
        let own = test.repository.served("1.root.json")
        let client = TUFClient(store: test.store, source: test.source, trustedRoot: own, clock: test.clock)
        _ = try await client.refresh()
        for _ in 0..<2 { try test.repository.publish("root", increment: true) }
        test.source.serve(test.repository)
        _ = try await client.refresh()
        #expect(try test.version(of: .root) == 3)
        _ = test.source.asked()
        _ = try await client.refresh()
        #expect(test.source.asked() == ["4.root.json", "timestamp.json"])

        var forged = test.repository
        forged.setKeys(of: "root", [try TestSigner()])
        for name in [StoredMetadataName(.root), StoredMetadataName(rootVersion: 2)] {
            let kept = test.store.data(of: name, atMost: .max)
            _ = test.store.replace(name, kept, with: try forged.signed("root"), atMost: .max)
        }
        _ = try await client.refresh()
        #expect(test.source.asked() == ["2.root.json", "4.root.json", "timestamp.json"])
        #expect(test.store.data(of: StoredMetadataName(.root), atMost: .max) == test.repository.served("3.root.json"))
    }
}
