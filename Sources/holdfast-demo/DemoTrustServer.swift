import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import NIOSSL

/// The part of the demo with a trust server: it signs (CMS) the keys that it has validated, and clients pin them.
struct DemoTrustServer {
    private static let customer = "demo"

    private let stage: DemoStage
    private let key: TrustServerKey
    private let store: TrustServerStore
    private let published: DemoFile
    private let impostor: TestCertificate
    private let tell: (DemoStory.Event) -> Void

    /// Runs this part, and reports each event as it happens.
    static func tell(on stage: DemoStage, _ tell: @escaping (DemoStory.Event) -> Void) async throws {
        let key = try TrustServerKey(customer: customer, kind: .p256, at: stage.clock.now)
        let document = DemoFile(try Self.document(of: stage, by: key))
        try await document.serving(on: stage, as: "\(customer).json.signed") { url in
            var configuration = TrustServerConfiguration(
                url: url, signer: try TrustServerSigner(certificate: key.certificate), customer: customer)
            configuration.secureDataStore = InMemoryDataStore()
            configuration.remoteDataProvider = AsyncHTTPClientDataProvider(
                validator: PathValidator(anchors: stage.anchors), clock: stage.clock)
            let store = try TrustServerStore(checking: configuration, clock: stage.clock)
            let scene = DemoTrustServer(
                stage: stage, key: key, store: store, published: document,
                impostor: try stage.issuing.impersonate(stage.original), tell: tell)
            try await scene.run()
        }
    }

    private func run() async throws {
        try await connect("the trusted server, nothing stored", stage.original, .accepted)
        try await connect("machine in the middle, same authority", impostor, .refused(.pinMismatch))
        let stranger = try TrustServerKey(customer: Self.customer, kind: .p256, at: stage.clock.now)
        try await update(
            "document of another trust server", try Self.document(of: stage, by: stranger), .untrustedSigner)
        try await update(
            "document for another customer", try Self.document(of: stage, by: key, customer: "other"), .wrongCustomer)
        try await connect("the trusted server, after all that", stage.original, .accepted)
    }

    private func connect(
        _ server: String, _ certificate: TestCertificate, _ expected: DemoStep.Expectation
    ) async throws {
        let step = DemoStep(
            server: server, policy: .online, version: .tlsv13, chain: certificate.chain, key: certificate.key,
            expected: expected)
        tell(.connection(try await DemoConnection(stage: stage, step: step, trustServer: store).run()))
    }

    private func update(_ what: String, _ document: Data, _ expected: DocumentError.Code) async throws {
        // The mismatch with the machine in the middle started an update, which a forced update would join. So wait for
        // it first.
        try await store.prepare()
        published.replace(with: document)
        var failure: StoreError?
        do throws(StoreError) {
            _ = try await store.update(mode: .forced)
        } catch {
            failure = error
        }
        let hasRightPins = isTrusted(stage.original) && !isTrusted(impostor)
        tell(
            .update(
                DemoUpdate(
                    what: what, kind: .document, expected: .document(expected), error: failure,
                    hasRightPins: hasRightPins)))
    }

    private func isTrusted(_ certificate: TestCertificate) -> Bool {
        let trust = ServerTrust(certificates: certificate.chain, host: stage.host, anchors: stage.anchors)
        return store.policy(for: HostPattern(stage.host)).evaluate(trust, at: stage.clock.now).isTrusted
    }

    /// Makes the document that a trust server signs after it has validated the trusted server.
    private static func document(
        of stage: DemoStage, by key: TrustServerKey, customer: String = customer
    ) throws -> Data {
        let now = stage.clock.now
        let outcome = PathValidator(anchors: stage.anchors).validate(
            PresentedChain(stage.original.chain), for: .server(identity: stage.host), at: now
        ) { _ in true }
        guard let path = outcome.path else { throw DemoFailure("the trusted server is not trusted") }
        let round = PublishingRound(
            [(host: stage.host, answer: .validated(path))], earlier: [], rules: .init(), at: now)
        return try TrustServerDraft(customer: customer, hosts: round.hosts, timestamp: now).signed(by: key)
    }
}
