import Crypto
import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Until when a decision holds", .timeLimit(.minutes(15)))
struct DecisionEndTests {
    private let pki: PolicyFixture
    private let host: HostPattern

    init() throws {
        pki = try PolicyFixture()
        host = try HostPattern(PolicyFixture.host)
    }

    /// A moment before its end the policy still decides so, and from then on it does not.
    private func expectEnd(
        _ end: Date, of policy: some TrustPolicy, for trust: ServerTrust, _ location: SourceLocation = #_sourceLocation
    ) {
        let decision = policy.evaluate(trust, at: pki.now)
        #expect(decision.isTrusted && decision.holdsUntil == end, sourceLocation: location)
        let before = end.addingTimeInterval(-0.001)
        #expect(decision.holds(at: before) && !decision.holds(at: end), sourceLocation: location)
        #expect(policy.evaluate(trust, at: before).isTrusted, sourceLocation: location)
        #expect(!policy.evaluate(trust, at: end).isTrusted, sourceLocation: location)
    }

    private func after(_ hours: Double) -> Date { pki.now.addingTimeInterval(hours * 3_600) }

    private func trust(_ chain: [[UInt8]], by validator: PathValidator) throws -> ServerTrust {
        ServerTrust(
            chain: PresentedChain(chain), purpose: .server(identity: try DialedHost(PolicyFixture.host)),
            validator: validator)
    }

    // MARK: Certificates and lists

    @Test("A path ends after the last second of the certificate that ends first, leaf, issuer or anchor")
    func certificates() throws {
        let names = [TestGeneralName.dns(PolicyFixture.host)]
        let leaf = try pki.issuing.leaf(names: names) { $0.notAfter = .hours(5) }
        let issuing = try pki.root.intermediate { $0.notAfter = .hours(4) }
        let root = try TestAuthority.root(clock: pki.clock) { $0.notAfter = .hours(3) }
        for (chain, anchor, hours) in [
            (leaf.chain, pki.root.root, 5), (try issuing.leaf(names: names).chain, pki.root.root, 4),
            (try root.leaf(names: names).chain, root.root, 3.0),
        ] {
            expectEnd(
                after(hours).addingTimeInterval(1), of: StandardPolicy(host: host),
                for: try pki.trust(chain, anchors: [anchor]))
        }
    }

    @Test("A certificate without an end, and a decision that rests on nothing that ends, hold for ever")
    func forever() throws {
        let far = CertificateTime.date(Date(timeIntervalSince1970: 253_402_300_799))
        let root = try TestAuthority.root(clock: pki.clock) { $0.notAfter = far }
        let leaf = try root.leaf(names: [.dns(PolicyFixture.host)]) { $0.notAfter = far }
        let trust = try pki.trust(leaf.chain, anchors: [root.root])
        #expect(StandardPolicy(host: host).evaluate(trust, at: pki.now).holdsUntil == .distantFuture)
        let disabled = DisabledPolicy(host: host, log: RecordingLog().policyLog)
        #expect(disabled.evaluate(try pki.trust(), at: pki.now).holdsUntil == .distantFuture)
        #expect(disabled.decisionWithoutTrust(at: pki.now).holdsUntil == .distantFuture)
        let rejected = StandardPolicy(host: host).evaluate(try pki.untrusted(), at: pki.now)
        #expect(!rejected.isTrusted && rejected.holdsUntil == .distantFuture)
    }

    @Test("A time that is no number is past every end")
    func notANumber() throws {
        let disabled = DisabledPolicy(host: host, log: RecordingLog().policyLog)
        let decision = disabled.evaluate(try pki.trust(), at: pki.now)
        #expect(decision.holds(at: pki.now) && !decision.holds(at: Date(timeIntervalSince1970: .nan)))
    }

    @Test("With revocation lists it ends after the last second of the first list, from the cache as well")
    func lists() throws {
        let lists = try [
            pki.issuing.revocationList { $0.nextUpdate = .hours(2) }, pki.root.revocationList(),
        ].map { try CertificateRevocationList(der: $0) }
        let cache = VerifiedPathCache()
        let validator = PathValidator(
            anchors: try TrustAnchors(der: [pki.root.root]), revocation: .crls(lists, isRequired: true), cache: cache)
        let trust = try trust(pki.leaf.chain, by: validator)
        expectEnd(after(2).addingTimeInterval(1), of: StandardPolicy(host: host), for: trust)
        let again = StandardPolicy(host: host).evaluate(trust, at: pki.now)
        #expect(again.effort.usedCachedPath && again.holdsUntil == after(2).addingTimeInterval(1))
    }

