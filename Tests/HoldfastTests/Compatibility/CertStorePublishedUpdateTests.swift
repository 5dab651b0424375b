import Crypto
import Dispatch
import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

/// The published update, and the parts of a store that an application may replace.
@Suite("A store's published update and its replaceable parts", .timeLimit(.minutes(10)))
struct CertStorePublishedUpdateTests {
    /// An application's own cryptography, which says what it was asked.
    private final class Cryptography: CryptoProvider {
        final class Key: ECPublicKey {
            let point: Data
            init(_ point: Data) { self.point = point }
        }

        struct Asked {
            var points: [Data] = []
            var signed: [SignedData] = []
            var keys: [Data] = []
            var hashed: [Data] = []
            var lengths: [Int] = []
        }

        let asked = Lock(Asked())
        let isValid: Bool
        let takesKeys: Bool

        init(isValid: Bool = true, takesKeys: Bool = true) { (self.isValid, self.takesKeys) = (isValid, takesKeys) }

        func ecdsaValidateSignatures(signedData: SignedData, publicKey: any ECPublicKey) -> Bool {
            asked.withLock {
                $0.signed.append(signedData)
                $0.keys.append((publicKey as? Key)?.point ?? Data())
            }
            return isValid
        }

        func importECPublicKey(publicKey: Data) -> (any ECPublicKey)? {
            asked.withLock { $0.points.append(publicKey) }
            return takesKeys ? Key(publicKey) : nil
        }

        func hashSha256(data: Data) -> Data {
            asked.withLock { $0.hashed.append(data) }
            return .fingerprint(9)
        }

        func getRandomData(length: Int) -> Data {
            asked.withLock { $0.lengths.append(length) }
            return Data(repeating: 7, count: length)
        }
    }

    /// The result that the closure of an update is called with.
    private func result(of store: CertStore, _ mode: StoreUpdateMode) async -> CertStore.UpdateResult {
        let answer = FirstAnswer<CertStore.UpdateResult>()
        store.update(mode: mode, completionQueue: .global()) { result, _ in answer.settle(result) }
        return await answer.value
    }

