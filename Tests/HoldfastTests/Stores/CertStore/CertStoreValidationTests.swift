import Crypto
import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Validation by a store", .timeLimit(.minutes(15)))
struct CertStoreValidationTests {
    @Test("A store with no entries at all answers empty")
    func empty() throws {
        let store = try StoreFixture().store()
        #expect(store.judge(1) == .empty)
        #expect(store.validate(commonName: "x", certificateData: Data([1])) == .empty)
    }

    @Test("A fingerprint of the name is trusted, another is untrusted, another name is empty")
    func results() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 30), ("www.example.com", 2, 60), ("b.example.com", 3, 30)])
        let store = fixture.store()
        try await store.update()
        #expect(store.judge(1) == .trusted && store.judge(2) == .trusted)
        #expect(store.judge(3) == .untrusted && store.judge("b.example.com", 3) == .trusted)
        #expect(store.judge("c.example.com", 3) == .empty)
        #expect(store.validate(commonName: "www.example.com", fingerprint: Data()) == .untrusted)
        #expect(store.validate(commonName: "c.example.com", fingerprint: Data()) == .empty)
    }

    @Test("A certificate is judged by the SHA-256 of its DER")
    func certificateData() async throws {
        let fixture = try StoreFixture()
        let der = Data([1, 2, 3])
        let entry = try fixture.signer.entry("a", Data(SHA256.hash(data: der)), StoreFixture.start + 1)
        fixture.provider.answer(fixture.signer.list([entry]))
        let store = fixture.store()
        try await store.update()
        #expect(store.validate(commonName: "a", certificateData: der) == .trusted)
        #expect(store.validate(commonName: "a", certificateData: der + Data([4])) == .untrusted)
    }

    @Test("A common name is a literal text: wildcards and parent domains cover nothing, and case counts")
    func literalNames() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("*.example.com", 1, 30), ("example.org", 2, 30)])
        let store = fixture.store()
        try await store.update()
        #expect(store.judge("*.example.com", 1) == .trusted)
        #expect(store.judge("example.org", 2) == .trusted && store.judge("a.example.org", 2) == .empty)
        #expect(store.judge("a.example.com", 1) == .empty && store.judge("*.EXAMPLE.com", 1) == .empty)
    }

    @Test("With expected common names any other name is untrusted")
    func expectedCommonNames() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.expectedCommonNames = ["www.example.com"]
        try fixture.publish([("www.example.com", 1, 30), ("b.example.com", 3, 30)])
        let store = fixture.store()
        try await store.update()
        #expect(store.judge(1) == .trusted && store.judge("b.example.com", 3) == .untrusted)
        #expect(store.judge("c.example.com", 3) == .untrusted)
    }

    @Test("Expired entries do not count: with none left unexpired the answer is empty")
    func expiry() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 1), ("www.example.com", 2, 2)])
        let store = fixture.store()
        try await store.update()
        fixture.clock.advance(by: .seconds(86_400))
        #expect(store.judge(1) == .trusted)
        fixture.clock.advance(by: .seconds(1))
        #expect(store.judge(1) == .untrusted && store.judge(2) == .trusted)
        fixture.clock.advance(by: .seconds(86_400))
        #expect(store.judge(2) == .empty)
    }

    @Test(
        "Fallback entries, one or a list or both, count until the first verified document and not after",
        arguments: [
            true, false,
        ])
    func fallback(hasList: Bool) async throws {
        var fixture = try StoreFixture()
        let expires = StoreFixture.start + 100 * StoreFixture.day
        let one =
            #"{"name":"www.example.com","fingerprint":"\#(Data.fingerprint(7).base64EncodedString())","expires":\#(expires),"signature":"AAAA"}"#
        fixture.configuration.fallbackCertificateData = Data(one.utf8)
        if hasList {
            fixture.configuration.fallbackCertificatesData = Data(
                #"{"fingerprints":[{"name":"www.example.com","fingerprint":"\#(Data.fingerprint(8).base64EncodedString())","expires":\#(expires)}]}"#
                    .utf8)
        }
        let store = fixture.store()
        #expect(store.judge(7) == .trusted && store.judge(8) == (hasList ? .trusted : .untrusted))
        try fixture.publish([("www.example.com", 1, 30)])
        // Fallback entries never count as stored: the first update is direct.
        let report = try await store.update()
        #expect(report.kind == .direct)
        #expect(store.judge(7) == .untrusted && store.judge(1) == .trusted)
        fixture.clock.advance(by: .seconds(31 * 86_400))
        #expect(store.judge(7) == .empty)
        store.reset()
        #expect(store.judge(7) == .trusted)
    }

    @Test("A changed clock does not bring back what has expired: the build's date counts")
    func buildDate() async throws {
        var fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 1)])
        fixture.configuration.buildDate = Date(timeIntervalSince1970: Double(StoreFixture.start + 2 * StoreFixture.day))
        let store = fixture.store()
        #expect(await store.updateError()?.code == .storeIsEmpty)
        #expect(store.judge(1) == .empty)
    }

    @Test("An invalid key or fallback makes a store that answers empty and reports the error; the throwing one throws")
    func invalidConfiguration() async throws {
        for change in [
            { $0.publicKey = "AAAA" }, { $0.fallbackCertificateData = Data("{}".utf8) },
            { $0.fallbackCertificatesData = Data("[]".utf8) }, { $0.periodicUpdateInterval = .nan },
            { $0.sslValidationStrategy = .noValidation },
        ] as [(inout CertStoreConfiguration) -> Void] {
            var fixture = try StoreFixture()
            try fixture.publish([("www.example.com", 1, 30)])
            change(&fixture.configuration)
            let store = fixture.store()
            #expect(store.configurationError?.code == .invalidConfiguration)
            #expect(await store.updateError()?.code == .invalidConfiguration)
            #expect(store.judge(1) == .empty && fixture.provider.requests.isEmpty)
            #expect(throws: StoreError.self) {
                try CertStore(
                    checking: fixture.configuration, secureDataStore: fixture.storage, logger: fixture.log.logger)
            }
            await #expect(throws: StoreError.self) {
                _ = try await CertStore.load(
                    configuration: fixture.configuration, secureDataStore: fixture.storage, logger: fixture.log.logger)
            }
            await #expect(throws: StoreError.self) { try await store.run() }
        }
    }

    @Test("noValidation is refused with a static list and taken with a challenge")
    func noValidation() throws {
        var fixture = try StoreFixture(useChallenge: true)
        fixture.configuration.sslValidationStrategy = .noValidation
        #expect(fixture.store().configurationError == nil)
    }

    @Test("Signatures are verified by the crypto provider of the application")
    func cryptoProvider() async throws {
        final class Provider: CryptoProvider {
            final class Key: ECPublicKey {}
            let answer: Bool
            init(_ answer: Bool) { self.answer = answer }
            func ecdsaValidateSignatures(signedData: SignedData, publicKey: any ECPublicKey) -> Bool {
                answer && publicKey is Key && signedData.data.starts(with: Data("www.example.com&".utf8))
            }
            func importECPublicKey(publicKey: Data) -> (any ECPublicKey)? { publicKey.count == 65 ? Key() : nil }
            func hashSha256(data: Data) -> Data { .fingerprint(1) }
            func getRandomData(length: Int) -> Data { Data(repeating: 0, count: length) }
        }
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 30)])
        #expect(await fixture.store(crypto: Provider(false)).updateError()?.code == .invalidSignature)
        let store = fixture.store(crypto: Provider(true))
        #expect(await store.updateError() == nil)
        #expect(store.validate(commonName: "www.example.com", certificateData: Data()) == .trusted)
    }

    @Test("Observers and streams learn of every validation, with its result")
    func observers() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store()
        let events = store.events()
        _ = store.judge(1)
        for await event in events {
            guard event.kind == .validated else { continue }
            #expect(event.name == StoreFixture.name && event.result == .empty)
            break
        }
    }
}
