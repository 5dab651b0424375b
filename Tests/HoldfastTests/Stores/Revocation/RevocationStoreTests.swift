import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("A store of revocation lists", .timeLimit(.minutes(15)))
struct RevocationStoreTests {
    private let fixture: RevocationStoreFixture

    init() throws { fixture = try RevocationStoreFixture() }

    // MARK: Configured lists

    @Test("refuses what a fetched list revokes, from the next validation on, without a new validator")
    func revokes() async throws {
        let store = try fixture.store()
        let validator = try fixture.validator(store, cache: VerifiedPathCache())
        func isTrusted() throws -> Bool {
            let host = try DialedHost("www.example.com")
            return validator.validate(
                PresentedChain(fixture.leaf.chain), for: .server(identity: host), at: fixture.clock.now
            ) { _ in true }.path != nil
        }
        #expect(try isTrusted())
        fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list()])
        try await store.refresh()
        #expect(try isTrusted())
        fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list(fixture.leaf)])
        try await store.refresh()
        #expect(try !isTrusted())
        #expect(try fixture.code(store) == .revoked)
        #expect(fixture.provider.requests.allSatisfy { $0.allowsPlainHTTP && $0.maximumBytes == 64 << 20 })
    }

    @Test(
        "keeps the list that it has when another does not verify, is older, is for others, or cannot be read",
        arguments: ["stranger", "older", "point", "delta", "out of date", "future", "noise", "other issuer"])
    func lastGood(fault: String) async throws {
        let store = try fixture.store()
        fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list(fixture.leaf)])
        try await store.update()
        let bad: [UInt8] =
            switch fault {
            case "stranger":
                try fixture.list(by: TestAuthority.root(name: "Test Issuing CA", clock: fixture.clock))
            case "older": try fixture.list { $0.thisUpdate = .hours(-2) }
            case "point":
                try fixture.list {
                    $0.extensions = [RevocationPoints.inList([RevocationPoints.url("http://elsewhere.example.com/")])]
                }
            case "delta": try fixture.list { $0.extensions = [RevocationPoints.delta(base: 1)] }
            case "out of date": try fixture.list { $0.nextUpdate = .hours(-1) }
            case "future": try fixture.list { $0.thisUpdate = .hours(1) }
            case "other issuer": try fixture.list(by: fixture.root)
            default: Array("<html>".utf8)
            }
        fixture.publish([RevocationStoreFixture.issuingURL: bad])
        let error = try #require(await store.updateError(), "\(fault)")
        #expect(error.code == (["stranger", "other issuer"].contains(fault) ? .invalidSignature : .invalidData))
        #expect(try fixture.code(store) == .revoked)
        #expect(store.lists.map(\.isUsable) == [true])
        #expect(store.lists.first?.lastUpdate?.error?.code == error.code)
        // The new one is no reason to ask every minute.
        #expect(store.lists.first.map { $0.nextUpdate > fixture.clock.now } == true)
    }

    @Test(
        "goes on with a list that is out of date, next to a list of another scope and rather than with a delta list",
        arguments: ["point", "delta", "authorities"])
    func swapped(kind: String) async throws {
        let store = try fixture.store()
        fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list(fixture.leaf)])
        try await store.update()
        fixture.clock.advance(by: .seconds(8 * 86_400))
        #expect(store.lists.map(\.isUsable) == [false])
        let other = try fixture.list {
            switch kind {
            case "delta": $0.extensions = [RevocationPoints.delta(base: 1)]
            case "authorities": $0.extensions = [RevocationPoints.inList([RevocationPoints.flag(2)])]
            default: $0.extensions = [RevocationPoints.inList([RevocationPoints.url("http://elsewhere.example.com/")])]
            }
        }
        fixture.publish([RevocationStoreFixture.issuingURL: other])
        #expect(await store.updateError()?.code == (kind == "delta" ? .invalidData : nil))
        #expect(try fixture.code(store) == .revoked)
    }

    @Test("has what could not be read at first as soon as it can be read, also without a network")
    func locked() async throws {
        fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list(fixture.leaf)])
        try await fixture.store().update()
        let storage = LockableStorage(fixture.storage)
        let store = try fixture.store { $0.secureDataStore = storage }
        #expect(try fixture.code(store) == nil)
        storage.lock(false)
        fixture.provider.answer { _ in throw RemoteDataError(status: 503) }
        let changes = store.changes()
        _ = await store.updateError()
        for await _ in changes { break }
        #expect(try fixture.code(store) == .revoked)
    }

    @Test("reads and verifies what is stored when it is made again, and drops what was changed")
    func restart() async throws {
        fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list(fixture.leaf)])
        try await fixture.store().update()
        let asked = fixture.provider.requests.count
        #expect(try fixture.code(fixture.store()) == .revoked)
        // Another authority under the same URL: what is stored is not its list.
        var configuration = RevocationConfiguration(authorities: [
            .init(
                certificate: try fixture.read(fixture.root.certificate),
                urls: [try #require(URL(string: RevocationStoreFixture.issuingURL))])
        ])
        configuration.secureDataStore = fixture.storage
        configuration.remoteDataProvider = fixture.provider
        let other = try RevocationStore(
            configuration: configuration, clock: fixture.clock, logger: fixture.log.logger)
        #expect(other.lists.map { $0.list == nil } == [true])
        #expect(fixture.provider.requests.count == asked)
        other.reset()
        let again = try fixture.store()
        #expect(again.lists.first?.isUsable == true)
        let key = try #require(again.known.withLock { $0.places.values.first?.documents?.format.storageKey })
        var stored = try #require(fixture.storage.loadData(forKey: key))
        stored[stored.count - 1] ^= 1
        #expect(fixture.storage.save(data: stored, forKey: key))
        #expect(try fixture.store().lists.first?.list == nil)
        #expect(fixture.log.lines.contains { $0.contains("the store starts empty") })
    }

    @Test("asks conditionally with the server's tag, or else its date, and keeps the list that has not changed")
    func conditional() async throws {
        for (sent, answered, value) in [
            ("ETag", "If-None-Match", "\"v1\""),
            ("Last-Modified", "If-Modified-Since", "Wed, 18 May 2033 03:33:20 GMT"),
        ] {
            let fixture = try RevocationStoreFixture()
            let store = try fixture.store()
            fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list(fixture.leaf)], headers: [sent: value])
            try await store.update()
            fixture.provider.answer { _ in RemoteDataResponse(.notModified) }
            #expect(await store.updateError() == nil)
            #expect(fixture.provider.requests.map { $0.headers[answered] } == [nil, value])
            #expect(try fixture.code(store) == .revoked)
        }
        // A server that says so without having been asked has nothing.
        let store = try RevocationStoreFixture()
        store.provider.answer { _ in RemoteDataResponse(.notModified) }
        #expect(await (try store.store()).updateError()?.code == .networkError)
    }

    @Test("fetches again before nextUpdate, goes on revoking past it, and vouches for nobody then")
    func renewal() async throws {
        let store = try fixture.store { $0.unknownLeaf = .fails }
        fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list { $0.nextUpdate = .hours(10) }])
        try await store.update()
        #expect(try fixture.code(store) == nil)
        let due = try #require(store.lists.first?.nextUpdate)
        #expect(due > fixture.clock.now && due < fixture.clock.now.addingTimeInterval(9 * 3_600))

        let other = try fixture.issuing.leaf(names: ["www.example.com"])
        fixture.publish([
            RevocationStoreFixture.issuingURL: try fixture.list(other) { $0.nextUpdate = .hours(11) }
        ])
        fixture.clock.set(due)
        // A validation leaves the wish; who waits shares the download.
        #expect(try fixture.code(store) == nil)
        try await store.refresh()
        #expect(try fixture.code(store, of: other.chain) == .revoked)

        fixture.provider.answer { _ in throw RemoteDataError(status: 503) }
        fixture.clock.advance(by: .seconds(12 * 3_600))
        #expect(try fixture.code(store, of: other.chain) == .revoked)
        #expect(try fixture.code(store) == .revocationUnknown)
        #expect(store.lists.map(\.isUsable) == [false])
    }

    @Test("takes the list of a rolled-over key whose certificate was given with it")
    func rolledOver() async throws {
        let newer = try fixture.root.intermediate()
        let list = try fixture.list(fixture.leaf, by: newer)
        fixture.publish([RevocationStoreFixture.issuingURL: list])
        let unknowing = try fixture.store()
        #expect(await unknowing.updateError()?.code == .invalidSignature)
        let store = try fixture.store { $0.certificates = [try fixture.read(newer.certificate)] }
        try await store.update()
        #expect(try fixture.code(store) == .revoked)
        // One that leads to another anchor does not count.
        let stranger = try TestAuthority.root(name: "Stranger", clock: fixture.clock).intermediate()
        let another = try fixture.store { $0.certificates = [try fixture.read(stranger.certificate)] }
        fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list(by: stranger)])
        #expect(await another.updateError()?.code == .invalidSignature)
    }

    @Test("waits after failures, and for the first lists where somebody wants that")
    func preparation() async throws {
        let store = try fixture.store { $0.unknownLeaf = .fails }
        await #expect(throws: StoreError.self) { try await store.prepare() }
        #expect(fixture.provider.requests.count == 1)
        fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list()])
        // Right after a failure nothing is asked again.
        await #expect(throws: StoreError.self) { try await store.prepare() }
        #expect(fixture.provider.requests.count == 1)
        #expect(try fixture.code(store) == .revocationUnknown)
        fixture.clock.advance(by: .seconds(60))
        try await store.prepare()
        #expect(try fixture.code(store) == nil)
        try await store.prepare()
        #expect(fixture.provider.requests.count == 2)
    }

    @Test("keeps its lists up to date by itself, and tells whoever watches")
    func service() async throws {
        let store = try fixture.store()
        fixture.publish([RevocationStoreFixture.issuingURL: try fixture.list(fixture.leaf)])
        var changes = store.changes().makeAsyncIterator()
        let sleeper = HandMovedClock()
        let service = Task { try await store.run(sleepingOn: sleeper) }
        _ = await changes.next()
        #expect(try fixture.code(store) == .revoked)
        service.cancel()
        try await service.value
        #expect(await PathValidator(anchors: TrustAnchors([])).revocationSource.changes().first { _ in true } == nil)
    }

    private struct Place: CustomTestStringConvertible {
        let url: String
        var testDescription: String { url.utf8.count > 60 ? "\(url.utf8.count) characters" : url }
    }

    @Test(
        "refuses settings that cannot be meant",
        arguments: ([
            "ldap://lists.example.com/", "http://user:secret@lists.example.com/a", "file:///a.crl",
            "http://lists.example.com/" + String(repeating: "a", count: 2_048),
        ] as [String]).map { Place(url: $0) })
    private func settings(place: Place) throws {
        let error = #expect(throws: StoreError.self) { try fixture.store(configured: [place.url]) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.found.contains("secret") == false)
        #expect(throws: StoreError.self) { try fixture.store { $0.maximumBytes = 0 } }
        #expect(throws: StoreError.self) { try fixture.store { $0.maximumLists = 0 } }
        #expect(throws: StoreError.self) { try fixture.store { $0.maximumTotalBytes = 0 } }
    }
}