    @Test("The closure of a silent update is called at once with ok, while the download goes on behind it")
    func silent() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, 100)])
        let store = fixture.store()
        #expect(await result(of: store, .default) == .ok)
        fixture.clock.set(store.nextUpdate)
        let (gate, new) = (Gate(), try fixture.list([(StoreFixture.name, 2, 100)]))
        fixture.provider.answer { _ in
            await gate.wait()
            return RemoteDataResponse(.body(new))
        }
        let report = try await store.finishedUpdate {
            let (queue, results) = (DispatchQueue(label: "holdfast.tests.silent"), Lock<[CertStore.UpdateResult]>([]))
            store.update(mode: .default, completionQueue: queue) { result, _ in results.withLock { $0.append(result) } }
            // The queue has got the closure by then, or gets it after the download, which the gate holds back.
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
            #expect(results.withLock { $0 } == [.ok] && store.judge(1) == .trusted)
            let isUpdating = store.documents.isUpdating
            gate.open()
            try #require(isUpdating)
        }
        #expect(report?.kind == .silent && store.judge(2) == .trusted)
    }

    @Test("A forced update is made although none is due, and its closure is called after the download")
    func forced() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, 100)])
        let store = fixture.store()
        #expect(await result(of: store, .default) == .ok)
        try fixture.publish([(StoreFixture.name, 2, 100)])
        #expect(await result(of: store, .default) == .ok)
        #expect(store.judge(1) == .trusted && fixture.provider.requests.count == 1)
        #expect(await result(of: store, .forced) == .ok)
        #expect(store.judge(2) == .trusted && fixture.provider.requests.count == 2)
    }

    @Test("Each failure of an update has one published result")
    func results() {
        for (code, result) in [
            (nil, .ok), (.notStored, .ok), (.networkError, .networkError), (.timedOut, .networkError),
            (.reset, .networkError), (.invalidSignature, .invalidSignature), (.storeIsEmpty, .storeIsEmpty),
            (.invalidData, .invalidData), (.invalidConfiguration, .invalidData), (.damagedStorage, .invalidData),
        ] as [(StoreError.Code?, CertStore.UpdateResult)] {
            let report = StoreUpdateReport(
                kind: .direct, error: code.map { StoreError($0, expected: "", found: "") }, time: .distantPast,
                nextUpdate: .distantFuture, versionCheck: nil)
            #expect(report.result == result)
        }
    }

    @Test("A store asks the application's cryptography for everything, with the published values")
    func cryptography() async throws {
        let fixture = try StoreFixture()
        let point = try #require(Data(base64Encoded: fixture.configuration.publicKey))
        try fixture.publish([(StoreFixture.name, 9, 100)])
        let crypto = Cryptography()
        let store = fixture.store(crypto: crypto)
        try await store.update()
        #expect(store.validate(commonName: StoreFixture.name, certificateData: Data("any".utf8)) == .trusted)
        crypto.asked.withLock { asked in
            #expect(!asked.points.isEmpty && asked.points.allSatisfy { $0 == point })
            #expect(!asked.keys.isEmpty && asked.keys.allSatisfy { $0 == point })
            let expires = StoreFixture.start + 100 * StoreFixture.day
            let message = "\(StoreFixture.name)&\(Data.fingerprint(9).base64EncodedString())&\(expires)"
            #expect(asked.signed.first?.data == Data(message.utf8))
            // An ECDSA-Sig-Value is a SEQUENCE (RFC 3279 2.2.3).
            #expect(asked.signed.first?.signature.first == 0x30)
            #expect(asked.hashed == [Data("any".utf8)])
        }
    }

    @Test("A challenge is the random data of the application's cryptography")
    func randomData() async throws {
        let fixture = try StoreFixture(useChallenge: true)
        fixture.publishSigned([(StoreFixture.name, 1, 1)])
        let crypto = Cryptography()
        try await fixture.store(crypto: crypto).update()
        let challenge = fixture.provider.requests.first?.headers["X-Cert-Pinning-Challenge"]
        #expect(challenge == Data(repeating: 7, count: 16).base64EncodedString())
        #expect(crypto.asked.withLock { $0.lengths.contains(16) })
    }

    @Test("A signature that the application's cryptography refuses is refused")
    func refused() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, 100)])
        let store = fixture.store(crypto: Cryptography(isValid: false))
        #expect(await store.updateError()?.code == .invalidSignature)
        #expect(store.judge(1) == .empty)
    }

    @Test("A key that the application's cryptography does not take is an error of the configuration")
    func refusedKey() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, 100)])
        let store = fixture.store(crypto: Cryptography(takesKeys: false))
        #expect(store.configurationError?.code == .invalidConfiguration)
        #expect(await store.updateError()?.code == .invalidConfiguration && store.judge(1) == .empty)
    }

    @Test("Signed data keeps both parts, and the usual cryptography takes no key of another")
    func signedData() throws {
        let signed = SignedData(data: Data("data".utf8), signature: Data("signature".utf8))
        #expect(signed.data == Data("data".utf8) && signed.signature == Data("signature".utf8))
        #expect(signed != SignedData(data: signed.data, signature: Data()))
        #expect(signed != SignedData(data: Data(), signature: signed.signature))
        let (signer, usual) = (DocumentSigner(), CryptoKitCryptoProvider())
        let key = try #require(usual.importECPublicKey(publicKey: signer.key.publicKey.x963Representation))
        let message = Data("message".utf8)
        let valid = SignedData(data: message, signature: try signer.key.signature(for: message).derRepresentation)
        #expect(usual.ecdsaValidateSignatures(signedData: valid, publicKey: key))
        #expect(!usual.ecdsaValidateSignatures(signedData: signed, publicKey: key))
        #expect(!usual.ecdsaValidateSignatures(signedData: valid, publicKey: Cryptography.Key(Data())))
        #expect(usual.importECPublicKey(publicKey: Data(count: 65)) == nil)
        #expect(
            usual.hashSha256(data: Data("abc".utf8)).map { String(format: "%02x", $0) }.joined()
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(usual.getRandomData(length: 24).count == 24)
        #expect(usual.getRandomData(length: 24) != usual.getRandomData(length: 24))
    }
}
