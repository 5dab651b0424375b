import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Stores of a trust server", .timeLimit(.minutes(15)))
struct TrustServerStoreTests {
    @Test("A document is downloaded, verified and kept: after a restart it counts without a request")
    func kept() async throws {
        let fixture = try TrustServerStoreFixture()
        try fixture.publish()
        let store = try fixture.store()
        #expect(store.state == .absent && store.timestamp == nil)
        #expect(try await store.update().kind == .direct)
        #expect(store.state == .fresh && store.timestamp == fixture.clock.now && store.storageError == nil)
        #expect(fixture.provider.requests.map(\.url) == [fixture.url])
        #expect(fixture.provider.requests.map(\.sslValidationStrategy) == [.default])
        let restarted = try fixture.store()
        #expect(restarted.state == .fresh && restarted.timestamp == fixture.clock.now)
        #expect(fixture.provider.requests.count == 1)
    }

    @Test("What was changed in the storage, or signed by somebody else, is no document after a restart")
    func changedStorage() async throws {
        let fixture = try TrustServerStoreFixture()
        try fixture.publish()
        let store = try fixture.store()
        try await store.update()
        let key = store.documents.format.storageKey
        var record = try #require(fixture.storage.loadData(forKey: key).flatMap { StoredRecord($0) })
        record.body = try fixture.document(by: TestTrustServer(clock: fixture.clock))
        _ = fixture.storage.save(data: record.data, forKey: key)
        let restarted = try fixture.store()
        #expect(restarted.state == .absent && restarted.storageError?.documentCode != nil)
        _ = fixture.storage.save(data: Data("x".utf8), forKey: key)
        #expect(try fixture.store().storageError?.code == .damagedStorage)
    }

    @Test("A download may be ten minutes old and no older; one that is changes nothing")
    func staleDownload() async throws {
        let fixture = try TrustServerStoreFixture()
        let store = try fixture.store()
        try fixture.publish(age: 601)
        #expect(await store.updateError()?.documentCode == .outdated)
        #expect(store.state == .absent)
        try fixture.publish(age: 600)
        #expect(await store.updateError() == nil)
        #expect(store.state == .fresh)
        let timestamp = store.timestamp
        fixture.clock.advance(by: .seconds(1_000))
        try fixture.publish(age: 601)
        #expect(await store.updateError()?.documentCode == .outdated)
        #expect(store.timestamp == timestamp && store.state == .fresh)
    }

    @Test(
        "A timestamp ahead of the clock counts, is reported, and raises the trusted time by a day at most",
        arguments: [60, 86_400, 400 * 86_400, 1_900_000_000 * 999] as [TimeInterval])
    func futureTimestamp(lead: TimeInterval) async throws {
        let fixture = try TrustServerStoreFixture()
        let store = try fixture.store()
        let now = fixture.clock.now
        let events = store.events()
        try fixture.publish(age: -lead)
        #expect(await store.updateError() == nil)
        store.reset()
        var reported: Duration?
        for await event in events {
            if event.kind == .issuedAheadOfClock { reported = event.span }
            if event.kind == .reset { break }
        }
        #expect(reported == .seconds(lead))
        #expect(await store.updateError() == nil)
        let counted = now.addingTimeInterval(min(lead, 86_400))
        for store in [store, try fixture.store()] {
            #expect(store.state == .fresh && store.trustedTime == counted)
            #expect(store.timestamp == now.addingTimeInterval(lead))
        }
    }

    @Test(
        "A wrong timestamp heals within a day: the mended server's document is taken, and nobody is locked out before")
    func healing() async throws {
        let fixture = try TrustServerStoreFixture()
        let store = try fixture.store()
        try fixture.publish(age: -30 * 365 * 86_400)
        #expect(await store.updateError() == nil)
        for hours in 1..<24 {
            fixture.clock.advance(by: .seconds(3_600))
            try fixture.publish()
            #expect(await store.updateError()?.documentCode == .outdated, "\(hours) h")
            #expect(store.state == .fresh)
        }
        fixture.clock.advance(by: .seconds(3_600))
        try fixture.publish()
        for store in [try fixture.store(), store] {
            #expect(await store.updateError() == nil)
            #expect(store.trustedTime == fixture.clock.now && store.timestamp == fixture.clock.now)
        }
    }

