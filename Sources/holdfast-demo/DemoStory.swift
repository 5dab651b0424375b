import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTesting
import Logging
import NIOSSL

/// The part of the demo in which pins change: a client, its store, and the publications in the meantime.
struct DemoStory {
    enum Event {
        case connection(DemoResult)
        case update(DemoUpdate)
    }

    private let stage: DemoStage
    private let service: DemoPinService
    private let key: SigningKey
    private let url: String
    private let tell: (Event) -> Void

    /// Runs this part from the empty store to the end, and reports each event as it happens.
    static func tell(on stage: DemoStage, _ tell: @escaping (Event) -> Void) async throws {
        let key = SigningKey()
        let service = DemoPinService(key: key, clock: stage.clock)
        let certificate = try stage.issuing.leaf(names: [.address([127, 0, 0, 1])])
        try await service.serving(certificate) { server in
            let story = DemoStory(
                stage: stage, service: service, key: key, url: "https://127.0.0.1:\(server.port)", tell: tell)
            try await story.run()
        }
    }

    private func run() async throws {
        let store = try store(at: "/list", useChallenge: false)
        let (first, second) = (stage.original, stage.renewed)
        guard result(first, in: store) == .empty else {
            throw DemoFailure("a store in which nothing is stored does not say so")
        }
        try await connect("the trusted server, nothing stored", first, store, .refused(.noUsablePins))
        try await update("a signed list", store, try list([first]), counting: first)
        try await connect("the trusted server", first, store, .accepted)
        try await connect("the same, with a new certificate", second, store, .refused(.pinMismatch))
        try await update("a new list", store, try list([second]), counting: second)
        try await connect("the new certificate, no restart", second, store, .accepted)

        let good = try list([first, second])
        let stranger = try list([first, second], by: SigningKey())
        try await update("list signed with another key", store, stranger, counting: second, .invalidSignature)
        try await update(
            "list with one changed byte", store, Self.changingOneByte(of: good), counting: second, .invalidSignature)
        let expired = try list([second], seconds: -60)
        try await update("list that has expired", store, expired, counting: second, .losesPins)

        let challenging = try self.store(at: "/init", useChallenge: true)
        service.vouch(for: try entries([second]))
        try await update("signed answer to a challenge", challenging, nil, counting: second)
        service.replay()
        try await update("the same answer, replayed", challenging, nil, counting: second, .invalidSignature)
        try await connect("the new certificate, after all that", second, store, .accepted)
    }

    // MARK: What the client does

    private func store(at path: String, useChallenge: Bool) throws -> CertStore {
        guard let url = URL(string: url + path) else { throw DemoFailure("\(url) is no URL") }
        let provider = AsyncHTTPClientDataProvider(
            validator: PathValidator(anchors: stage.anchors), clock: stage.clock)
        return try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: url, publicKey: try key.publicKey.base64, useChallenge: useChallenge),
            secureDataStore: InMemoryDataStore(), remoteDataProvider: provider, clock: stage.clock,
            logger: Logger(label: "demo") { _ in SwiftLogNoOpLogHandler() })
    }

    private func connect(
        _ server: String, _ certificate: TestCertificate, _ store: CertStore, _ expected: DemoStep.Expectation
    ) async throws {
        let step = DemoStep(
            server: server, policy: .store, version: .tlsv13, chain: certificate.chain, key: certificate.key,
            expected: expected)
        tell(.connection(try await DemoConnection(stage: stage, step: step, store: store).run()))
    }

    /// Publishes a list, if there is one, and updates the store.
    /// - Parameter certificate: the only certificate that must be accepted afterward.
    private func update(
        _ what: String, _ store: CertStore, _ list: String?, counting certificate: TestCertificate,
        _ expected: DocumentError.Code? = nil
    ) async throws {
        if let list { service.publish(list) }
        var failure: StoreError?
        do throws(StoreError) {
            try await store.update(mode: .forced)
        } catch {
            failure = error
        }
        let other = certificate == stage.original ? stage.renewed : stage.original
        tell(
            .update(
                DemoUpdate(
                    what: what, kind: store.configuration.useChallenge ? .answer : .document,
                    expected: expected.map { .document($0) }, error: failure,
                    hasRightPins: result(certificate, in: store) == .trusted && result(other, in: store) == .untrusted
                )))
    }

    private func result(_ certificate: TestCertificate, in store: CertStore) -> CertStore.ValidationResult {
        store.judge(Data(Pin.certificate(certificate.der).digest), named: stage.host.name, depth: 0)
    }

    // MARK: What is published

    private func entries(_ certificates: [TestCertificate], seconds: Double = 86_400) throws -> [FingerprintEntry] {
        let expires = Int64(stage.clock.now.timeIntervalSince1970 + seconds)
        return try certificates.map {
            try FingerprintEntry(name: stage.host.name, pin: Pin.certificate($0.der), expires: expires)
        }
    }

    private func list(
        _ certificates: [TestCertificate], by key: SigningKey? = nil, seconds: Double = 86_400
    ) throws -> String {
        let draft = PinListDraft(try entries(certificates, seconds: seconds))
        return String(decoding: try draft.signed(by: key ?? self.key), as: UTF8.self)
    }

    /// Changes a list as an attacker between signer and client may: an entry expires a little earlier or later.
    private static func changingOneByte(of list: String) -> String {
        guard let field = list.range(of: "\"expires\":"), field.upperBound < list.endIndex else { return list }
        var changed = list
        let digit = list[field.upperBound]
        changed.replaceSubrange(field.upperBound...field.upperBound, with: digit == "9" ? "8" : "9")
        return changed
    }
}