    @Test("A list that names the certificate counts at once, also one whose time has not come")
    func listOfTheFuture() throws {
        let serial = Array(try X509Certificate(der: pki.leaf.der).serialNumber)
        let lists = try [
            pki.issuing.revocationList(),
            pki.issuing.revocationList {
                $0.thisUpdate = .hours(1)
                $0.serialNumbers = [serial]
            },
        ].map { try CertificateRevocationList(der: $0) }
        let validator = PathValidator(anchors: try TrustAnchors(der: [pki.root.root]), revocation: .crls(lists))
        let decision = StandardPolicy(host: host).evaluate(try trust(pki.leaf.chain, by: validator), at: pki.now)
        #expect(decision.failure?.code == .revoked && decision.holdsUntil == .distantFuture)
    }

    // MARK: Pins

    @Test(
        "Pins that expire end a decision at that instant; once they gave way to standard validation they do not matter")
    func expiringPins() throws {
        let pin = try pki.keyPin(pki.leaf)
        expectEnd(after(1), of: try pki.pinned([pin], expires: after(1)), for: try pki.trust())
        let end = try X509Certificate(der: pki.leaf.der).notAfter.addingTimeInterval(1)
        #expect(try pki.pinned([pin]).evaluate(pki.trust(), at: pki.now).holdsUntil == end)
        let lenient = try pki.pinned([pin], expires: after(1), afterExpiry: .standardValidation)
        #expect(try lenient.evaluate(pki.trust(), at: pki.now).holdsUntil == after(1))
        let later = try lenient.evaluate(pki.trust(), at: after(1))
        #expect(later.isTrusted && later.notices.map(\.code) == [.pinsExpired] && later.holdsUntil == end)
    }

    @Test("Nothing rests on pins that are only reported on")
    func reportOnly() throws {
        let end = try X509Certificate(der: pki.leaf.der).notAfter.addingTimeInterval(1)
        for pin in [try pki.keyPin(pki.leaf), .certificate([1])] {
            let policy = try pki.pinned([pin], enforcement: .reportOnly, expires: after(1))
            #expect(try policy.evaluate(pki.trust(), at: pki.now).holdsUntil == end)
        }
    }

    @Test("Where pins alone decide, no certificate's validity ends anything, but the pins' expiry and the lists do")
    func pinsAlone() throws {
        let leafPin = try pki.keyPin(pki.leaf)
        let issuerPin = try pki.keyPin(pki.issuing.certificate)
        let list = try CertificateRevocationList(der: pki.issuing.revocationList { $0.nextUpdate = .hours(2) })
        let chain = pki.leaf.chain
        let anchors = try TrustAnchors(der: [pki.root.root])
        for pin in [leafPin, issuerPin] {
            let policy = try pki.pinned([pin], pinOnly: true)
            #expect(try policy.evaluate(pki.trust(), at: pki.now).holdsUntil == .distantFuture)
            expectEnd(after(1), of: try pki.pinned([pin], pinOnly: true, expires: after(1)), for: try pki.trust())
            let checking = PathValidator(anchors: anchors, revocation: .crls([list]))
            expectEnd(after(2).addingTimeInterval(1), of: policy, for: try trust(chain, by: checking))
        }
    }

    // MARK: Composites

    @Test("All-of ends with the first of its members, any-of with the one that accepted")
    func composites() throws {
        let pin = try pki.keyPin(pki.leaf)
        let sooner = try pki.pinned([pin], expires: after(1))
        let later = try pki.pinned([pin], expires: after(2))
        let mismatch = try pki.pinned([.certificate([1])], expires: after(1))
        expectEnd(after(1), of: try CompositePolicy(host: host, allOf: [later, sooner]), for: try pki.trust())
        let any = try CompositePolicy(host: host, anyOf: [mismatch, later, sooner])
        expectEnd(after(2), of: any, for: try pki.trust())
        let nested = try CompositePolicy(host: host, allOf: [any, StandardPolicy(host: host)])
        expectEnd(after(2), of: nested, for: try pki.trust())
    }

