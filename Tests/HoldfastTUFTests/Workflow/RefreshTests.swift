import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("Refreshing the top-level roles (sections 5.1 to 5.6)", .timeLimit(.minutes(15)))
struct RefreshTests {
    @Test("The first refresh asks for what the workflow needs, in its order, and keeps it as it was served")
    func first() async throws {
        let test = try TestClient()
        try await test.refresh()
        #expect(test.source.asked() == ["2.root.json", "timestamp.json", "1.snapshot.json", "1.targets.json"])
        for role in [RoleName.timestamp, .snapshot, .targets] {
            let kept = test.store.data(of: StoredMetadataName(role), atMost: .max)
            let path = role == .timestamp ? "timestamp.json" : "1.\(role.text).json"
            #expect(kept == test.repository.served(path))
        }
    }

    @Test("The next refresh asks for nothing that is there already and still matches")
    func second() async throws {
        var test = try TestClient()
        try await test.refresh()
        _ = test.source.asked()
        try await test.refresh()
        #expect(test.source.asked() == ["2.root.json", "timestamp.json"])

        try test.repository.publish("timestamp", increment: true)
        try await test.refresh()
        #expect(test.source.asked() == ["2.root.json", "timestamp.json"])

        try test.repository.publish("snapshot", increment: true)
        try test.repository.publish("timestamp", increment: true)
        try await test.refresh()
        #expect(test.source.asked() == ["2.root.json", "timestamp.json", "2.snapshot.json"])
    }

    @Test(
        "Without consistent snapshots, or a word about them, only roots have their version in front",
        arguments: [false, nil])
    func inconsistent(_ isConsistent: Bool?) async throws {
        let test = try TestClient(TestRepository(consistent: isConsistent))
        try await test.refresh()
        #expect(test.source.asked() == ["2.root.json", "timestamp.json", "snapshot.json", "targets.json"])
    }

