import Dispatch
import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Updates of a store", .timeLimit(.minutes(15)))
struct CertStoreUpdateTests {
    @Test("Without a stored list an update is direct: it completes after the download")
    func direct() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        let store = fixture.store()
        let report = try await store.update()
        #expect(report.kind == .direct && report.result == .ok && report.error == nil)
        #expect(store.judge(1) == .trusted && fixture.provider.requests.count == 1)
        #expect(store.lastUpdate?.result == .ok)
    }

    @Test("While no update is due there is no request, unless it is forced")
    func notDue() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        let store = fixture.store()
        try await store.update()
        #expect(try await store.update().kind == .noUpdate)
        #expect(fixture.provider.requests.count == 1)
        #expect(try await store.update(mode: .forced).kind == .direct)
        #expect(fixture.provider.requests.count == 2)
    }

    @Test("When an update is due it is silent: ok at once, the download behind it")
    func silent() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        let store = fixture.store()
        try await store.update()
        let next = store.nextUpdate.timeIntervalSince(fixture.clock.now)
        #expect(next <= 7 * 86_400 && next >= 7 * 86_400 * 0.8)
        fixture.clock.set(store.nextUpdate)
        let gate = Gate()
        let new = try fixture.list([("www.example.com", 2, 100)])
        fixture.provider.answer { _ in
            await gate.wait()
            return RemoteDataResponse(.body(new))
        }
        let report = await store.finishedUpdate {
            let now = await store.updateKind()
            #expect(now == .silent && store.judge(1) == .trusted)
            gate.open()
        }
        #expect(report?.kind == .silent && report?.result == .ok)
        #expect(store.judge(1) == .untrusted && store.judge(2) == .trusted)
        #expect(store.lastUpdate?.kind == .silent)
    }

    @Test("With every entry expired an update is direct")
    func expired() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 1)])
        let store = fixture.store()
        try await store.update()
        fixture.clock.advance(by: .seconds(2 * 86_400))
        try fixture.publish([("www.example.com", 2, 100)])
        #expect(try await store.update().kind == .direct)
        #expect(store.judge(2) == .trusted)
    }

    @Test("A document whose every entry has expired is fetched and verified, and the store is empty")
    func storeIsEmpty() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, -1)])
        let store = fixture.store()
        let error = await store.updateError()
        #expect(error?.code == .storeIsEmpty && store.lastUpdate?.result == .storeIsEmpty)
        #expect(store.judge(1) == .empty)
    }

    @Test("A failed download, bad data and a bad signature are told apart, and the last good pins stay")
    func failures() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        let store = fixture.store()
        try await store.update()
        let foreign = DocumentSigner()
        let signed = try foreign.list([foreign.entry("www.example.com", .fingerprint(2), StoreFixture.start + 1)])
        for (answer, code) in [
            (nil, .networkError), (Data("not JSON".utf8), .invalidData), (signed, .invalidSignature),
        ] as [(Data?, StoreError.Code)] {
            if let answer {
                fixture.provider.answer(answer)
            } else {
                fixture.provider.answer { _ in throw RemoteDataError(status: 500) }
            }
            let error = await store.updateError()
            #expect(error?.code == code && error?.underlying != nil)
            #expect(store.lastUpdate?.result.rawValue == code.rawValue && store.lastUpdate?.error?.code == code)
            #expect(store.judge(1) == .trusted && store.judge(2) == .untrusted)
        }
    }

    @Test("One changed byte in one entry rejects the whole document")
    func oneBadEntry() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("a.example.com", 1, 100)])
        let store = fixture.store()
        try await store.update()
        let text = String(
            decoding: try fixture.list([("a.example.com", 2, 100), ("b.example.com", 3, 100)]), as: UTF8.self)
        fixture.provider.answer(Data(text.replacingOccurrences(of: "b.example", with: "c.example").utf8))
        #expect(await store.updateError()?.code == .invalidSignature)
        #expect(store.judge("a.example.com", 1) == .trusted && store.judge("a.example.com", 2) == .untrusted)
    }

    @Test("A new document replaces the old one: an entry that left it is no longer trusted")
    func replacement() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100), ("www.example.com", 2, 100)])
        let store = fixture.store()
        try await store.update()
        try fixture.publish([("www.example.com", 2, 100), ("new.example.com", 3, 100)])
        try await store.update(mode: .forced)
        #expect(
            store.judge(1) == .untrusted && store.judge(2) == .trusted && store.judge("new.example.com", 3) == .trusted)
        #expect(store.entryCount == 2)
    }

    @Test("A clock that was ahead for a while puts no update off for long once it is right again")
    func clockAhead() async throws {
        for failsMeanwhile in [true, false] {
            let fixture = try StoreFixture()
            let start = fixture.clock.now
            try fixture.publish([("www.example.com", 1, 5_000)])
            let store = fixture.store()
            try await store.update()
            fixture.clock.advance(by: .seconds(4_000 * 86_400))
            if failsMeanwhile { fixture.provider.answer { _ in throw RemoteDataError(status: 503) } }
            _ = await store.updateError()
            fixture.clock.set(start.addingTimeInterval(86_400))
            #expect(store.judge(1) == .trusted)
            try fixture.publish([("www.example.com", 1, 5_000), ("www.example.com", 2, 5_000)])
            // After the failure the renewal is not due yet; what there was to wait for is over.
            #expect(failsMeanwhile || store.documents.wait(at: fixture.clock.now) == 0)
            fixture.clock.set(start.addingTimeInterval(8 * 86_400))
            #expect(store.documents.wait(at: fixture.clock.now) == 0)
            var kind: StoreUpdateKind?
            let report = try await store.finishedUpdate { kind = try await store.update().kind }
            #expect(kind == .silent)
            #expect(report?.error == nil && store.judge(2) == .trusted)
        }
    }

    @Test("A mismatch is followed by an update also when an earlier one failed under a clock that was ahead")
    func mismatchAfterClockAhead() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.updatesOnMismatch = true
        let start = fixture.clock.now
        try fixture.publish([("www.example.com", 1, 5_000)])
        let store = fixture.store()
        try await store.update()
        fixture.clock.advance(by: .seconds(4_000 * 86_400))
        fixture.provider.answer { _ in throw RemoteDataError(status: 503) }
        _ = await store.updateError()
        fixture.clock.set(start.addingTimeInterval(86_400))
        try fixture.publish([("www.example.com", 2, 5_000)])
        let report = await store.finishedUpdate { #expect(store.judge(2) == .untrusted) }
        #expect(report?.error == nil && store.judge(2) == .trusted)
    }

    @Test(
        "A static list that is empty, or leaves a name without its unexpired entries, is refused unless the app forces it"
    )
    func lossOfPins() async throws {
        for isForced in [false, true] {
            var fixture = try StoreFixture()
            fixture.configuration.acceptsLossOfPins = isForced
            try fixture.publish([("a.example.com", 1, 100), ("b.example.com", 2, 100), ("old.example.com", 3, 1)])
            let store = fixture.store()
            try await store.update()
            fixture.clock.advance(by: .seconds(2 * 86_400))
            // A name whose entries have all expired may go.
            try fixture.publish([("a.example.com", 1, 100), ("b.example.com", 2, 100)])
            #expect(await store.updateError() == nil)
            for list in [
                [("a.example.com", 1, 100)], [("a.example.com", 1, 100), ("b.example.com", 2, 1)], [],
            ] as [[(String, UInt8, days: Int64)]] {
                try fixture.publish(list)
                let error = await store.updateError()
                if isForced {
                    #expect(error?.code == (list.isEmpty ? .storeIsEmpty : nil))
                    #expect(store.entryCount == list.count)
                } else {
                    #expect(error?.code == .invalidData && store.judge("b.example.com", 2) == .trusted)
                    let code: DocumentError.Code = list.isEmpty ? .emptyList : .losesPins
                    #expect((error?.underlying as? DocumentError)?.code == code)
                }
            }
        }
    }

    @Test("domainsConfig of a static list is reported and not followed")
    func unsignedDomains() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.allowsDocumentsToDisablePinning = true
        try fixture.publish(
            [("www.example.com", 1, 100)], more: #","domainsConfig":{"sslPinningRequiredForUnlisted":false}"#)
        let store = fixture.store()
        let isReported = Lock(false)
        store.addObserver { event in
            if event.kind == .unsignedDomainsConfigurationIgnored { isReported.withLock { $0 = true } }
        }
        try await store.update()
        #expect(isReported.withLock { $0 })
        #expect(!store.snapshot.isExempt(try DialedHost("other.example.com")))
    }

    @Test("Updates at the same time share one download")
    func singleFlight() async throws {
        let fixture = try StoreFixture()
        let (gate, list) = (Gate(), try fixture.list([("www.example.com", 1, 100)]))
        fixture.provider.answer { _ in
            await gate.wait()
            return RemoteDataResponse(.body(list))
        }
        let store = fixture.store()
        let begun = store.events()
        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { await store.updateError() == nil } }
            for await event in begun { if event.kind == .updateStarted { break } }
            gate.open()
            for await isUpdated in group { #expect(isUpdated) }
        }
        // Those that came after the end found the store up to date or forced one more each; none ran beside another.
        #expect(fixture.provider.requests.count <= 20 && store.judge(1) == .trusted)
        let count = fixture.provider.requests.count
        let second = Gate()
        fixture.provider.answer { _ in
            await second.wait()
            return RemoteDataResponse(.body(list))
        }
        let tasks = (0..<20).map { _ in store.documents.join(.direct) }
        second.open()
        for task in tasks { _ = await task.value }
        #expect(fixture.provider.requests.count == count + 1)
    }

    @Test("Failures back off, visibly: nothing silent is asked for before the time, and success ends it")
    func backOff() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        let store = fixture.store()
        try await store.update()
        fixture.clock.set(store.nextUpdate)
        fixture.provider.answer { _ in throw RemoteDataError(status: 503) }
        var waits: [TimeInterval] = []
        for failures in 1...9 {
            let report = await store.finishedUpdate { #expect(await store.updateKind() == .silent) }
            #expect(report?.result == .networkError)
            let wait = store.nextUpdate.timeIntervalSince(fixture.clock.now)
            let full = min(3_600, 30 * Double(1 << (failures - 1)))
            #expect(wait >= full / 2 && wait <= full)
            waits.append(wait)
            #expect(await store.updateKind() == .noUpdate)
            fixture.clock.set(store.nextUpdate)
        }
        #expect(fixture.provider.requests.count == 10 && Set(waits).count == 9)
        try fixture.publish([("www.example.com", 1, 100)])
        _ = await store.finishedUpdate { _ = await store.updateKind() }
        #expect(store.nextUpdate.timeIntervalSince(fixture.clock.now) > 86_400)
    }

    @Test("Documents that have expired back off as failures do")
    func backOffWhenExpired() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, -1)])
        let store = fixture.store()
        for failures in 1...3 {
            #expect(await store.updateError()?.code == .storeIsEmpty)
            let wait = store.nextUpdate.timeIntervalSince(fixture.clock.now)
            #expect(wait <= 30 * Double(1 << (failures - 1)) && wait >= 15 * Double(1 << (failures - 1)))
        }
    }

    @Test(
        "The server is asked with its entity tag; an unchanged document stays and is due later",
        arguments: [true, false])
    func entityTag(isReloaded: Bool) async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)], headers: ["etag": "\"v1\""])
        var store = fixture.store()
        try await store.update()
        #expect(fixture.provider.requests.last?.headers["If-None-Match"] == nil)
        if isReloaded { store = fixture.store() }
        fixture.clock.set(store.nextUpdate)
        fixture.provider.answer { _ in RemoteDataResponse(.notModified) }
        #expect(try await store.update(mode: .forced).result == .ok)
        #expect(fixture.provider.requests.last?.headers["If-None-Match"] == "\"v1\"")
        #expect(store.judge(1) == .trusted && store.nextUpdate.timeIntervalSince(fixture.clock.now) > 86_400)
    }

    @Test("An unchanged document that nobody asked about is an error")
    func unaskedNotModified() async throws {
        let fixture = try StoreFixture()
        fixture.provider.answer { _ in RemoteDataResponse(.notModified) }
        #expect(await fixture.store().updateError()?.code == .networkError)
    }

    @Test("The published update completes on the queue it was given, once, with result and error")
    func published() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        let store = fixture.store()
        let queue = DispatchQueue(label: "completions")
        func update(_ mode: StoreUpdateMode) async -> (CertStore.UpdateResult, String?) {
            await withCheckedContinuation { continuation in
                store.update(mode: mode, completionQueue: queue) { result, error in
                    dispatchPrecondition(condition: .onQueue(queue))
                    continuation.resume(returning: (result, error.map { "\($0)" }))
                }
            }
        }
        #expect(await update(.default) == (.ok, nil))
        #expect(await update(.default) == (.ok, nil))
        #expect(fixture.provider.requests.count == 1)
        fixture.provider.answer { _ in throw RemoteDataError(status: 404) }
        let (result, error) = await update(.forced)
        #expect(result == .networkError && error?.contains("404") == true)
    }

    @Test("A reset empties the store and its storage; an update under way stores nothing")
    func reset() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        let store = fixture.store()
        try await store.update()
        store.reset()
        #expect(store.judge(1) == .empty && fixture.storage.loadData(forKey: "default") == nil)
        let (gate, list) = (Gate(), try fixture.list([("www.example.com", 1, 100)]))
        fixture.provider.answer { _ in
            await gate.wait()
            return RemoteDataResponse(.body(list))
        }
        let task = store.documents.join(.direct)
        store.reset()
        gate.open()
        #expect(await task.value.error?.code == .reset)
        #expect(store.judge(1) == .empty && fixture.storage.loadData(forKey: "default") == nil)
        try await store.update()
        #expect(store.judge(1) == .trusted)
    }

    @Test("An observer may reset the store on what it learns")
    func resetWithinObserver() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        let store = fixture.store()
        store.addObserver { event in if event.kind == .replaced { store.reset() } }
        _ = await store.updateError()
        #expect(store.judge(1) == .empty)
    }

    @Test(
        "A mismatch starts an update when the configuration asks for it, at most every 15 minutes",
        arguments: [true, false])
    func mismatch(isAsked: Bool) async throws {
        var fixture = try StoreFixture()
        fixture.configuration.updatesOnMismatch = isAsked
        try fixture.publish([("www.example.com", 1, 100)])
        let store = fixture.store()
        try await store.update()
        try fixture.publish([("www.example.com", 2, 100)])
        guard isAsked else {
            #expect(store.judge(2) == .untrusted)
            #expect(!store.documents.isUpdating && fixture.provider.requests.count == 1)
            return
        }
        _ = await store.finishedUpdate { #expect(store.judge(2) == .untrusted) }
        #expect(store.judge(2) == .trusted && fixture.provider.requests.count == 2)
        fixture.clock.advance(by: .seconds(899))
        #expect(store.judge(3) == .untrusted)
        #expect(!store.documents.isUpdating && fixture.provider.requests.count == 2)
        fixture.clock.advance(by: .seconds(1))
        _ = await store.finishedUpdate { #expect(store.judge(3) == .untrusted) }
        #expect(fixture.provider.requests.count == 3)
    }

    @Test("Eight threads that validate while updates arrive see the old list or the new one, whole")
    func consistency() async throws {
        let fixture = try StoreFixture()
        // In each list a and b have the same fingerprint; a snapshot with two would be torn.
        let lists = try (1...2).map { number in
            try fixture.list([("a.example.com", UInt8(number), 100), ("b.example.com", UInt8(number), 100)])
        }
        fixture.provider.answer(lists[0])
        let store = fixture.store()
        try await store.update()
        let watch = Watch()
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            watch.look(at: store)
                            continuation.resume()
                        }
                    }
                }
            }
            for round in 0..<60 {
                fixture.provider.answer(lists[round % 2])
                #expect(await store.updateError() == nil)
            }
            watch.isOver.withLock { $0 = true }
        }
        watch.seen.withLock { #expect($0.torn == 0 && $0.old > 0 && $0.new > 0) }
    }

    private final class Watch: Sendable {
        let isOver = Lock(false)
        let seen = Lock<(old: Int, new: Int, torn: Int)>((0, 0, 0))

        func look(at store: CertStore) {
            while !isOver.withLock({ $0 }) {
                let snapshot = store.snapshot
                let results = ["a.example.com", "b.example.com"].map {
                    snapshot.result(
                        name: $0, fingerprint: Data.fingerprint(1), depth: 0, at: Date(wholeSeconds: StoreFixture.start)
                    )
                }
                let isEmpty = store.judge("a.example.com", 1) == .empty
                seen.withLock { seen in
                    switch results {
                    case _ where isEmpty: seen.torn += 1
                    case [.trusted, .trusted]: seen.old += 1
                    case [.untrusted, .untrusted]: seen.new += 1
                    default: seen.torn += 1
                    }
                }
                sched_yield()  // The updates need a core too.
            }
        }
    }
}

extension CertStore {
    /// The kind of a default update; nil if it fails.
    func updateKind() async -> StoreUpdateKind? { try? await update().kind }
}
