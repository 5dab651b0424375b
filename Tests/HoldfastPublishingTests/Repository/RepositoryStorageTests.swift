import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastPublishing

@Suite("Where a repository is kept", .timeLimit(.minutes(15)))
struct RepositoryStorageTests {
    private let offline = TUFSigningKey()
    private let online = TUFSigningKey()
    private let clock = ManualClock(now: RepositoryScene.start)

    // MARK: The promises

    @Test("A folder keeps what a storage promises, and so does memory")
    func conformance() async throws {
        try await PublicationStorageConformance.check { MemoryStorage() }
        try await withTemporaryFolder { folder in
            try await PublicationStorageConformance.check {
                TUFRepositoryFolder(folder.appending(path: UUID().uuidString))
            }
        }
    }

    /// Breaks one promise each.
    enum Fault: CaseIterable {
        case comparesNothing, comparesLate, listsTooMuch, forgetsRemoval, ignoresLimit, emptyIsAbsent, laterFirst
    }

    @Test("A storage that breaks a promise is found out", arguments: Fault.allCases)
    func faults(_ fault: Fault) async throws {
        let violations = await #expect(throws: PublicationStorageConformance.Violations.self) {
            try await PublicationStorageConformance.check { FaultyStorage(fault) }
        }
        #expect(violations?.violations.isEmpty == false)
    }

    // MARK: Publishing

    @Test("A repository that is kept in memory is prepared, published, renewed, read and planned as one in a folder is")
    func memory() async throws {
        let storage = MemoryStorage()
        #expect(try await !storage.isThere())
        try await begin(storage)
        #expect(try await storage.isThere())
        try await storage.write(try await publication(storage))
        try await storage.verify(at: clock.now)
        clock.advance(by: .seconds(RepositoryScene.day))
        try await storage.write(try await publication(storage, renewing: true))
        try await storage.verify(at: clock.now)
        let state = try await storage.state()
        #expect(state.hasNoDraft && state.live?.timestamp.version == 2)
        #expect(await storage.publishedPins(upTo: 1, backTo: clock.now).count == 1)
        let plan = try await storage.uploadPlan(at: clock.now)
        let timestamp = plan.objects.first { $0.path == "metadata/timestamp.json" }
        #expect(timestamp?.precondition == .unchanged && timestamp?.replaces.count == 1)
        #expect(plan.objects.last?.path == "bundle.json")
    }

    @Test(
        "Whatever write a publication is killed before, clients find a repository that verifies, and the next completes it"
    )
    func killed() async throws {
        let storage = MemoryStorage()
        try await begin(storage)
        try await storage.write(try await publication(storage))
        try await prepare(storage, days: 80)
        clock.advance(by: .seconds(RepositoryScene.day))
        let total = try await {
            let copy = storage.copy
            try await copy.write(try await publication(copy))
            return copy.count
        }()
        #expect(total > 6)
        for allowed in 0..<total {
            let copy = storage.copy
            let publication = try await publication(copy)
            copy.allow(allowed)
            await #expect(throws: TUFRepositoryError.self) { try await copy.write(publication) }
            copy.allow(nil)
            try await verifies(copy)
            try await copy.write(try await self.publication(copy))
            try await copy.verify(at: clock.now)
            #expect(try await copy.state().hasNoDraft)
        }
    }

    @Test("Of two publications of the same state one is published, in whatever order their writes interleave")
    func twoPublishers() async throws {
        let storage = MemoryStorage()
        try await begin(storage)
        try await storage.write(try await publication(storage))
        try await prepare(storage, days: 80)
        clock.advance(by: .seconds(RepositoryScene.day))
        var published = 0
        var refused = 0
        for (renews, others) in [(false, false), (false, true), (true, true), (true, false)] {
            for head in 0..<9 {
                let copy = storage.copy
                let one = try await publication(copy, renewing: renews)
                // The other may have been made before the first write of this one, or after some of them.
                let early = try await publication(copy, renewing: others)
                copy.allow(head)
                try? await copy.write(one)
                copy.allow(nil)
                try await verifies(copy)
                do throws(TUFRepositoryError) {
                    try await copy.write(early)
                    published += 1
                } catch {
                    #expect(error.code == .changedMeanwhile)
                    refused += 1
                }
                try await verifies(copy)
                // The first goes on where it was.
                try? await copy.write(one)
                try await verifies(copy)
                try await copy.write(try await publication(copy))
                try await copy.verify(at: clock.now)
            }
        }
        #expect(published > 0 && refused > 0)
    }

    @Test("A publisher that reads while another writes spoils nothing of it")
    func lateReader() async throws {
        let storage = MemoryStorage()
        try await begin(storage)
        try await storage.write(try await publication(storage))
        for _ in 0..<6 {
            clock.advance(by: .seconds(11 * RepositoryScene.day))
            try await storage.write(try await publication(storage, renewing: true))
        }
        // The next renewal has a snapshot of its own: the first one ends before the timestamp would.
        clock.advance(by: .seconds(12 * RepositoryScene.day))
        for head in 0..<7 {
            let copy = storage.copy
            let first = try await publication(copy, renewing: true)
            copy.allow(head)
            try? await copy.write(first)
            copy.allow(nil)
            #expect(first.objects.contains { $0.path.hasSuffix("snapshot.json") })
            let second = try await publication(copy, renewing: true)
            copy.allow(2)
            try? await copy.write(second)
            copy.allow(nil)
            try? await copy.write(first)
            try await verifies(copy)
        }
    }

    // MARK: Steps

    private func begin(_ storage: some TUFRepositoryStorage) async throws {
        let (rare, daily) = (TUFRoleKeys([offline.publicKey]), TUFRoleKeys([online.publicKey]))
        var state = try TUFRepositoryState(
            roles: [.root: rare, .targets: rare, .snapshot: daily, .timestamp: daily], at: clock.now)
        try state.prepare(pins: try pins(days: 90), at: clock.now)
        _ = try state.sign(by: offline)
        try await storage.writeDrafts(state)
    }

    private func prepare(_ storage: some TUFRepositoryStorage, days: Double) async throws {
        var state = try await storage.state()
        try state.prepare(pins: try pins(days: days), at: clock.now)
        _ = try state.sign(by: offline)
        try await storage.writeDrafts(state)
    }

    private func publication(
        _ storage: some TUFRepositoryStorage, renewing: Bool = false
    ) async throws -> TUFPublication {
        try await TUFPublication.make(
            of: try await storage.state(), in: storage, onlineKeys: [online], includingDrafts: !renewing, at: clock.now)
    }

    /// A new client takes the files, and one the bundle.
    private func verifies(_ storage: some TUFRepositoryStorage) async throws {
        do throws(TUFRepositoryError) {
            try await storage.verify(at: clock.now)
        } catch {
            // The bundle is the last file of a publication.
            #expect(error.code == .outOfStep, "\(error)")
        }
    }

    private func pins(days: Double) throws -> Data {
        func pin(_ octet: UInt8) throws -> Pin {
            try Pin(subject: .publicKey, digest: Array(repeating: octet, count: 32))
        }
        return try PinFile(
            issuedAt: clock.now, notAfter: clock.now.addingTimeInterval(days * RepositoryScene.day),
            refresh: PinFile.Refresh(after: 21_600, grace: 14 * 86_400),
            hosts: [
                try PinFile.Host(
                    try HostPattern(RepositoryScene.host),
                    pins: [PinFile.KeyPin(try pin(1)), try PinFile.KeyPin(try pin(2), state: .backup)])
            ]
        ).json
    }
}

