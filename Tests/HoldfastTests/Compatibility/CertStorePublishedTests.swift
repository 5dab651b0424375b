import Crypto
import Dispatch
import Foundation
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

/// What WultraSSLPinning publishes of a store and only its compatibility layer has.
@Suite("A store by its published names", .timeLimit(.minutes(15)))
struct CertStorePublishedTests {
    private func entry(_ fixture: StoreFixture, _ name: String, _ digest: Data, depth: Int) throws -> String {
        try fixture.signer.entry(name, digest, StoreFixture.start + StoreFixture.day, more: ",\"depth\":\(depth)")
    }

    @Test("An entry with a depth is never compared at another; a call without one means the server's own certificate")
    func depth() async throws {
        let fixture = try StoreFixture()
        let other = "b.example.com"
        fixture.provider.answer(
            fixture.signer.list([
                try entry(fixture, StoreFixture.name, .fingerprint(1), depth: 0),
                try entry(fixture, StoreFixture.name, .fingerprint(2), depth: 1),
                try entry(fixture, other, .fingerprint(3), depth: 2),
            ]))
        let store = fixture.store()
        try await store.update()
        func judge(_ number: UInt8, _ depth: Int, of name: String = StoreFixture.name) -> CertStore.ValidationResult {
            store.validate(commonName: name, fingerprint: .fingerprint(number), depth: depth)
        }
        #expect(judge(1, 0) == .trusted && judge(2, 1) == .trusted && judge(3, 2, of: other) == .trusted)
        #expect(judge(1, 1) == .untrusted && judge(2, 0) == .untrusted)
        #expect(judge(1, 2) == .empty && judge(1, -1) == .empty && judge(3, 0, of: other) == .empty)
        #expect(store.judge(1) == .trusted && store.judge(2) == .untrusted && store.judge(other, 3) == .empty)
    }

    @Test("Above the server's own certificate only an authority's is trusted, whatever depth a list says")
    func depthOfAuthorities() async throws {
        let fixture = try StoreFixture()
        let authority = try TestAuthority.root()
        let (issuer, leaf) = (Data(authority.root), Data(try authority.leaf(names: [.dns(StoreFixture.name)]).der))
        fixture.provider.answer(
            fixture.signer.list(
                try [issuer, leaf].map {
                    try entry(fixture, StoreFixture.name, Data(SHA256.hash(data: $0)), depth: 1)
                }))
        let store = fixture.store()
        try await store.update()
        func judge(_ der: Data, _ depth: Int) -> CertStore.ValidationResult {
            store.validate(commonName: StoreFixture.name, certificateData: der, depth: depth)
        }
        #expect(judge(issuer, 1) == .trusted)
        #expect(judge(leaf, 1) == .untrusted && judge(Data([1]), 1) == .untrusted)
        #expect(judge(issuer, 0) == .empty && judge(leaf, 2) == .empty)
        #expect(store.validate(commonName: "b.example.com", certificateData: issuer, depth: 1) == .empty)
    }

    /// What the closure of a forced update is called with.
    private func update(_ store: CertStore) async -> (result: CertStore.UpdateResult, code: StoreError.Code?) {
        let answer = FirstAnswer<(CertStore.UpdateResult, StoreError.Code?)>()
        store.update(mode: .forced, completionQueue: .global()) { result, error in
            answer.settle((result, (error as? StoreError)?.code))
        }
        return await answer.value
    }

    @Test("The closure of an update gets an error for the network and for a configuration in error, for nothing else")
    func errors() async throws {
        var fixture = try StoreFixture()
        let store = fixture.store()
        #expect(await update(store) == (.networkError, .networkError))
        fixture.provider.answer(Data("no document".utf8))
        #expect(await update(store) == (.invalidData, nil))
        #expect(store.lastUpdate?.error?.code == .invalidData)
        let stranger = DocumentSigner()
        fixture.provider.answer(
            fixture.signer.list([try stranger.entry("a", .fingerprint(1), StoreFixture.start + StoreFixture.day)]))
        #expect(await update(store) == (.invalidSignature, nil))
        try fixture.publish([("a", 1, -1)])
        #expect(await update(store) == (.storeIsEmpty, nil))
        try fixture.publish([("a", 1, 1)])
        #expect(await update(store) == (.ok, nil))
        fixture.configuration.publicKey = "no key"
        #expect(await update(fixture.store()) == (.invalidData, .invalidConfiguration))
    }

    @Test("Cryptography of the first generation, which makes no random numbers, challenges a server too")
    func olderCryptography() async throws {
        struct OlderCrypto: CryptoProvider {
            let wrapped = SwiftCryptoProvider()
            func ecdsaValidateSignatures(signedData: SignedData, publicKey: any ECPublicKey) -> Bool {
                wrapped.ecdsaValidateSignatures(signedData: signedData, publicKey: publicKey)
            }
            func importECPublicKey(publicKey: Data) -> (any ECPublicKey)? {
                wrapped.importECPublicKey(publicKey: publicKey)
            }
            func hashSha256(data: Data) -> Data { wrapped.hashSha256(data: data) }
        }
        let fixture = try StoreFixture(useChallenge: true)
        fixture.publishSigned([(StoreFixture.name, 1, 1)])
        let store = fixture.store(crypto: OlderCrypto())
        for _ in 0..<2 { try await store.update(mode: .forced) }
        #expect(store.judge(1) == .trusted)
        let challenges = fixture.provider.requests.compactMap { $0.headers["X-Cert-Pinning-Challenge"] }
        #expect(challenges.count == 2 && Set(challenges).count == 2)
        #expect(challenges.allSatisfy { Data(base64Encoded: $0)?.count == 16 })
        #expect(OlderCrypto().getRandomData(length: -1).isEmpty)
    }

    @Test("A policy that covers the host of the document's own download is logged, once, and any other is not")
    func host() throws {
        let fixture = try StoreFixture()
        let store = fixture.store()
        func lines() -> [String] { fixture.log.lines.filter { $0.contains("another domain") } }
        _ = try store.policy(for: "www.example.com")
        _ = try store.policy(for: "*.pins.example.com")
        #expect(lines().isEmpty)
        _ = try store.policy(for: "**.example.com")
        _ = try store.policy(for: "https://pins.example.com/list")
        #expect(lines().count == 1)
        #expect(lines().first?.hasPrefix("notice ") == true && lines().first?.contains("host=pins.example.com") == true)
    }

    @Test("The verbose level decides what stores write, existing ones included, but for loggers of one's own")
    func verboseLevel() async throws {
        let (fixture, log) = (try StoreFixture(), RecordingLog())
        await PolicyLog.$shared.withValue(log.policyLog) {
            #expect(WultraDebug.verboseLevel == .all)
            let store = CertStore(
                configuration: fixture.configuration, secureDataStore: InMemoryDataStore(),
                remoteDataProvider: fixture.provider, clock: fixture.clock)
            for (level, logged, lines) in [
                (WultraDebug.VerboseLevel.off, Logger.Level.critical, 0), (.errors, .error, 0),
                (.warnings, .warning, 1), (.all, .trace, 3),
            ] {
                WultraDebug.verboseLevel = level
                #expect(WultraDebug.verboseLevel == level && PolicyLog.shared.storeLevel == logged)
                _ = await update(store)
                #expect(log.lines.count == lines, "\(level)")
            }
            WultraDebug.verboseLevel = .off
            _ = await update(fixture.store())
            #expect(log.lines.count == 3 && fixture.log.lines.count == 2)
        }
    }
}
