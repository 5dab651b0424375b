import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

/// Verifies as fast as always, except for the first signature: it takes the whole time of the update, and continues
/// until its task is canceled.
private final class SlowCrypto: CryptoProvider {
    private let real = SwiftCryptoProvider()
    private let isFirst = Lock(true)
    let timer = HandMovedClock()
    let wasStopped = Lock(false)
    let isOver = Gate()

    func ecdsaValidateSignatures(signedData: SignedData, publicKey: any ECPublicKey) -> Bool {
        let isFirst = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
        }
        if isFirst {
            // Bounded, so that it ends even if it is never canceled.
            var turns = 0
            while !Task.isCancelled, turns < 10_000_000 {
                turns += 1
                // The limit may not be measured yet when the first signature is.
                timer.advance(by: .seconds(121))
                sched_yield()
            }
            let wasCancelled = Task.isCancelled
            wasStopped.withLock { $0 = wasCancelled }
            isOver.open()
        }
        return real.ecdsaValidateSignatures(signedData: signedData, publicKey: publicKey)
    }

    func importECPublicKey(publicKey: Data) -> (any ECPublicKey)? { real.importECPublicKey(publicKey: publicKey) }
    func hashSha256(data: Data) -> Data { real.hashSha256(data: data) }
    func getRandomData(length: Int) -> Data { real.getRandomData(length: length) }
}

/// Stops the task that it works for with the first signature.
private struct StoppingKey: SignatureVerifying {
    let key: DocumentPublicKey
    let count = Lock(0)

    func isValid(signature: [UInt8], for message: [UInt8]) -> Bool {
        count.withLock { $0 += 1 }
        unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
        return key.isValid(signature: signature, for: message)
    }
}

@Suite("The time that an update has", .timeLimit(.minutes(15)))
struct UpdateTimeoutTests {
    @Test("Verification that outlasts it is stopped, replaces nothing, and the next update is made as always")
    func slowVerification() async throws {
        let fixture = try StoreFixture()
        try fixture.publish((0..<20).map { ("h\($0).example.com", 1, 30) } + [(StoreFixture.name, 1, 30)])
        let crypto = SlowCrypto()
        let store = CertStore(
            unchecked: fixture.configuration, crypto: crypto.cryptography, dataStore: fixture.storage,
            provider: fixture.provider,
            clock: fixture.clock, logger: fixture.log.logger, timer: crypto.timer)
        let error = await store.updateError()
        #expect(error?.code == .timedOut)
        #expect(store.lastUpdate?.result == .networkError)
        await crypto.isOver.wait()
        #expect(crypto.wasStopped.withLock { $0 })
        #expect(store.judge(1) == .empty && fixture.storage.loadData(forKey: fixture.storageKey) == nil)
        #expect(await store.updateError() == nil)
        #expect(store.judge(1) == .trusted)
    }

    enum Kind: String, Sendable, CaseIterable {
        case list, challenge, trustServer
    }

    @Test("A download that outlasts it is canceled", arguments: Kind.allCases)
    func slowDownload(kind: Kind) async throws {
        let fixture = try StoreFixture(useChallenge: kind == .challenge)
        let timer = HandMovedClock()
        let isCancelled = Gate()
        fixture.provider.answer { _ in
            await timer.sleeper()
            timer.advance(by: .seconds(121))
            // Ends when it is canceled and no sooner.
            await withTaskCancellationHandler {
                await isCancelled.wait()
            } onCancel: {
                isCancelled.open()
            }
            throw CancellationError()
        }
        func update(_ format: some DocumentFormat) async throws {
            let documents = DocumentStore(
                format: format, clock: fixture.clock, dataStore: fixture.storage, provider: fixture.provider,
                logger: fixture.log.logger, timer: timer)
            _ = try await documents.update(mode: .forced)
        }
        await #expect(throws: StoreError(.timedOut, expected: "", found: "")) {
            if kind == .trustServer {
                try await update(
                    TrustServerFormat(configuration: try TrustServerStoreFixture().configuration()))
            } else {
                try await update(
                    CertStoreFormat(
                        configuration: fixture.configuration, key: try fixture.signer.publicKey,
                        configurationError: nil, crypto: .standard))
            }
        }
        await isCancelled.wait()
    }

    @Test("A list whose reader is canceled is verified no further")
    func list() async throws {
        let fixture = try StoreFixture()
        let key = StoppingKey(key: try fixture.signer.publicKey)
        let list = try fixture.list((0..<20).map { ("h\($0).example.com", 1, 30) })
        let reading = Task {
            _ = try FingerprintList(verifying: list, by: key, limits: DocumentLimits())
        }
        #expect(await refusal(of: reading) == .canceled)
        #expect(key.count.withLock { $0 } == 1)
    }

    @Test("A document whose reader is canceled is read no further")
    func document() async throws {
        let fixture = try TrustServerStoreFixture()
        let document = try fixture.document()
        let configuration = try fixture.configuration()
        let time = fixture.clock.now
        let reading = Task {
            unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
            _ = try TrustServerDocument(
                verifying: document, by: configuration.signer, customer: configuration.customer, at: time)
        }
        #expect(await refusal(of: reading) == .canceled)
    }

    private func refusal(of reading: Task<Void, any Error>) async -> DocumentError.Code? {
        do {
            try await reading.value
            return nil
        } catch {
            return (error as? DocumentError)?.code
        }
    }
}