/// A storage in memory that breaks one promise.
private struct FaultyStorage: TUFRepositoryStorage {
    let fault: RepositoryStorageTests.Fault
    private let storage = MemoryStorage()
    private let held = Lock<[String: Data]>([:])

    init(_ fault: RepositoryStorageTests.Fault) { self.fault = fault }

    var name: String { "faulty" }

    func data(at path: String, atMost limit: Int) async throws -> Data? {
        if fault == .laterFirst, path.hasSuffix("timestamp.json") {
            // The last write is visible only to the second read.
            let real = try storage.data(at: path, atMost: limit)
            return held.withLock { held in
                defer { held[path] = real }
                return held[path] ?? real
            }
        }
        let data = try storage.data(at: path, atMost: fault == .ignoresLimit ? .max : limit)
        return fault == .emptyIsAbsent && data?.isEmpty == true ? nil : data
    }

    func names(in folder: String) -> [String] {
        storage.names(in: folder) + (fault == .listsTooMuch && folder == "public" ? ["metadata"] : [])
    }

    func replace(_ path: String, _ old: Data?, with new: Data?) async throws -> Bool {
        switch fault {
        case .comparesNothing:
            _ = try storage.replace(path, try storage.data(at: path, atMost: .max), with: new)
            return true
        case .comparesLate:
            let now = try storage.data(at: path, atMost: .max)
            guard now == old else { return false }
            await Task.yield()
            _ = try storage.replace(path, try storage.data(at: path, atMost: .max), with: new)
            return true
        case .forgetsRemoval where new == nil: return try storage.data(at: path, atMost: .max) == old
        default: return try storage.replace(path, old, with: new)
        }
    }
}
