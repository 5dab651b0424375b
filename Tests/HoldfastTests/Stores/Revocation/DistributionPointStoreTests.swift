import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("A store that follows distribution points", .timeLimit(.minutes(15)))
struct DistributionPointStoreTests {
    private typealias Fixture = RevocationStoreFixture

    private let fixture: RevocationStoreFixture

    init() throws { fixture = try RevocationStoreFixture() }

    @Test("fetches those of a path that a validator found, of leaf and issuers, also where every status is required")
    func path() async throws {
        let store = try fixture.store(configured: []) {
            $0.unknownLeaf = .fails
            $0.unknownIssuer = .fails
        }
        fixture.publish([Fixture.issuingURL: try fixture.list(), Fixture.rootURL: try fixture.list(by: fixture.root)])
        #expect(try fixture.code(store) == .revocationUnknown)
        try await store.prepare()
        #expect(try fixture.code(store) == nil)
        #expect(fixture.places == [Fixture.issuingURL, Fixture.rootURL])
        #expect(store.lists.map(\.isConfigured) == [false, false])
    }

    @Test("fetches nothing for a certificate that was only presented")
    func presented() async throws {
        let store = try fixture.store(configured: [])
        let stranger = try TestAuthority.root(name: "Test Root", clock: fixture.clock)
        let url = "http://attacker.example.com/a.crl"
        let bait = try stranger.leaf(names: ["www.example.com"]) { $0.extensions = [Fixture.point(url)] }
        #expect(try fixture.code(store, of: bait.chain) != nil)
        // Beside a good chain, and as a pinned leaf that is trusted for itself.
        #expect(try fixture.code(store, of: fixture.leaf.chain + [bait.der]) == nil)
        let policy = try PinnedPolicy(
            host: HostPattern("www.example.com"), pins: PinSet(pins: [Pin.certificate(bait.der)]),
            certificatePinOnly: true)
        let trust = ServerTrust(
            chain: PresentedChain(bait.chain), purpose: .server(identity: try DialedHost("www.example.com")),
            validator: try fixture.validator(store))
        #expect(policy.decision(about: trust, at: fixture.clock.now).isTrusted)
        await store.updateWhatIsDue()
        #expect(store.lists.map(\.url.absoluteString) == [Fixture.issuingURL, Fixture.rootURL])
        #expect(!fixture.places.contains(url))
    }

    @Test("fetches those of the application's own certificates, and only those when paths are not to be followed")
    func given() async throws {
        let store = try fixture.store(configured: []) { $0.followsDistributionPoints = false }
        #expect(try fixture.code(store) == nil)
        #expect(store.lists.isEmpty)
        fixture.publish([Fixture.issuingURL: try fixture.list(fixture.leaf)])
        store.follow(try (fixture.leaf.chain + [fixture.root.root]).map { try X509Certificate(der: $0) })
        #expect(await store.updateError() != nil)
        #expect(try fixture.code(store) == .revoked)
    }

    @Test("takes a list of the certificate's own point, and none of another")
    func scope() async throws {
        let store = try fixture.store(configured: [])
        #expect(try fixture.code(store) == nil)
        func list(_ url: String) throws -> [UInt8] {
            try fixture.list(fixture.leaf) {
                $0.extensions = [RevocationPoints.inList([RevocationPoints.url(url)])]
            }
        }
        fixture.publish([Fixture.issuingURL: try list("http://lists.example.com/other.crl")])
        _ = await store.updateError()
        #expect(try fixture.code(store) == nil)
        fixture.publish([Fixture.issuingURL: try list(Fixture.issuingURL)])
        _ = await store.updateError()
        #expect(try fixture.code(store) == .revoked)
    }