    @Test("Initializing asks for nothing, and refuses a root that is not signed by itself")
    func initializing() async throws {
        var test = try TestClient(initialized: false)
        #expect(await test.refusal() == .noTrustedRoot)
        test.repository.signers["root"] = [try TestSigner()]
        #expect(throws: TUFError(.notSigned, expected: "", found: "")) {
            try test.client.initialize(root: try test.repository.signed("root"))
        }
        #expect(test.source.asked().isEmpty)
    }

    @Test("Lengths and hashes of metadata are checked where they are given", arguments: ["snapshot", "targets"])
    func descriptions(role: String) async throws {
        var test = try TestClient()
        test.repository.describesFiles = true
        try test.repository.publishAll()
        try await test.refresh()
        #expect(try test.versions() == [1, 2, 2, 2])
        try test.repository.publishAll()
        // The same, signed and valid, in other bytes.
        let path = "3.\(role).json"
        let other = try #require(test.repository.served(path)) + Data(" ".utf8)
        test.repository.files[RepositoryFile(kind: .metadata, path: path)] = other
        #expect(await test.refusal() == .tooLarge)
        let shorter = try #require(test.repository.served(path)).dropLast(2)
        test.repository.files[RepositoryFile(kind: .metadata, path: path)] = Data(shorter)
        #expect(await test.refusal() == .mismatch)
    }

    @Test("A kept snapshot whose hash is not the timestamp's is asked for again, and still guards against rollback")
    func keptSnapshot() async throws {
        var test = try TestClient()
        try await test.refresh()
        test.repository.describesFiles = true
        try test.repository.publish("snapshot", increment: true)
        try test.repository.publish("timestamp", increment: true)
        try await test.refresh()
        let name = StoredMetadataName(.snapshot)
        let kept = try #require(test.store.data(of: name, atMost: .max))
        _ = test.store.replace(name, kept, with: kept + Data(" ".utf8), atMost: .max)
        _ = test.source.asked()
        try await test.refresh()
        #expect(test.source.asked() == ["2.root.json", "timestamp.json", "2.snapshot.json"])
    }

    @Test("What is kept is not trusted because it is there", arguments: ["timestamp", "snapshot", "targets"])
    func keptFiles(role: String) async throws {
        let test = try TestClient()
        try await test.refresh()
        var forged = test.repository
        forged.signers[role] = [try TestSigner()]
        forged.change(role) { $0["version"] = 100 }
        let name: RoleName = role == "timestamp" ? .timestamp : role == "snapshot" ? .snapshot : .targets
        let kept = test.store.data(of: StoredMetadataName(name), atMost: .max)
        for content in [try forged.signed(role), Data("{}".utf8), Data(), Data(repeating: 0x5B, count: 10_000)] {
            let before = test.store.data(of: StoredMetadataName(name), atMost: .max)
            _ = test.store.replace(StoredMetadataName(name), before, with: content, atMost: .max)
            try await test.refresh()
            #expect(test.store.data(of: StoredMetadataName(name), atMost: .max) == kept)
        }
    }

    @Test("Files of another role, however well signed, are refused", arguments: ["timestamp", "snapshot", "targets"])
    func wrongType(role: String) async throws {
        var test = try TestClient()
        test.repository.change(role) { $0["_type"] = role == "targets" ? "snapshot" : "targets" }
        try test.repository.publish(role)
        #expect(await test.refusal() == .wrongType)
    }

    @Test(
        "The server's failure leaves the last trusted state, and the next refresh goes on from there",
        arguments: [
            ("timestamp.json", [1, 1, 1, 1]), ("2.snapshot.json", [1, 2, 1, 1]), ("2.targets.json", [1, 2, 2, 1]),
        ] as [(String, [Int?])])
    func unavailable(path: String, versions: [Int?]) async throws {
        var test = try TestClient()
        try await test.refresh()
        try test.repository.publishAll()
        let missing = RepositoryFile(kind: .metadata, path: path)
        let data = test.repository.files.removeValue(forKey: missing)
        #expect(await test.refusal() == .unavailable)
        #expect(try test.versions() == versions)
        test.repository.files[missing] = data
        try await test.refresh()
        #expect(try test.versions() == [1, 2, 2, 2])
    }

    @Test("Another update of the same folder in between is noticed and not overwritten")
    func changedMeanwhile() async throws {
        let test = try TestClient()
        let racing = RacingStore(test.store, at: StoredMetadataName(.timestamp))
        let client = TUFClient(store: racing, source: test.source, clock: test.clock)
        await #expect(throws: TUFError(.changedMeanwhile, expected: "", found: "")) { try await client.refresh() }
        #expect(test.store.data(of: StoredMetadataName(.timestamp), atMost: .max) == Data("newer".utf8))
    }

    @Test("A disk that is full ends the update, with what was trusted before still there")
    func fullDisk() async throws {
        var test = try TestClient()
        try await test.refresh()
        try test.repository.publishAll()
        test.source.serve(test.repository)
        for role in [RoleName.timestamp, .snapshot, .targets] {
            let full = FullStore(test.store, at: StoredMetadataName(role))
            let client = TUFClient(store: full, source: test.source, clock: test.clock)
            await #expect(throws: TUFError(.storage, expected: "", found: "")) { try await client.refresh() }
            #expect(try test.version(of: role) == 1)
        }
        try await test.refresh()
        #expect(try test.versions() == [1, 2, 2, 2])
    }
}

/// Changes a file after it was read, as another process would.
private struct RacingStore: MetadataStore {
    let store: MetadataMemory
    let name: StoredMetadataName

    init(_ store: MetadataMemory, at name: StoredMetadataName) {
        self.store = store
        self.name = name
    }

    func data(of name: StoredMetadataName, atMost limit: Int) -> Data? {
        let data = store.data(of: name, atMost: limit)
        if name == self.name { _ = store.replace(name, data, with: Data("newer".utf8), atMost: limit) }
        return data
    }

    func replace(_ name: StoredMetadataName, _ old: Data?, with new: Data?, atMost limit: Int) -> Bool {
        store.replace(name, old, with: new, atMost: limit)
    }
}

/// Keeps nothing more under one name.
private struct FullStore: MetadataStore {
    let store: MetadataMemory
    let name: StoredMetadataName

    init(_ store: MetadataMemory, at name: StoredMetadataName) {
        self.store = store
        self.name = name
    }

    func data(of name: StoredMetadataName, atMost limit: Int) -> Data? { store.data(of: name, atMost: limit) }

    func replace(_ name: StoredMetadataName, _ old: Data?, with new: Data?, atMost limit: Int) throws -> Bool {
        guard name != self.name else { throw CocoaError(.fileWriteOutOfSpace) }
        return store.replace(name, old, with: new, atMost: limit)
    }
}
