import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// A store of each kind over the same server, which cannot be reached until the test publishes something.
@Suite("Stores of every kind", .timeLimit(.minutes(15)))
struct UpdatingStoreTests {
    enum Kind: String, Sendable, CaseIterable {
        case certStore, trustServer, revocation, logList
    }

    /// A store, what publishes a document for it, and what it is expected to say.
    private struct Subject {
        let store: any UpdatingStore
        let log: RecordingLog
        let clock: ManualClock
        let publish: () throws -> Void
        let name: String
        let url: String
        let authority: X509Certificate?
    }

    private func subject(_ kind: Kind) throws -> Subject {
        switch kind {
        case .certStore:
            let fixture = try StoreFixture()
            return Subject(
                store: fixture.store(), log: fixture.log, clock: fixture.clock,
                publish: { try fixture.publish([(StoreFixture.name, 1, 100)]) }, name: "default",
                url: "https://pins.example.com/list", authority: nil)
        case .trustServer:
            let fixture = try TrustServerStoreFixture()
            return Subject(
                store: try fixture.store(), log: fixture.log, clock: fixture.clock,
                publish: { try fixture.publish() }, name: "gcx", url: fixture.url.absoluteString, authority: nil)
        case .revocation:
            let fixture = try RevocationStoreFixture()
            return Subject(
                store: try fixture.store(), log: fixture.log, clock: fixture.clock,
                publish: { fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list(fixture.leaf)]) },
                name: "revocation", url: RevocationStoreFixture.issuingURL,
                authority: try fixture.read(fixture.issuing.certificate))
        case .logList:
            let (clock, key) = (ManualClock(now: Judge.now), try TestKey())
            let (log, provider) = (RecordingLog(), ScriptedProvider())
            let url = try #require(URL(string: "https://logs.example.com/log_list.json?token=secret"))
            var configuration = TransparencyLogConfiguration(
                listURL: url, signatureURL: try #require(URL(string: "https://logs.example.com/log_list.sig")),
                key: try SubjectPublicKeyInfo(der: key.subjectPublicKeyInfoDER),
                shipped: TransparencyLogList([], issuedAt: Judge.now.addingTimeInterval(-86_400)))
            configuration.remoteDataProvider = provider
            configuration.secureDataStore = InMemoryDataStore()
            return Subject(
                store: try TransparencyLogStore(checking: configuration, clock: clock, logger: log.logger), log: log,
                clock: clock,
                publish: {
                    var list = try TestLogList(issuedAt: clock.now, key: .existing(key))
                    list.operators = ["One": [TestLogList.Entry(try TestTransparencyLog())]]
                    let (json, signature) = (list.json, try list.signature())
                    provider.answer { RemoteDataResponse(.body($0.url == url ? json : signature)) }
                }, name: "log-list", url: url.absoluteString, authority: nil)
        }
    }

    private func text(_ event: StoreEvent) -> String {
        switch event.kind {
        case .updateStarted: "started \(event.updateKind.map { "\($0)" } ?? "")"
        case .updateFinished: "finished \(event.report?.error?.code.rawValue ?? "well")"
        case .replaced: "replaced by \(event.entries ?? -1)\(event.date == nil ? "" : ", dated")"
        case .reset: "reset"
        default: "another event"
        }
    }

    @Test("They are updated, watched, and reset in one way, and say the same of it", arguments: Kind.allCases)
    func course(kind: Kind) async throws {
        let subject = try subject(kind)
        let store = subject.store
        #expect(store.name == subject.name && store.state == .absent && store.lastUpdate == nil)
        #expect(store.storageError == nil)
        let events = Lock<[StoreEvent]>([])
        let token = store.addObserver { event in events.withLock { $0.append(event) } }
        let stream = store.events()
        await #expect(throws: StoreError(.networkError, expected: "", found: "")) {
            try await store.update(mode: .forced)
        }
        #expect(store.state == .absent && store.lastUpdate?.error?.code == .networkError)
        #expect((14...60).contains(store.nextUpdate.timeIntervalSince(subject.clock.now)))
        let revision = store.revision
        try subject.publish()
        #expect(try await store.update(mode: .forced).kind == .direct)
        #expect(store.state == .fresh && store.lastUpdate?.error == nil && store.revision > revision)
        #expect(store.nextUpdate.timeIntervalSince(subject.clock.now) > 600)
        #expect(try await store.update().kind == .noUpdate)
        store.reset()
        #expect(store.state == .absent)
        store.removeObserver(token)
        _ = try? await store.update(mode: .forced)

        let isDated = kind != .certStore
        let told = events.withLock { $0 }
        let expected = [
            "started direct", "finished networkError", "started direct",
            "replaced by 1\(isDated ? ", dated" : "")", "finished well", "reset",
        ]
        // A store of several documents says of each that it is reset, and then that it is.
        #expect(told.map { text($0) } == expected + (kind == .revocation ? ["reset"] : []))
        #expect(told.allSatisfy { $0.store == subject.name })
        for event in told.prefix(expected.count) {
            #expect(event.url?.absoluteString == subject.url && event.authority == subject.authority)
        }
        #expect(told.prefix(2).map(\.revision) == [0, 0] && told[3].revision == 1 && told[5].revision == 2)
        var streamed: [String] = []
        for await event in stream {
            streamed.append(text(event))
            if streamed.count == told.count { break }
        }
        #expect(streamed == told.map { text($0) })
        let levels = subject.log.lines.map { String($0.prefix { $0 != " " }) }
        #expect(levels.contains("info") && levels.contains("debug") && levels.contains("warning"))
        #expect(subject.log.lines.allSatisfy { !$0.contains("secret") })
    }

    @Test("They run until they are canceled, and update when one is due", arguments: Kind.allCases)
    func run(kind: Kind) async throws {
        let subject = try subject(kind)
        try subject.publish()
        let events = subject.store.events()
        let running = Task { [store = subject.store] in try await store.run() }
        for await event in events { if event.kind == .updateFinished { break } }
        running.cancel()
        try await running.value
        #expect(subject.store.state == .fresh)
    }
}
