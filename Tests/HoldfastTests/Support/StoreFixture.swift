import Foundation
import HoldfastCompatibility
import HoldfastTesting

@testable import Holdfast

/// A provider that answers as the test says, and counts.
final class ScriptedProvider: RemoteDataProvider {
    typealias Answer = @Sendable (RemoteDataRequest) async throws -> RemoteDataResponse

    private struct State {
        var answer: Answer = { _ in throw RemoteDataError(.connectionFailed, expected: "a server", found: "none") }
        var requests: [RemoteDataRequest] = []
    }

    private let state = Lock(State())

    var requests: [RemoteDataRequest] { state.withLock { $0.requests } }

    func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    func answer(_ body: Data, headers: [String: String] = [:]) {
        answer { _ in RemoteDataResponse(.body(body), headers: headers) }
    }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answer
        }
        return try await answer(request)
    }
}

/// A signer, a server, a storage and a clock that stands still.
struct StoreFixture {
    static let start: Int64 = 1_900_000_000
    static let day: Int64 = 86_400
    static let name = "www.example.com"

    let signer = DocumentSigner()
    let provider = ScriptedProvider()
    let storage = InMemoryDataStore()
    let log = RecordingLog()
    let clock = ManualClock(now: Date(timeIntervalSince1970: Double(start)))
    var configuration: CertStoreConfiguration

    init(useChallenge: Bool = false) throws {
        let key = try signer.publicKey.base64
        guard let url = URL(string: "https://pins.example.com/list") else { throw CocoaError(.fileNoSuchFile) }
        configuration = CertStoreConfiguration(serviceURL: url, publicKey: key, useChallenge: useChallenge)
    }

    /// The key under which a store of these settings keeps its document.
    var storageKey: String { store(InMemoryDataStore()).documents.format.storageKey }

    var now: Int64 { Int64(clock.now.timeIntervalSince1970) }

    func store(_ storage: (any SecureDataStore)? = nil, crypto: any CryptoProvider = SwiftCryptoProvider()) -> CertStore
    {
        CertStore(
            configuration: configuration, cryptoProvider: crypto, secureDataStore: storage ?? self.storage,
            remoteDataProvider: provider, clock: clock, logger: log.logger)
    }

    /// A signed list of names with one fingerprint and the days until it expires.
    func list(_ entries: [(String, UInt8, days: Int64)], more: String = "") throws -> Data {
        try signer.list(entries.map { try signer.entry($0, .fingerprint($1), Self.start + $2 * Self.day) }, more: more)
    }

    func publish(_ entries: [(String, UInt8, days: Int64)], more: String = "", headers: [String: String] = [:]) throws {
        provider.answer(try list(entries, more: more), headers: headers)
    }

    /// A server that signs its answer for each challenge.
    func publishSigned(_ entries: [(String, UInt8, days: Int64)], issued: Int64? = nil, more: String = "") {
        publishSigned(
            body: DocumentSigner.body(
                entries.map { ($0, Data.fingerprint($1), Self.start + $2 * Self.day) }, at: issued ?? Self.start,
                more: more))
    }

    /// The same with a body of the test's own.
    func publishSigned(body: Data) {
        let signer = signer
        provider.answer { request in
            let challenge = request.headers["X-Cert-Pinning-Challenge"] ?? ""
            return RemoteDataResponse(
                .body(body), headers: ["x-cert-pinning-signature": try signer.answer(to: challenge, body)])
        }
    }
}

extension CertStore {
    func judge(_ name: String, _ fingerprint: UInt8) -> ValidationResult {
        validate(commonName: name, fingerprint: .fingerprint(fingerprint))
    }

    func judge(_ fingerprint: UInt8) -> ValidationResult { judge(StoreFixture.name, fingerprint) }

    /// The code of the error that an update ends with; nil when it succeeds.
    func updateError(_ mode: StoreUpdateMode = .forced) async -> StoreError? {
        do throws(StoreError) {
            try await update(mode: mode)
            return nil
        } catch {
            return error
        }
    }

    /// The report of the update that `body` starts.
    func finishedUpdate(_ body: () async throws -> Void) async rethrows -> StoreUpdateReport? {
        let events = events()
        try await body()
        for await event in events {
            if let report = event.report { return report }
        }
        return nil
    }
}