    // MARK: The application's own

    @Test("What the application decides ends with the first of the presented certificates that were still valid")
    func custom() throws {
        let over = try pki.issuing.leaf(names: ["over.example.com"]) { $0.notAfter = .hours(-1) }
        let leaf = try pki.issuing.leaf(names: [.dns(PolicyFixture.host)]) { $0.notAfter = .hours(5) }
        let trust = try pki.trust(leaf.chain + [over.der, [1, 2, 3]])
        let end = after(5).addingTimeInterval(1)
        #expect(CustomPolicy(host: host) { _ in true }.evaluate(trust, at: pki.now).holdsUntil == end)
        let own = TrustDecision(
            .trusted, policyName: "own", host: trust.host, time: pki.now, chain: trust.chain)
        #expect(own.holdsUntil == end)
        let stated = TrustDecision(
            .trusted, policyName: "own", host: trust.host, time: pki.now, chain: trust.chain, holdsUntil: after(1))
        #expect(stated.holdsUntil == after(1))
    }

    @Test("A validator of the application's own says how long its path holds; else the certificates do")
    func ownValidator() throws {
        struct Lenient: ChainValidator {
            let holdsUntil: Date?
            func validate(
                _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date,
                accepting: (ValidatedPath) -> Bool
            ) -> ValidationOutcome {
                guard let leaf = try? X509Certificate(der: chain.leaf ?? []) else {
                    return ValidationOutcome(path: nil, failure: nil)
                }
                let path = ValidatedPath(uncheckedLeaf: leaf, holdsUntil: holdsUntil)
                return accepting(path)
                    ? ValidationOutcome(path: path, failure: nil)
                    : ValidationOutcome(path: nil, otherPaths: [path], failure: nil)
            }
        }
        for (stated, end) in [
            (nil, try X509Certificate(der: pki.leaf.der).notAfter.addingTimeInterval(1)),
            (after(1), after(1)), (.distantFuture, .distantFuture),
        ] {
            let trust = ServerTrust(
                chain: PresentedChain(pki.leaf.chain), purpose: .server(identity: try DialedHost(PolicyFixture.host)),
                validator: Lenient(holdsUntil: stated))
            #expect(try pki.pinned([pki.keyPin(pki.leaf)]).evaluate(trust, at: pki.now).holdsUntil == end)
        }
    }

    // MARK: Stores

    @Test("By a store's list it ends after the last second of the entry that matched")
    func store() async throws {
        let fixture = try StoreFixture()
        let entries = try [
            (pki.leaf.der, StoreFixture.day), (pki.issuing.der, 5 * StoreFixture.day),
        ].map {
            try fixture.signer.entry(PolicyFixture.host, Data(SHA256.hash(data: $0)), StoreFixture.start + $1)
        }
        fixture.provider.answer(fixture.signer.list(entries))
        let store = fixture.store()
        try await store.update()
        expectEnd(
            after(24).addingTimeInterval(1), of: try store.policy(for: PolicyFixture.host),
            for: try pki.trust())
    }

    @Test("By a trust server's document it ends when the document is past its grace")
    func trustServer() async throws {
        var fixture = try TrustServerStoreFixture()
        fixture.settings.maximumAge = .seconds(3_600)
        fixture.settings.grace = .seconds(7_200)
        try fixture.publish()
        let policy = try fixture.store().policy(for: PolicyFixture.host)
        try await policy.prepare()
        let decision = try policy.evaluate(fixture.pki.trust(), at: fixture.clock.now)
        let last = fixture.clock.now.addingTimeInterval(3 * 3_600)
        #expect(decision.isTrusted && decision.holds(at: last) && !decision.holds(at: last.addingTimeInterval(1)))
        #expect(try policy.evaluate(fixture.pki.trust(), at: last).isTrusted)
        let failure = try policy.evaluate(fixture.pki.trust(), at: decision.holdsUntil).failure
        #expect(failure?.code == .noUsablePins)
    }
}
