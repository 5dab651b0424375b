import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Kinds of updates", .timeLimit(.minutes(15)))
struct CertStoreKindTests {
    @Test("Fallback entries never count as stored: with them alone an update is direct, however long they are valid")
    func fallback() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.fallbackCertificateData = try fixture.list([(StoreFixture.name, 1, days: 1_000)])
        let store = fixture.store()
        #expect(store.judge(1) == .trusted)
        let failure = await store.updateError(.default)
        #expect(failure?.code == .networkError && fixture.provider.requests.count == 1)
        // The last thing that is known to be good stays.
        #expect(store.judge(1) == .trusted)
        try fixture.publish([(StoreFixture.name, 2, days: 100)])
        #expect(try await store.update().kind == .direct)
        #expect(store.judge(2) == .trusted && store.judge(1) == .untrusted)
    }

    @Test("Whoever updates is told how: direct, silent or not at all; observers learn of each download's start and end")
    func kinds() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, days: 100)])
        let store = fixture.store()
        let told = Lock<[String]>([])
        let observation = store.addObserver { event in
            let kind = event.updateKind?.rawValue ?? ""
            if event.kind == .updateStarted { told.withLock { $0.append("start \(kind)") } }
            if let report = event.report { told.withLock { $0.append("end \(kind) \(report.result.rawValue)") } }
        }
        defer { withExtendedLifetime(observation) {} }
        #expect(try await store.update().kind == .direct)
        #expect(try await store.update().kind == .noUpdate)
        fixture.clock.set(store.nextUpdate)
        _ = try await store.finishedUpdate {
            let report = try await store.update()
            #expect(report.kind == .silent)
        }
        #expect(try await store.update(mode: .forced).kind == .direct)
        #expect(
            told.withLock { $0 } == [
                "start direct", "end direct ok", "start silent", "end silent ok", "start direct", "end direct ok",
            ])
    }
}
