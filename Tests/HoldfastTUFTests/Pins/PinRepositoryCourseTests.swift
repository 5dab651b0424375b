import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// The requirements of `UpdatingStoreTests` in HoldfastTests for stores of every other kind.
@Suite("A repository of pins among stores of every kind", .timeLimit(.minutes(15)))
struct PinRepositoryCourseTests {
    private func text(_ event: StoreEvent) -> String {
        switch event.kind {
        case .updateStarted: "started \(event.updateKind.map { "\($0)" } ?? "")"
        case .updateFinished: "finished \(event.report?.error?.code.rawValue ?? "well")"
        case .replaced: "replaced by \(event.entries ?? -1)\(event.date == nil ? "" : ", dated")"
        case .reset: "reset"
        default: "another event"
        }
    }

    @Test("It is updated, watched, and reset as they are, and says the same of it", arguments: PinScene.Way.allCases)
    func course(way: PinScene.Way) async throws {
        let scene = try PinScene(way)
        scene.provider.fail()
        let pins = try scene.start()
        let store: any UpdatingStore = pins
        #expect(store.name == "repository" && store.state == .absent && store.lastUpdate == nil)
        #expect(store.storageError == nil)
        let events = Lock<[StoreEvent]>([])
        let token = store.addObserver { event in events.withLock { $0.append(event) } }
        let stream = store.events()
        await #expect(throws: StoreError(.networkError, expected: "", found: "")) {
            try await store.update(mode: .forced)
        }
        #expect(store.state == .absent && store.lastUpdate?.error?.code == .networkError)
        #expect((14...60).contains(store.nextUpdate.timeIntervalSince(scene.clock.now)))
        let revision = store.revision
        scene.provider.fail(false)
        #expect(try await store.update(mode: .forced).kind == .direct)
        #expect(store.state == .fresh && store.lastUpdate?.error == nil && store.revision > revision)
        #expect(store.nextUpdate.timeIntervalSince(scene.clock.now) > 600)
        #expect(try await store.update().kind == .noUpdate)
        store.reset()
        #expect(store.state == .absent)
        store.removeObserver(token)
        _ = try? await store.update(mode: .forced)

        let told = events.withLock { $0 }
        #expect(
            told.map { text($0) } == [
                "started direct", "finished networkError", "started direct", "replaced by 2, dated", "finished well",
                "reset",
            ])
        let url = RepositoryProvider.base + (way == .bundle ? "bundle.json" : "metadata")
        #expect(told.allSatisfy { $0.store == "repository" && $0.url?.absoluteString == url && $0.authority == nil })
        // A download of files makes steps of its own between these.
        let revisions = told.map(\.revision)
        #expect(revisions == revisions.sorted() && revisions[0] < revisions[3] && revisions[3] < revisions[5])
        var streamed: [String] = []
        for await event in stream {
            streamed.append(text(event))
            if streamed.count == told.count { break }
        }
        #expect(streamed == told.map { text($0) })
        let levels = scene.log.lines.map { String($0.prefix { $0 != " " }) }
        #expect(levels.contains("info") && levels.contains("debug") && levels.contains("warning"))
    }

    @Test("It runs until it is canceled, and updates when that is due")
    func run() async throws {
        let pins = try PinScene().start()
        let events = pins.events()
        let running = Task { try await pins.run() }
        for await event in events { if event.kind == .updateFinished { break } }
        running.cancel()
        try await running.value
        #expect(pins.state == .fresh)
    }

    @Test("A host that a fresh pin file does not have is no reason to ask before the file is due")
    func absentHost() async throws {
        let scene = try PinScene()
        let pins = try scene.start()
        try await pins.update()
        let before = scene.provider.requests.count
        for _ in 0..<3 {
            let decision = try scene.decision(pins, "new.example.com")
            #expect(decision.failure?.code == .noUsablePins)
            #expect(decision.findings.map(\.absence) == [.notCovered])
        }
        await pins.settle()
        #expect(scene.provider.requests.count == before)
        // A repository that has nothing asks.
        let empty = try PinScene()
        let other = try empty.start()
        #expect(try empty.decision(other, "new.example.com").findings.map(\.absence) == [.empty])
        await other.settle()
        #expect(!empty.provider.requests.isEmpty)
    }
}