    @Test("A document with a wrong timestamp ends like any other: it is not fresh for years")
    func wrongTimestampEnds() async throws {
        let fixture = try TrustServerStoreFixture()
        let store = try fixture.store()
        try fixture.publish(age: -30 * 365 * 86_400)
        #expect(await store.updateError() == nil)
        for (seconds, expected) in [
            (86_400 + 3_600, .fresh), (1, .grace), (86_399, .grace), (1, .expired),
        ] as [(TimeInterval, StoreState)] {
            fixture.clock.advance(by: .seconds(seconds))
            #expect(store.state == expected)
            #expect(try fixture.store().state == expected)
        }
    }

    @Test("A device whose clock is behind takes the documents of today, one after the other", arguments: [true, false])
    func slowClock(hasBuildDate: Bool) async throws {
        var fixture = try TrustServerStoreFixture()
        let today = fixture.clock.now
        let past = today.addingTimeInterval(-5 * 365 * 86_400)
        if hasBuildDate { fixture.settings.buildDate = today.addingTimeInterval(-30 * 86_400) }
        fixture.clock.set(past)
        let store = try fixture.store()
        for hour in 0..<50 {
            fixture.clock.set(past.addingTimeInterval(Double(hour) * 3_600))
            try fixture.publish(age: past.timeIntervalSince(today))
            #expect(await store.updateError() == nil)
            #expect(store.state == .fresh)
            #expect(try fixture.store().state == .fresh)
        }
        let known = hasBuildDate ? try #require(fixture.settings.buildDate) : fixture.clock.now
        #expect(store.trustedTime == known.addingTimeInterval(86_400))
    }

    @Test("A clock that is set back drops no document, makes it no older, and lets no older one take its place")
    func clockSetBack() async throws {
        let fixture = try TrustServerStoreFixture()
        try fixture.publish()
        let store = try fixture.store()
        try await store.update()
        let issued = store.timestamp
        fixture.clock.advance(by: .seconds(-30 * 86_400))
        for store in [store, try fixture.store()] {
            #expect(store.storageError == nil && store.state == .fresh)
            #expect(store.trustedTime == fixture.clock.now.addingTimeInterval(86_400))
            try fixture.publish(age: -2 * 86_400)
            #expect(await store.updateError()?.documentCode == .issuedBeforeNewest)
            #expect(store.timestamp == issued)
        }
    }

    @Test("A document older than the newest one verified is refused, also after a restart; the same one is not")
    func rollback() async throws {
        let fixture = try TrustServerStoreFixture()
        let store = try fixture.store()
        try fixture.publish()
        try await store.update()
        let newest = store.timestamp
        for store in [store, try fixture.store()] {
            try fixture.publish(age: 1)
            #expect(await store.updateError()?.documentCode == .issuedBeforeNewest)
            #expect(store.timestamp == newest)
            try fixture.publish()
            #expect(await store.updateError() == nil)
        }
    }

    @Test("A document of another customer or signer, a damaged one and none at all never replace a good one")
    func badDocuments() async throws {
        let fixture = try TrustServerStoreFixture()
        let store = try fixture.store()
        try fixture.publish()
        try await store.update()
        let timestamp = store.timestamp
        fixture.clock.advance(by: .seconds(60))
        var damaged = try fixture.document()
        damaged[damaged.count - 1] ^= 1
        let cases: [(Data, DocumentError.Code)] = [
            (try fixture.document(customer: "other"), .wrongCustomer),
            (try fixture.document(by: TestTrustServer(clock: fixture.clock)), .untrustedSigner),
            (damaged, .invalidSignature), (Data(), .malformedMessage), (Data("{}".utf8), .malformedMessage),
            (try fixture.document([.init("not a host", [fixture.pki.leaf])]), .invalidValue),
        ]
        for (document, code) in cases {
            fixture.provider.answer(document)
            #expect(await store.updateError()?.documentCode == code)
            #expect(store.timestamp == timestamp && store.state == .fresh)
            #expect(try fixture.store().timestamp == timestamp)
        }
        fixture.fail()
        #expect(await store.updateError()?.code == .networkError)
        fixture.provider.answer { _ in RemoteDataResponse(.notModified) }
        #expect(await store.updateError()?.code == .networkError)
        #expect(store.timestamp == timestamp)
    }

