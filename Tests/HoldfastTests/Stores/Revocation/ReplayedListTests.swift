import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// An attacker on the network path can serve any list that the authority has ever signed.
@Suite("A store of revocation lists that is served replayed ones", .timeLimit(.minutes(15)))
struct ReplayedListTests {
    private typealias Fixture = RevocationStoreFixture

    /// The lists that the authority has signed for other purposes or at other times.
    enum Replay: String, CaseIterable {
        case endEntities, authorities, attributes, someReasons, indirect, delta, criticalExtension, otherPoint,
            outOfDate
        case older, future

        func configure(_ list: inout TestRevocationList) {
            let point = { RevocationPoints.inList([$0]) }
            switch self {
            case .endEntities: list.extensions = [point(RevocationPoints.flag(1))]
            case .authorities: list.extensions = [point(RevocationPoints.flag(2))]
            case .attributes: list.extensions = [point(RevocationPoints.flag(5))]
            case .someReasons: list.extensions = [point(RevocationPoints.someReasons)]
            case .indirect: list.extensions = [point(RevocationPoints.flag(4))]
            case .delta: list.extensions = [RevocationPoints.delta(base: 1)]
            case .criticalExtension: list.extensions = [TestExtension([1, 2, 3], isCritical: true, value: [5, 0])]
            case .otherPoint:
                list.extensions = [point(RevocationPoints.url("http://lists.example.com/other.crl"))]
            case .outOfDate: (list.thisUpdate, list.nextUpdate) = (.days(-900), .days(-890))
            case .older: (list.thisUpdate, list.nextUpdate) = (.days(-2), .days(30))
            case .future: list.thisUpdate = .hours(1)
            }
        }
    }

    /// The scopes of the lists that the authority publishes today.
    enum Genuine: CaseIterable {
        case all, endEntities, ownPoint

        func configure(_ list: inout TestRevocationList) {
            switch self {
            case .all: break
            case .endEntities: list.extensions = [RevocationPoints.inList([RevocationPoints.flag(1)])]
            case .ownPoint:
                list.extensions = [RevocationPoints.inList([RevocationPoints.url(Fixture.issuingURL)])]
            }
        }
    }

    private var fixture: RevocationStoreFixture

    init() throws { fixture = try RevocationStoreFixture() }

    private func publish(_ list: [UInt8]) { fixture.publish([Fixture.issuingURL: list]) }

    private func replay(_ kind: Replay, revoking: TestCertificate...) throws -> [UInt8] {
        let serials = try revoking.map { try RevocationScene.serial($0) }
        return try fixture.issuing.revocationList { list in
            list.serialNumbers = serials
            list.thisUpdate = .hours(0)
            kind.configure(&list)
        }
    }

    private func genuine(_ kind: Genuine, revoking: TestCertificate...) throws -> [UInt8] {
        let serials = try revoking.map { try RevocationScene.serial($0) }
        return try fixture.issuing.revocationList { list in
            list.serialNumbers = serials
            (list.thisUpdate, list.number) = (.hours(0), 9)
            kind.configure(&list)
        }
    }

    /// A store that knows the place from the configuration, or from certificates.
    private func store(isConfigured: Bool) throws -> RevocationStore {
        let store = try fixture.store(configured: isConfigured ? [Fixture.issuingURL] : [])
        #expect(try fixture.code(store) == nil)
        return store
    }

    /// The error of the list alone: the root's place has none.
    private func updated(_ store: RevocationStore) async -> StoreError? {
        _ = await store.updateError()
        return store.lists.first { $0.url.absoluteString == Fixture.issuingURL }?.lastUpdate?.error
    }

    @Test(
        "As the first list it shuts out nobody, and the authority's list of today replaces it",
        arguments: Replay.allCases, [true, false])
    mutating func first(kind: Replay, isConfigured: Bool) async throws {
        for today in Genuine.allCases {
            fixture = try RevocationStoreFixture()
            let store = try store(isConfigured: isConfigured)
            publish(try replay(kind))
            _ = await updated(store)
            #expect(try fixture.code(store) == nil, "\(today)")
            fixture.clock.advance(by: .seconds(60))
            publish(try genuine(today, revoking: fixture.leaf))
            #expect(await updated(store) == nil, "\(today)")
            #expect(try fixture.code(store) == .revoked, "\(today)")
            store.keepPlaces()
            #expect(try fixture.code(fixture.store(configured: isConfigured ? [Fixture.issuingURL] : [])) == .revoked)
        }
    }

