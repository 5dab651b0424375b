import Dispatch
import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

/// Arguments of published calls other than settings: a test here fails if one is ignored.
@Suite("Arguments of published calls", .timeLimit(.minutes(10)))
struct PublishedArgumentsTests {
    /// Whether the closure of an update is called on a queue.
    private func isCalled(on queue: DispatchQueue, by store: CertStore, _ mode: StoreUpdateMode) async -> Bool {
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let answer = FirstAnswer<Bool>()
        store.update(mode: mode, completionQueue: queue) { _, _ in
            answer.settle(DispatchQueue.getSpecific(key: key) == true)
        }
        return await answer.value
    }

    @Test("The closure of an update is called on the queue that is given, whatever becomes of the update")
    func completionQueue() async throws {
        let queue = DispatchQueue(label: "holdfast.tests.completion")
        var fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, 100)])
        let store = fixture.store()
        // After a download, without one, after one that failed, and because of the configuration.
        #expect(await isCalled(on: queue, by: store, .forced))
        #expect(await isCalled(on: queue, by: store, .default))
        #expect(fixture.provider.requests.count == 1)
        fixture.provider.answer { _ in throw RemoteDataError(status: 503) }
        #expect(await isCalled(on: queue, by: store, .forced))
        fixture.configuration.publicKey = "no key"
        #expect(await isCalled(on: queue, by: fixture.store(), .default))
    }

    /// How often the closure of an update is called until its queue has nothing more to do.
    private func calls(by store: CertStore, _ mode: StoreUpdateMode) async -> Int {
        let (queue, first, calls) = (DispatchQueue(label: "holdfast.tests.calls"), FirstAnswer<Void>(), Lock(0))
        store.update(mode: mode, completionQueue: queue) { _, _ in
            calls.withLock { $0 += 1 }
            first.settle(())
        }
        await first.value
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        return calls.withLock { $0 }
    }

    @Test("The closure of an update is called once, and never before the update has returned")
    func calledOnce() async throws {
        var fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, 100)])
        let store = fixture.store()
        // After a download, without one, beside one in the background, after one that failed, and in a wrong store.
        #expect(await calls(by: store, .forced) == 1)
        #expect(await calls(by: store, .default) == 1)
        fixture.clock.set(store.nextUpdate)
        let (gate, list) = (Gate(), try fixture.list([(StoreFixture.name, 1, 100)]))
        fixture.provider.answer { _ in
            await gate.wait()
            return RemoteDataResponse(.body(list))
        }
        _ = try await store.finishedUpdate {
            #expect(await calls(by: store, .default) == 1)
            let isUpdating = store.documents.isUpdating
            gate.open()
            try #require(isUpdating)
        }
        fixture.provider.answer { _ in throw RemoteDataError(status: 503) }
        #expect(await calls(by: store, .forced) == 1)
        fixture.configuration.publicKey = "no key"
        let wrong = fixture.store()
        #expect(await calls(by: wrong, .default) == 1)
        // Were it called by update itself, that would be on the thread that waits here.
        let queue = DispatchQueue(label: "holdfast.tests.order")
        for (store, mode) in [(store, .default), (store, .forced), (wrong, .default)]
            as [(CertStore, StoreUpdateMode)]
        {
            let (isReturned, answer) = (Lock(false), FirstAnswer<Bool>())
            queue.sync {
                store.update(mode: mode, completionQueue: queue) { _, _ in
                    answer.settle(isReturned.withLock { $0 })
                }
                isReturned.withLock { $0 = true }
            }
            #expect(await answer.value)
        }
    }

    @Test("An update without a mode downloads nothing as long as none is due")
    func usualMode() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, 100)])
        let store = fixture.store()
        for _ in 0..<2 {
            let answer = FirstAnswer<CertStore.UpdateResult>()
            store.update(completionQueue: .global()) { result, _ in answer.settle(result) }
            #expect(await answer.value == .ok)
        }
        #expect(fixture.provider.requests.count == 1 && store.judge(1) == .trusted)
    }

    @Test("A store with nothing but a configuration keeps files, downloads by URLSession, and has the system's time")
    func usualParts() throws {
        var configuration = try StoreFixture().configuration
        // Its key in the storage of whoever runs the tests.
        configuration.identifier = UUID().uuidString
        let parts = CertStore(configuration: configuration).documents
        #expect((parts.dataStore as? FileDataStore)?.folder == FileDataStore.defaultFolder)
        #expect(parts.provider is URLSessionDataProvider && parts.clock is SystemWallClock)
    }

    @Test("A shared store writes to the log that it was made with, and keeps it when it is asked for again")
    func sharedLog() async throws {
        let fixture = try TrustServerStoreFixture()
        fixture.fail()
        let logs = [RecordingLog(), RecordingLog()]
        let stores = try logs.map {
            try TrustServerStore.shared(
                configuration: try fixture.configuration(), clock: fixture.clock, logger: $0.logger)
        }
        #expect(stores[0] === stores[1])
        await #expect(throws: StoreError.self) { try await stores[1].update(mode: .forced) }
        #expect(!logs[0].lines.isEmpty && logs[1].lines.isEmpty)
    }
}