    @Test("A document is fresh for an hour after its timestamp, counts for a day more, and then for nobody")
    func ages() async throws {
        let fixture = try TrustServerStoreFixture()
        try fixture.publish(age: 100)
        let store = try fixture.store()
        try await store.update()
        for (seconds, expected) in [
            (3_500, .fresh), (1, .grace), (86_399, .grace), (1, .expired), (1e9, .expired),
        ] as [(TimeInterval, StoreState)] {
            fixture.clock.advance(by: .seconds(seconds))
            #expect(store.state == expected)
            #expect(try fixture.store().state == expected)
        }
    }

    @Test("Ages are the settings'")
    func settings() async throws {
        var fixture = try TrustServerStoreFixture()
        fixture.settings.maximumAge = .seconds(1_000)
        fixture.settings.grace = .zero
        try fixture.publish()
        let store = try fixture.store()
        try await store.update()
        fixture.clock.advance(by: .seconds(1_000))
        #expect(store.state == .fresh)
        fixture.clock.advance(by: .seconds(1))
        #expect(store.state == .expired)
    }

    @Test("An update is due before the document is past its time, and no sooner than 15 minutes after the last")
    func schedule() async throws {
        let fixture = try TrustServerStoreFixture()
        try fixture.publish()
        let store = try fixture.store()
        try await store.update()
        let wait = store.nextUpdate.timeIntervalSince(fixture.clock.now)
        #expect((2_880...3_600).contains(wait))
        store.documents.updateIfDue()
        #expect(!store.documents.isUpdating)
        fixture.clock.set(store.nextUpdate)
        store.documents.updateIfDue()
        #expect(store.documents.isUpdating)
        await store.settle()
        #expect(fixture.provider.requests.count == 2)
    }

    @Test("After a failure wishes wait, a minute at most, however many there were and wherever the clock is set")
    func backOff() async throws {
        let fixture = try TrustServerStoreFixture()
        fixture.fail()
        let store = try fixture.store()
        for attempt in 1...8 {
            #expect(store.needsPreparation)
            store.documents.updateIfDue()
            await store.settle()
            #expect(fixture.provider.requests.count == attempt && !store.needsPreparation)
            store.documents.updateIfDue()
            #expect(!store.documents.isUpdating)
            fixture.clock.advance(by: .seconds(attempt == 8 ? -1_000 : 60))
        }
        store.documents.updateIfDue()
        #expect(store.documents.isUpdating)
        await store.settle()
    }

