import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("A store with challenges", .timeLimit(.minutes(15)))
struct CertStoreChallengeTests {
    @Test("Each request carries a fresh challenge of 16 octets, and the answer is verified for it")
    func challenge() async throws {
        let fixture = try StoreFixture(useChallenge: true)
        fixture.publishSigned([("www.example.com", 1, 100)])
        let store = fixture.store()
        try await store.update()
        try await store.update(mode: .forced)
        let challenges = fixture.provider.requests.compactMap { $0.headers["X-Cert-Pinning-Challenge"] }
        #expect(Set(challenges).count == 2)
        #expect(challenges.allSatisfy { CanonicalBase64.decode($0.utf8)?.count == 16 })
        #expect(fixture.provider.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
        #expect(store.judge(1) == .trusted)
    }

    @Test("A replayed answer is refused, and so is one without a signature")
    func replay() async throws {
        let fixture = try StoreFixture(useChallenge: true)
        let body = DocumentSigner.body(
            [("www.example.com", .fingerprint(1), StoreFixture.start + 5)], at: StoreFixture.start)
        let signature = try fixture.signer.answer(to: "AAECAwQFBgcICQoLDA0ODw==", body)
        fixture.provider.answer(body, headers: ["X-Cert-Pinning-Signature": signature])
        let store = fixture.store()
        #expect(await store.updateError()?.code == .invalidSignature)
        fixture.provider.answer(body)
        #expect(await store.updateError()?.code == .invalidSignature)
        #expect(store.judge(1) == .empty)
    }

    @Test(
        "An issue time ahead of the clock counts, is reported, and raises the trusted time by a day at most",
        arguments: [3_600, 86_400, 2 * 86_400, 1_900_000_000 * 999] as [Int64])
    func aheadOfClock(lead: Int64) async throws {
        let fixture = try StoreFixture(useChallenge: true)
        // The last of the arguments: milliseconds for seconds.
        fixture.publishSigned(
            [("www.example.com", 1, 0), ("www.example.com", 2, 100)], issued: StoreFixture.start + lead)
        let store = fixture.store()
        let ahead = Lock<Duration?>(nil)
        store.addObserver { event in
            if event.kind == .issuedAheadOfClock { ahead.withLock { $0 = event.span } }
        }
        try await store.update()
        #expect(ahead.withLock { $0 } == .seconds(lead))
        let counted = min(lead, StoreFixture.day)
        #expect(store.trustedTime == Date(timeIntervalSince1970: Double(StoreFixture.start + counted)))
        #expect(store.judge(1) == .untrusted && store.judge(2) == .trusted)
        #expect(fixture.store().trustedTime == store.trustedTime)
    }

    @Test(
        "An answer to the store's own challenge is fresh: it corrects the newest issue time", arguments: [true, false])
    func corrected(isReloaded: Bool) async throws {
        let fixture = try StoreFixture(useChallenge: true)
        fixture.publishSigned([("www.example.com", 1, 100)], issued: StoreFixture.start * 1_000)
        var store = fixture.store()
        try await store.update()
        if isReloaded { store = fixture.store() }
        fixture.clock.advance(by: .seconds(60))
        fixture.publishSigned([("www.example.com", 2, 100)], issued: StoreFixture.start + 60)
        try await store.update(mode: .forced)
        #expect(store.judge(2) == .trusted && store.trustedTime == fixture.clock.now)
        #expect(fixture.store().trustedTime == fixture.clock.now)
    }

    @Test("A build date lets a device whose clock is behind know the time of the answers that it gets")
    func slowClock() async throws {
        var fixture = try StoreFixture(useChallenge: true)
        fixture.configuration.buildDate = Date(
            timeIntervalSince1970: Double(StoreFixture.start - 40 * StoreFixture.day))
        fixture.clock.set(Date(timeIntervalSince1970: 0))
        fixture.publishSigned([("www.example.com", 1, -45), ("www.example.com", 2, 100)])
        let store = fixture.store()
        try await store.update()
        #expect(store.trustedTime == Date(timeIntervalSince1970: Double(StoreFixture.start - 39 * StoreFixture.day)))
        #expect(store.judge(1) == .untrusted && store.judge(2) == .trusted)
    }

    @Test("An entry that left a document that was signed as a whole is no longer trusted, down to the last")
    func emptyDocument() async throws {
        let fixture = try StoreFixture(useChallenge: true)
        fixture.publishSigned([("www.example.com", 1, 100)])
        let store = fixture.store()
        try await store.update()
        fixture.publishSigned([])
        #expect(await store.updateError()?.code == .storeIsEmpty)
        #expect(store.judge(1) == .empty && store.entryCount == 0)
    }

    @Test("The version check of the server is in the report")
    func versionCheck() async throws {
        let fixture = try StoreFixture(useChallenge: true)
        fixture.publishSigned(
            [("www.example.com", 1, 100)], more: #","verifyVersionResult":{"update":"SUGGESTED","message":"New!"}"#)
        let report = try await fixture.store().update()
        #expect(report.versionCheck == .init(update: .suggested, message: "New!"))
    }

    @Test("domainsConfig counts only if the configuration lets documents switch pinning off", arguments: [true, false])
    func domains(isAllowed: Bool) async throws {
        var fixture = try StoreFixture(useChallenge: true)
        fixture.configuration.allowsDocumentsToDisablePinning = isAllowed
        fixture.publishSigned(
            [("www.example.com", 1, 100), ("*.wild.example.com", 1, 100)],
            more:
                #","domainsConfig":{"sslPinningRequiredForUnlisted":false,"domains":[{"name":"free.example.com","sslPinningRequired":false},{"name":"bound.example.com","sslPinningRequired":true}]}"#
        )
        let store = fixture.store()
        try await store.update()
        let policies = try PolicyFixture()
        for (host, isExempt) in [
            ("free.example.com", true), ("bound.example.com", false), ("unlisted.example.com", true),
            ("www.example.com", false), ("a.wild.example.com", false),
        ] {
            let leaf = try policies.issuing.leaf(names: [.dns(host)])
            let decision = try store.policy(for: host)
                .evaluate(policies.trust(leaf.chain, host: host), at: policies.now)
            #expect(decision.isTrusted == (isAllowed && isExempt), "\(host)")
            if decision.isTrusted { #expect(decision.notices.map(\.code) == [.validationDisabled]) }
        }
    }
}
