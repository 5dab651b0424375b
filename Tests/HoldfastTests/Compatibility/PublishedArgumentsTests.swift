import Dispatch
import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

/// Arguments of published calls other than settings: a test here fails if one is ignored.
@Suite("Arguments of published calls", .timeLimit(.minutes(10)))
struct PublishedArgumentsTests {
    /// Whether the closure of an update is called on a queue; nil if it is not called in time.
    private func isCalled(
        on queue: DispatchQueue, by store: CertStore, _ mode: StoreUpdateMode
    ) async -> Bool? {
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let called = Task {
            await withCheckedContinuation { continuation in
                store.update(mode: mode, completionQueue: queue) { _, _ in
                    continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true)
                }
            }
        }
        return await TimeLimit.value(of: called, within: .seconds(60))
    }

    @Test("The closure of an update is called on the queue that is given, whatever becomes of the update")
    func completionQueue() async throws {
        let queue = DispatchQueue(label: "holdfast.tests.completion")
        var fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, 100)])
        let store = fixture.store()
        // After a download, without one, after one that failed, and because of the configuration.
        #expect(await isCalled(on: queue, by: store, .forced) == true)
        #expect(await isCalled(on: queue, by: store, .default) == true)
        #expect(fixture.provider.requests.count == 1)
        fixture.provider.answer { _ in throw RemoteDataError(status: 503) }
        #expect(await isCalled(on: queue, by: store, .forced) == true)
        fixture.configuration.publicKey = "no key"
        #expect(await isCalled(on: queue, by: fixture.store(), .default) == true)
    }

    @Test("An update without a mode downloads nothing as long as none is due")
    func usualMode() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, 100)])
        let store = fixture.store()
        for _ in 0..<2 {
            let called = Task {
                await withCheckedContinuation { continuation in
                    store.update(completionQueue: .global()) { result, _ in continuation.resume(returning: result) }
                }
            }
            #expect(await TimeLimit.value(of: called, within: .seconds(60)) == .ok)
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
