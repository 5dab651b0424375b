import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Fallback entries of a store, and names that enter it", .timeLimit(.minutes(15)))
struct CertStoreFallbackTests {
    @Test(
        "Fallback entries outlive documents without an entry in force, across restarts and offline",
        arguments: [true, false])
    func expiredDocument(useChallenge: Bool) async throws {
        var fixture = try StoreFixture(useChallenge: useChallenge)
        fixture.configuration.fallbackCertificateData = try fixture.list([("www.example.com", 7, 100)])
        let expired: [(String, UInt8, days: Int64)] = [("www.example.com", 1, -30), ("b.example.com", 2, -1)]
        let store = fixture.store()
        func publish(_ list: [(String, UInt8, days: Int64)]) throws {
            if useChallenge { fixture.publishSigned(list) } else { try fixture.publish(list) }
        }
        try publish(expired)
        for _ in 0..<2 {
            let error = await store.updateError()
            #expect(error?.code == .storeIsEmpty && store.lastUpdate?.result == .storeIsEmpty)
            #expect(store.judge(7) == .trusted)
        }
        fixture.provider.answer { _ in throw RemoteDataError(status: 503) }
        #expect(fixture.store().judge(7) == .trusted)
        // After a list in force the fallback does not come back, whatever is replayed.
        try publish([("www.example.com", 1, 10)])
        try await store.update(mode: .forced)
        #expect(store.judge(7) == .untrusted && store.judge(1) == .trusted)
        fixture.clock.advance(by: .seconds(11 * 86_400))
        if !useChallenge {
            try publish(expired)
            #expect(await store.updateError()?.code == .storeIsEmpty)
            #expect(store.entryCount == 1)
        }
        #expect(store.judge(7) == .empty && fixture.store().judge(7) == .empty)
    }

    @Test("An empty list, which nobody signed, does not end the fallback even if the app accepts the loss of pins")
    func emptyList() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.acceptsLossOfPins = true
        fixture.configuration.fallbackCertificateData = try fixture.list([("www.example.com", 7, 100)])
        let store = fixture.store()
        try fixture.publish([])
        #expect((await store.updateError()?.underlying as? DocumentError)?.code == .emptyList)
        try fixture.publish([("www.example.com", 1, -1)])
        #expect(await store.updateError()?.code == .storeIsEmpty)
        #expect(store.judge(7) == .trusted)
    }

    @Test("A fallback that expires in milliseconds is refused: it would count for 50,000 years")
    func milliseconds() throws {
        var fixture = try StoreFixture()
        fixture.configuration.fallbackCertificateData = fixture.signer.list([
            try fixture.signer.entry("www.example.com", .fingerprint(1), (StoreFixture.start + 86_400) * 1_000)
        ])
        let error = #expect(throws: StoreError.self) {
            try CertStore(
                checking: fixture.configuration, remoteDataProvider: fixture.provider, logger: RecordingLog().logger)
        }
        #expect(error?.code == .invalidConfiguration && error?.found.contains("milliseconds") == true)
    }

    @Test("Expected names and domains that need pins are hosts, however they are spelled")
    func spelling() throws {
        var fixture = try StoreFixture()
        fixture.configuration.expectedCommonNames = ["WWW.example.com.", "2001:DB8:0::1"]
        #expect(fixture.configuration.expects("www.example.com") && fixture.configuration.expects("2001:db8::1"))
        #expect(!fixture.configuration.expects("example.com"))
        let domains = DomainsConfiguration(
            pinningRequiredForUnlisted: false,
            required: [Array("www.example.com.".utf8): true, Array("[2001:DB8:0::1]".utf8): true])
        #expect(domains.isRequired("www.example.com") == true && domains.isRequired("2001:db8::1") == true)
        #expect(domains.isRequired("example.com") == nil)
    }

    @Test(
        "Names under which no client looks up a host are told from others",
        arguments: [
            ("api.example.com", false), ("API.Example.com", false), ("*.example.com", false), ("192.0.2.1", false),
            ("2001:db8::1", false), ("My Device", false), ("localhost", false), ("_sip.example.com", false),
            ("api.example.com.", true), ("b\u{FC}cher.example", true), ("host:443", true), ("*.example.com.", true),
            ("[2001:db8::1]", true), ("2001:db8:0::1", true), ("[2001:db8::1]:443", true), ("**.example.com", true),
            ("*.com", true), ("https://api.example.com/", true),
        ])
    func lookup(name: String, isRefused: Bool) {
        #expect((FingerprintEntry.objection(toName: name) != nil) == isRefused)
    }
}