    @Test("keeps no more lists than it may; a place that no path names anymore makes room after a day")
    func bound() async throws {
        let store = try fixture.store(configured: []) { $0.maximumLists = 2 }
        #expect(try fixture.code(store) == nil)
        let other = try fixture.issuing.leaf(names: ["www.example.com"]) {
            $0.extensions = [Fixture.point("http://lists.example.com/2.crl")]
        }
        #expect(try fixture.code(store, of: other.chain) == nil)
        #expect(store.lists.map(\.url.absoluteString) == [Fixture.issuingURL, Fixture.rootURL])
        #expect(fixture.log.lines.filter { $0.contains("no more revocation lists are fetched") }.count == 1)
        fixture.clock.advance(by: .seconds(25 * 3_600))
        let third = try fixture.issuing.leaf(names: ["www.example.com"]) {
            $0.extensions = [Fixture.point("http://lists.example.com/3.crl")]
        }
        #expect(try fixture.code(store, of: third.chain) == nil)
        #expect(
            store.lists.map(\.url.absoluteString).contains("http://lists.example.com/3.crl"))
        #expect(store.lists.count == 2)
        fixture.clock.advance(by: .seconds(25 * 3_600))
        #expect(try fixture.code(store, of: other.chain) == nil)
        #expect(
            store.lists.map(\.url.absoluteString).contains("http://lists.example.com/2.crl"),
            "what there was no room for is not forgotten")
    }

    @Test("takes few places from one certificate, and none from one below an authority that is revoked")
    func greedy() async throws {
        let store = try fixture.store(configured: [])
        let urls = (0..<20).map { RevocationPoints.url("http://lists.example.com/\($0).crl") }
        let leaf = try fixture.root.leaf(names: ["www.example.com"]) {
            $0.extensions = [RevocationPoints.inCertificate(urls)]
        }
        #expect(try fixture.code(store, of: leaf.chain) == nil)
        #expect(store.lists.count == 4)
        let list = try CertificateRevocationList(
            der: fixture.list(fixture.issuing.certificate, by: fixture.root))
        let strict = try fixture.store(configured: []) {
            $0.lists = [list]
            $0.unknownLeaf = .fails
        }
        #expect(try fixture.code(strict) == .revoked)
        #expect(strict.lists.isEmpty)
    }

    @Test("takes a list of any of the points that an authority's certificates name beside a place")
    func manyNames() async throws {
        let store = try fixture.store(configured: [])
        for number in 0..<12 {
            let leaf = try fixture.issuing.leaf(names: ["www.example.com"]) {
                $0.extensions = [Fixture.point(Fixture.issuingURL, "http://lists.example.com/\(number).crl")]
            }
            #expect(try fixture.code(store, of: leaf.chain) == nil)
        }
        #expect(try fixture.code(store) == nil)
        let point = RevocationPoints.inList([RevocationPoints.url("http://lists.example.com/11.crl")])
        fixture.publish([Fixture.issuingURL: try fixture.list { $0.extensions = [point] }])
        _ = await store.updateError()
        #expect(store.lists.filter(\.isUsable).map(\.url.absoluteString) == [Fixture.issuingURL])
    }

    @Test("keeps a list of an authority of the same name from saying anything of the other's certificates, at no cost")
    func namesake() async throws {
        let store = try fixture.store(configured: [])
        let namesake = try fixture.root.intermediate(name: fixture.issuing.certificate.specification.subject)
        let urls = (0..<3).map { "http://lists.example.com/namesake-\($0).crl" }
        let own = try namesake.leaf(names: ["www.example.com"]) {
            $0.extensions = [RevocationPoints.inCertificate(urls.map { RevocationPoints.url($0) })]
        }
        let before = try fixture.outcome(store).effort
        #expect(try fixture.code(store, of: own.chain) == nil)
        let list = try fixture.list(fixture.leaf, own, by: namesake)
        fixture.publish(Dictionary(uniqueKeysWithValues: urls.map { ($0, list) }))
        _ = await store.updateError()
        #expect(store.lists.filter(\.isUsable).count == urls.count)
        #expect(try fixture.code(store, of: own.chain) == .revoked)
        #expect(try fixture.code(store) == nil)
        #expect(try fixture.outcome(store).effort.signatures == before.signatures)
        // A namesake that is presented with its own path is another key of the authority (RFC 5280 6.3.3 (f)).
        #expect(try fixture.code(store, of: fixture.leaf.chain + [namesake.certificate.der]) == .revoked)
    }

    @Test("keeps an authority's list at a place where another of its name has its own")
    func sharedPlace() async throws {
        let store = try fixture.store(configured: [])
        fixture.publish([Fixture.issuingURL: try fixture.list()])
        #expect(try fixture.code(store) == nil)
        _ = await store.updateError()
        #expect(store.lists.count(where: \.isUsable) == 1)
        let namesake = try fixture.root.intermediate(name: fixture.issuing.certificate.specification.subject)
        let own = try namesake.leaf(names: ["www.example.com"]) {
            $0.extensions = [Fixture.point(Fixture.issuingURL)]
        }
        // The list at the URL that it names cannot be used for it.
        #expect(try fixture.code(store, of: own.chain) == .revocationUnknown)
        // An attacker on the network serves the other's list, which is newer.
        fixture.clock.advance(by: .seconds(60))
        fixture.publish([Fixture.issuingURL: try fixture.list(fixture.leaf, by: namesake)])
        _ = await store.updateError()
        #expect(store.lists.count(where: \.isUsable) == 2)
        #expect(try fixture.code(store) == nil)
        #expect(try fixture.code(store, of: own.chain) == nil)

        // Without a list of its own, what is at the place that it names is no answer.
        let other = try fixture.store(configured: []) { $0.secureDataStore = InMemoryDataStore() }
        #expect(try fixture.code(other, of: own.chain) == nil)
        _ = await other.updateError()
        #expect(try fixture.code(other) == .revocationUnknown)
    }

    @Test("keeps no more bytes than it may of lists that only certificates name, and renews what it keeps")
    func room() async throws {
        let list = try fixture.list(fixture.leaf)
        let store = try fixture.store(configured: []) { $0.maximumTotalBytes = 2 * list.count + 10 }
        let rootList = try fixture.list(by: fixture.root)
        fixture.publish([Fixture.issuingURL: list])
        #expect(try fixture.code(store) == nil)
        _ = await store.updateError()
        #expect(try fixture.code(store) == .revoked)
        // There is no room for another, and there is for one entry more.
        fixture.clock.advance(by: .seconds(60))
        let grown = try fixture.list(fixture.leaf, fixture.issuing.certificate)
        fixture.publish([Fixture.issuingURL: grown, Fixture.rootURL: rootList])
        let error = await store.updateError()
        #expect((error?.underlying as? DocumentError)?.code == .tooLarge, "\(String(describing: error))")
        #expect(store.lists.compactMap(\.list).map(\.count) == [2])
        // A list that no path names anymore makes space when a list is fetched again, even during a download of it, for
        // which `held` stands.
        let held = store.known.withLock { $0.places.values.compactMap(\.documents) }
        defer { withExtendedLifetime(held) {} }
        fixture.clock.advance(by: .seconds(25 * 3_600))
        let above = try fixture.root.leaf(names: ["www.example.com"]) {
            $0.extensions = [Fixture.point(Fixture.rootURL)]
        }
        #expect(try fixture.code(store, of: above.chain) == nil)
        fixture.publish([Fixture.rootURL: try fixture.list(by: fixture.root)])
        _ = await store.updateError()
        #expect(await store.updateError() == nil)
        #expect(store.lists.filter(\.isUsable).map(\.url.absoluteString) == [Fixture.rootURL])

        // A list that the configuration names is the application's own choice.
        let configured = try fixture.store { $0.maximumTotalBytes = 1 }
        fixture.publish([Fixture.issuingURL: try fixture.list(fixture.leaf)])
        #expect(await configured.updateError() == nil)
        #expect(try fixture.code(configured) == .revoked)
    }

    @Test("reserves room for the growth of each list, and gives it back with the place")
    func shares() {
        let room = RevocationRoom(100)
        var first: RevocationRoom.Share? = RevocationRoom.Share(of: room)
        let second = RevocationRoom.Share(of: room)
        #expect(first?.take(30) == true)
        first?.grow(30)
        #expect(!second.take(41) && second.take(40))
        second.grow(40)
        #expect(first?.take(60) == true && first?.take(61) == false)
        #expect(!second.take(41))
        first = nil
        #expect(second.take(100))
        let third = RevocationRoom.Share(of: room)
        #expect(!third.take(1))
        second.giveBack()
        // Its place is gone, so it reserves nothing.
        #expect(second.take(50) && third.take(100))
    }

    @Test("keeps after a restart all that it kept before, lists that have grown into their room included")
    func grown() async throws {
        let list = try fixture.list(by: fixture.root)
        let other = try fixture.list()
        // Room for both as they will be, and not for the growth of either.
        func store() throws -> RevocationStore {
            try fixture.store(configured: []) { $0.maximumTotalBytes = 2 * list.count + 2 * other.count }
        }
        func grown(by authority: TestAuthority, to size: Int) throws -> [UInt8] {
            var revoked: [TestCertificate] = []
            var last = try fixture.list(by: authority)
            while true {
                revoked.append(try fixture.root.leaf(names: ["www.example.com"]))
                let serials = try revoked.map { try RevocationScene.serial($0) }
                let next = try authority.revocationList {
                    $0.serialNumbers = serials
                    $0.thisUpdate = .hours(0)
                }
                guard next.count <= size else { return last }
                last = next
            }
        }
        let running = try store()
        fixture.publish([Fixture.rootURL: list, Fixture.issuingURL: other])
        #expect(try fixture.code(running) == nil)
        _ = await running.updateError()
        fixture.clock.advance(by: .seconds(60))
        fixture.publish([
            Fixture.rootURL: try grown(by: fixture.root, to: 2 * list.count),
            Fixture.issuingURL: try grown(by: fixture.issuing, to: 2 * other.count),
        ])
        #expect(await running.updateError() == nil)
        running.keepPlaces()
        #expect(try store().lists.count(where: \.isUsable) == 2)
    }

    @Test(
        "ignores places that cannot be fetched",
        arguments: [
            "ldap://lists.example.com/", "file:///etc/passwd", "http:///a.crl", "lists.crl", "",
            "http://user@lists.example.com/", "http://lists.example.com/\u{0}", "http://lists.exämple.com/",
        ])
    func odd(url: String) async throws {
        let store = try fixture.store(configured: [])
        let leaf = try fixture.root.leaf(names: ["www.example.com"]) { $0.extensions = [Fixture.point(url)] }
        #expect(try fixture.code(store, of: leaf.chain) == nil)
        #expect(store.lists.isEmpty)
    }
}