    @Test(
        "As a later list it frees nobody and shuts out nobody, and the authority's next list replaces it",
        arguments: Replay.allCases, [0, 8] as [Double])
    mutating func later(kind: Replay, daysSinceLast: Double) async throws {
        for today in Genuine.allCases {
            fixture = try RevocationStoreFixture()
            let store = try store(isConfigured: false)
            let other = try fixture.issuing.leaf(names: ["www.example.com"]) {
                $0.extensions = [Fixture.point(Fixture.issuingURL)]
            }
            publish(try genuine(today, revoking: fixture.leaf))
            #expect(await updated(store) == nil)
            #expect(try fixture.code(store, of: other.chain) == nil)
            let replayed = try replay(kind)
            fixture.clock.advance(by: .seconds(60 + daysSinceLast * 86_400))
            let before = try fixture.code(store, of: other.chain)
            publish(replayed)
            _ = await updated(store)
            #expect(try fixture.code(store) == .revoked, "\(today)")
            let after = try fixture.code(store, of: other.chain)
            #expect(after == nil || after == before, "\(today)")
            fixture.clock.advance(by: .seconds(60))
            publish(try genuine(today))
            #expect(await updated(store) == nil, "\(today)")
            #expect(try fixture.code(store) == nil, "\(today)")
        }
    }

    @Test("A list that revokes and is out of date when it arrives revokes, and nobody else is shut out by it")
    func lateRevocation() async throws {
        let store = try store(isConfigured: false)
        let other = try fixture.issuing.leaf(names: ["www.example.com"]) {
            $0.extensions = [Fixture.point(Fixture.issuingURL)]
        }
        publish(try replay(.outOfDate, revoking: fixture.leaf))
        #expect(await updated(store)?.code == .storeIsEmpty)
        #expect(try fixture.code(store) == .revoked)
        #expect(try fixture.code(store, of: other.chain) == nil)
        store.keepPlaces()
        #expect(try fixture.code(fixture.store(configured: []), of: other.chain) == nil)
        // Another one that is out of date is no reason to forget what the first revokes.
        publish(try fixture.list { ($0.thisUpdate, $0.nextUpdate) = (.days(-800), .days(-790)) })
        #expect(await updated(store)?.underlying is DocumentError)
        #expect(try fixture.code(fixture.store(configured: [])) == .revoked)
        publish(try fixture.list())
        #expect(await updated(store) == nil)
        #expect(try fixture.code(store) == nil)
    }

    @Test("Lists of two scopes stay next to each other, each until a newer one of its scope")
    func scopes() async throws {
        let store = try store(isConfigured: false)
        publish(try genuine(.ownPoint, revoking: fixture.leaf))
        #expect(await updated(store) == nil)
        fixture.clock.advance(by: .seconds(60))
        publish(try genuine(.endEntities))
        #expect(await updated(store) == nil)
        #expect(try fixture.code(store) == .revoked)
        fixture.clock.advance(by: .seconds(60))
        publish(try genuine(.ownPoint))
        #expect(await updated(store) == nil)
        #expect(try fixture.code(store) == nil)
        #expect(store.current.lists(of: try fixture.read(fixture.leaf).issuer).count == 2)
    }

    @Test("A replayed list with the tag of the newest one does not keep the newest one away")
    func tag() async throws {
        let store = try store(isConfigured: false)
        fixture.publish([Fixture.issuingURL: try replay(.outOfDate)], headers: ["ETag": "\"newest\""])
        _ = await updated(store)
        publish(try genuine(.all, revoking: fixture.leaf))
        #expect(await updated(store) == nil)
        #expect(fixture.provider.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
        #expect(try fixture.code(store) == .revoked)
    }

    @Test("Every refusal of a list says what to do about lists")
    mutating func remedies() async throws {
        for kind in Replay.allCases {
            fixture = try RevocationStoreFixture()
            let store = try store(isConfigured: false)
            publish(try genuine(.all))
            #expect(await updated(store) == nil)
            publish(try replay(kind))
            guard let error = await updated(store) else { continue }
            #expect(!error.remedy.contains("holdfastctl") && !error.remedy.contains("Publish"), "\(kind): \(error)")
        }
    }

    @Test("A place keeps a few lists: those that count, and then the newest of the others")
    func bound() throws {
        var lists = RevocationLists()
        let now = fixture.clock.now.wholeSeconds
        for number in 0..<(RevocationLists.maximumCount + 3) {
            var list = try RevocationListHeader(
                der: fixture.issuing.revocationList {
                    ($0.thisUpdate, $0.nextUpdate) = (.days(Double(number) - 900), .days(-890))
                    $0.extensions = [
                        RevocationPoints.inList([RevocationPoints.url("http://lists.example.com/\(number)")])
                    ]
                })
            list.provenance = .init(
                digest: [], signer: OctetString([1]), authority: OctetString([1]), address: OctetString([1]))
            lists = try lists.adding(CertificateRevocationList(list), for: .any, at: now)
        }
        #expect(lists.all.count == RevocationLists.maximumCount)
        let parts = try RevocationLists.parts(of: lists.encoded)
        #expect(parts.map(\.der) == lists.all.map(\.der) && parts.allSatisfy(\.revokesOnly))
    }
}
