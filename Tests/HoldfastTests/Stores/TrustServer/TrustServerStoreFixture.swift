import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

/// A trust server, what it publishes, and a clock that stands still.
struct TrustServerStoreFixture {
    typealias Host = TestTrustServer.Host

    let pki: PolicyFixture
    let server: TestTrustServer
    let provider = ScriptedProvider()
    let storage = InMemoryDataStore()
    let log = RecordingLog()
    let url: URL
    var settings = OnlinePinningSettings()

    init() throws {
        pki = try PolicyFixture()
        server = try TestTrustServer(clock: pki.clock)
        url = try #require(URL(string: "https://pins.example.com/gcx.json.signed"))
        settings.remoteDataProvider = provider
        settings.secureDataStore = storage
    }

    var clock: ManualClock { pki.clock }

    func configuration(
        customer: String = "gcx", url: URL? = nil, signer: TestTrustServer? = nil
    ) throws -> TrustServerConfiguration {
        TrustServerConfiguration(
            url: url ?? self.url, signer: try TrustServerSigner(certificate: (signer ?? server).certificate),
            customer: customer, settings: settings)
    }

    func store(customer: String = "gcx", url: URL? = nil, signer: TestTrustServer? = nil) throws -> TrustServerStore {
        try TrustServerStore(
            checking: try configuration(customer: customer, url: url, signer: signer), clock: clock, logger: log.logger)
    }

    func document(
        _ hosts: [Host]? = nil, customer: String = "gcx", age: TimeInterval = 0, by signer: TestTrustServer? = nil
    ) throws -> Data {
        try (signer ?? server).document(
            customer: customer, at: clock.now.addingTimeInterval(-age), hosts ?? [Host(PolicyFixture.host, [pki.leaf])])
    }

    func publish(_ hosts: [Host]? = nil, age: TimeInterval = 0) throws {
        provider.answer(try document(hosts, age: age))
    }

    /// Publishes a document that is held back until the gate opens.
    func answerBehindGate() throws -> Gate {
        let gate = Gate()
        let document = try document()
        provider.answer { _ in
            await gate.wait()
            return RemoteDataResponse(.body(document))
        }
        return gate
    }

    func fail() {
        provider.answer { _ in throw RemoteDataError(status: 503) }
    }
}

extension TrustServerStore {
    /// The code of the error that a forced update ends with; nil when it succeeds.
    func updateError() async -> StoreError? {
        do throws(StoreError) {
            try await update(mode: .forced)
            return nil
        } catch {
            return error
        }
    }

    /// Waits for the update that is under way, if one is.
    func settle() async {
        _ = await documents.state.withLock { $0.underWay }?.value
    }
}

extension StoreError {
    /// The code of the document's error.
    var documentCode: DocumentError.Code? { (underlying as? DocumentError)?.code }
}
