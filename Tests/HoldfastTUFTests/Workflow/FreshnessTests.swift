import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("Rollback and freeze (sections 5.4 to 5.6)", .timeLimit(.minutes(15)))
struct FreshnessTests {
    @Test("An older timestamp is refused")
    func olderTimestamp() async throws {
        var test = try TestClient()
        try test.repository.publish("timestamp", increment: true)
        try await test.refresh()
        test.repository.change("timestamp") { $0["version"] = 1 }
        try test.repository.publish("timestamp")
        #expect(await test.refusal() == .rolledBack)
        #expect(try test.version(of: .timestamp) == 2)
    }

    @Test("A timestamp of the same version is not taken, and no error")
    func sameTimestamp() async throws {
        var test = try TestClient()
        try await test.refresh()
        test.repository.change("timestamp") { $0["meta"] = ["snapshot.json": ["version": 100]] }
        try test.repository.publish("timestamp")
        try await test.refresh()
        #expect(
            test.store.data(of: StoredMetadataName(.timestamp), atMost: .max)
                != test.repository.served("timestamp.json"))
        test.clock.advance(by: .seconds(31 * 86_400))
        test.repository.expire("root", at: test.clock.now + 1)
        try test.repository.publish("root", increment: true)
        #expect(await test.refusal() == .expired)
    }

    @Test("A timestamp that names an older snapshot is refused and not kept")
    func olderSnapshotInTimestamp() async throws {
        var test = try TestClient()
        try test.repository.publishAll()
        try await test.refresh()
        test.repository.change("snapshot") { $0["version"] = 1 }
        try test.repository.publish("snapshot")
        try test.repository.publish("timestamp", increment: true)
        _ = test.source.asked()
        #expect(await test.refusal() == .rolledBack)
        #expect(test.source.asked() == ["2.root.json", "timestamp.json"])
        #expect(try test.versions() == [1, 2, 2, 2])
    }

    @Test("A snapshot of another version than the timestamp says is refused")
    func otherSnapshot() async throws {
        var test = try TestClient()
        test.repository.change("timestamp") { $0["meta"] = ["snapshot.json": ["version": 2]] }
        try test.repository.publish("timestamp")
        let path = RepositoryFile(kind: .metadata, path: "2.snapshot.json")
        test.repository.files[path] = test.repository.served("1.snapshot.json")
        #expect(await test.refusal() == .wrongVersion)
        #expect(try test.versions() == [1, 1, nil, nil])
    }

    @Test("No role goes back in a new snapshot, and none disappears", arguments: [1, nil])
    func rollbackInSnapshot(version: Int?) async throws {
        var test = try TestClient()
        try test.repository.publishAll()
        try await test.refresh()
        test.repository.change("snapshot") { snapshot in
            snapshot["meta"] = version.map { ["targets.json": ["version": $0]] } ?? ["other.json": ["version": 1]]
        }
        try test.repository.publish("snapshot", increment: true)
        try test.repository.publish("timestamp", increment: true)
        #expect(await test.refusal() == (version == nil ? .missingRole : .rolledBack))
        #expect(try test.versions() == [1, 3, 2, 2])
    }

    @Test("Targets of another version than the snapshot says are refused")
    func otherTargets() async throws {
        var test = try TestClient()
        test.repository.change("targets") { $0["version"] = 2 }
        let path = RepositoryFile(kind: .metadata, path: "1.targets.json")
        test.repository.files[path] = try test.repository.signed("targets")
        #expect(await test.refusal() == .wrongVersion)
        #expect(try test.versions() == [1, 1, 1, nil])
    }

    @Test("Expired metadata is refused, whether it is new or kept", arguments: ["timestamp", "snapshot", "targets"])
    func expired(role: String) async throws {
        var test = try TestClient()
        try await test.refresh()
        test.repository.expire(role, at: test.repository.start)
        try test.repository.publishAll()
        #expect(await test.refusal() == .expired)
        #expect(try test.version(of: role == "targets" ? .targets : role == "snapshot" ? .snapshot : .timestamp) == 1)
        // A second before it expires it is good, and then no longer.
        test.repository.expire(role, at: test.repository.start + 10)
        try test.repository.publishAll()
        test.clock.advance(by: .seconds(9.9))
        #expect(await test.refusal() == nil)
        test.clock.advance(by: .seconds(0.1))
        #expect(await test.refusal() == .expired)
    }

    @Test("Expired metadata that was kept still leads to what is new")
    func fromExpired() async throws {
        var test = try TestClient()
        for role in ["timestamp", "snapshot", "targets"] {
            test.repository.expire(role, at: test.repository.start + 7 * 86_400)
        }
        try test.repository.publishAll()
        try await test.refresh()
        for role in ["timestamp", "snapshot", "targets"] {
            test.repository.expire(role, at: test.repository.start + 21 * 86_400)
        }
        try test.repository.publishAll()
        test.clock.advance(by: .seconds(18 * 86_400))
        try await test.refresh()
        #expect(try test.versions() == [1, 3, 3, 3])
    }

    @Test("One update has one time, however long it takes")
    func fixedTime() async throws {
        var test = try TestClient()
        let key = try TestSigner()
        test.repository.delegate(to: "A", key: key, days: 1)
        try test.repository.publishAll()
        let update = try await test.refresh()
        test.clock.advance(by: .seconds(10 * 86_400))
        await #expect(throws: TUFError(.unknownTarget, expected: "", found: "")) { try await update.target("x") }
        #expect(await test.refusal(of: "x") == .expired)
    }
}