    @Test("Each customer, server and signer has a storage of its own")
    func storageKeys() async throws {
        let fixture = try TrustServerStoreFixture()
        try fixture.publish()
        try await fixture.store().update()
        let url = try #require(URL(string: "https://pins.example.com/other"))
        let signer = try TestTrustServer(clock: fixture.clock)
        let others = [
            try fixture.store(customer: "other"), try fixture.store(url: url), try fixture.store(signer: signer),
        ]
        #expect(Set(others.map(\.documents.format.storageKey)).count == 3)
        for other in others { #expect(other.state == .absent && other.storageError == nil) }
        #expect(try fixture.store().state == .fresh)
    }

    @Test("Policies with equal parameters share a store as long as one of them lives; other parameters make another")
    func shared() throws {
        let fixture = try TrustServerStoreFixture()
        let signer = try TrustServerSigner(certificate: fixture.server.certificate)
        func shared(
            _ change: (inout OnlinePinningSettings) -> Void = { _ in }, customer: String = "gcx"
        ) throws -> TrustServerStore {
            var settings = fixture.settings
            change(&settings)
            return try .shared(
                configuration: .init(url: fixture.url, signer: signer, customer: customer, settings: settings),
                clock: fixture.clock)
        }
        var first: TrustServerStore? = try shared()
        #expect(try shared() === first)
        #expect(try shared(customer: "other") !== first)
        #expect(try shared { $0.maximumAge = .seconds(60) } !== first)
        #expect(try shared { $0.secureDataStore = InMemoryDataStore() } !== first)
        weak let released = first
        first = nil
        #expect(released == nil)
        #expect(try shared().state == .absent)
    }

    @Test("The library's own sources and storages are compared by what they say, others as objects, and values never")
    func sharedSources() throws {
        struct Value: RemoteDataProvider {
            func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
                throw RemoteDataError(status: 404)
            }
        }
        let fixture = try TrustServerStoreFixture()
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        func shared(
            _ provider: any RemoteDataProvider, _ storage: any SecureDataStore
        ) throws -> TrustServerStore {
            var settings = fixture.settings
            settings.remoteDataProvider = provider
            settings.secureDataStore = storage
            let signer = try TrustServerSigner(certificate: fixture.server.certificate)
            return try .shared(
                configuration: .init(url: fixture.url, signer: signer, customer: "gcx", settings: settings))
        }
        let first = try shared(URLSessionDataProvider(), FileDataStore(folder: folder))
        #expect(try shared(URLSessionDataProvider(), FileDataStore(folder: folder)) === first)
        #expect(try shared(URLSessionDataProvider(answerLimit: .seconds(1)), FileDataStore(folder: folder)) !== first)
        #expect(try shared(URLSessionDataProvider(), FileDataStore(folder: folder.appending(path: "x"))) !== first)
        let value = try shared(Value(), fixture.storage)
        #expect(try shared(Value(), fixture.storage) !== value)
    }

    @Test("A reset forgets the document, and an update that is under way stores nothing")
    func reset() async throws {
        let fixture = try TrustServerStoreFixture()
        try fixture.publish()
        let store = try fixture.store()
        try await store.update()
        let gate = try fixture.answerBehindGate()
        async let error = store.updateError()
        try await waitUntil { store.documents.isUpdating }
        store.reset()
        gate.open()
        #expect(await error?.code == .reset)
        #expect(store.state == .absent)
        #expect(try fixture.store().state == .absent)
    }

    @Test("Observers learn of updates, documents, a signer past its time and resets")
    func events() async throws {
        let fixture = try TrustServerStoreFixture()
        let expired = try TestTrustServer(
            clock: ManualClock(now: fixture.clock.now.addingTimeInterval(-50 * 365 * 86_400)))
        let store = try fixture.store(signer: expired)
        let events = store.events()
        fixture.provider.answer(try fixture.document(by: expired))
        try await store.update()
        store.reset()
        var seen: [String] = []
        for await event in events {
            switch event.kind {
            case .updateStarted: seen.append("started \(try #require(event.updateKind))")
            case .replaced:
                seen.append("replaced \(try #require(event.entries))")
                #expect(event.date == fixture.clock.now)
            case .signerExpired:
                seen.append("signer")
                #expect(try #require(event.date) < fixture.clock.now)
            case .updateFinished: seen.append("finished \(try #require(event.report).result)")
            case .reset: seen.append("reset")
            default: seen.append("another event")
            }
            #expect(event.store == "gcx" && event.url == store.configuration.url && event.authority == nil)
            if seen.last == "reset" { break }
        }
        #expect(seen == ["started direct", "replaced 1", "signer", "finished ok", "reset"])
        #expect(fixture.log.lines.count { $0.hasPrefix("warning the signer's certificate has ended") } == 1)
    }
}
