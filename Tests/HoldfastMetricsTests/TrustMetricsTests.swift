import Foundation
import Holdfast
import HoldfastMetrics
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import MetricsTestKit
import Testing

@Suite("Metrics by failure code", .timeLimit(.minutes(15)))
struct TrustMetricsTests {
    private let host: String
    private let root: TestAuthority
    private let leaf: TestCertificate
    private let metrics = TestMetrics()

    init() throws {
        host = "www.example.com"
        root = try TestAuthority.root()
        leaf = try root.leaf(names: ["www.example.com"])
    }

    private func trust(_ certificate: TestCertificate, host: String? = nil) throws -> ServerTrust {
        ServerTrust(
            certificates: certificate.chain, host: try DialedHost(host ?? self.host),
            anchors: try TrustAnchors(der: [root.root]))
    }

    private func decisions(_ outcome: String, _ code: String) throws -> Int64 {
        try metrics.expectCounter("holdfast_decisions_total", [("outcome", outcome), ("code", code)]).totalValue
    }

    private func updates(of store: String, _ outcome: String, _ code: String) throws -> Int64 {
        try metrics.expectCounter(
            "holdfast_store_updates_total", [("store", store), ("outcome", outcome), ("code", code)]
        ).totalValue
    }

    @Test("Decisions are counted by outcome and code, whatever the host, until the observation ends")
    func decisions() throws {
        let pins = try PinSet(pins: [Pin.publicKey(of: leaf.der)])
        let manager = TrustManager(policies: [try PinnedPolicy(host: HostPattern(host), pins: pins)])
        let counting = TrustMetrics(factory: metrics)
        let token = counting.count(manager)
        for _ in 0..<2 { _ = manager.evaluate(try trust(leaf)) }
        _ = manager.evaluate(try trust(root.impersonate(leaf)))
        for other in ["a.example.com", "b.example.com"] { _ = manager.evaluate(try trust(leaf, host: other)) }
        #expect(try decisions("trusted", "none") == 2)
        #expect(try decisions("rejected", "pinMismatch") == 1)
        #expect(try decisions("rejected", "noPolicyForHost") == 2)
        #expect(metrics.counters.count == 3)
        manager.removeObserver(token)
        _ = manager.evaluate(try trust(leaf))
        #expect(try decisions("trusted", "none") == 2)
    }

    @Test("A mismatch in report-only mode is counted as noted, beside the decision to trust")
    func notices() throws {
        let pins = try PinSet(pins: [Pin.publicKey(of: leaf.der)], enforcement: .reportOnly)
        let policy = try PinnedPolicy(host: HostPattern(host), pins: pins)
        TrustMetrics(factory: metrics).record(policy.evaluate(try trust(root.impersonate(leaf)), at: .now))
        #expect(try decisions("trusted", "none") == 1 && decisions("noted", "pinMismatch") == 1)
    }

    private struct NoServer: RemoteDataProvider {
        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
            throw RemoteDataError(status: 404)
        }
    }

    @Test("Updates are counted by store, outcome and code")
    func updates() async throws {
        let configuration = CertStoreConfiguration(
            serviceURL: try #require(URL(string: "https://pins.example.com/")),
            publicKey: "BC3kV9OIDnMuVoCdDR9nEA/JidJLTTDLuSA2TSZsGgODSshfbZg31MS90WC/HdbU/A5WL5GmyDkE/iks6INv+XE=",
            identifier: "backends")
        let store = try CertStore(
            checking: configuration, secureDataStore: InMemoryDataStore(), remoteDataProvider: NoServer(),
            logger: RecordingLog().logger)
        let counting = TrustMetrics(factory: metrics)
        counting.count(store)
        for _ in 0..<2 { _ = try? await store.update(mode: .forced) }
        #expect(try updates(of: "backends", "failed", "networkError") == 2)
        let report = try #require(store.lastUpdate)
        counting.record(report, of: "another")
        #expect(try updates(of: "another", "failed", "networkError") == 1)
    }

    @Test("Updates of a repository of pins are counted under the name that it is given")
    func repository() async throws {
        let key = TUFSigningKey()
        let (keys, online) = (TUFRoleKeys([key.publicKey]), TUFRoleKeys([TUFSigningKey().publicKey]))
        let roles: [TUFRole: TUFRoleKeys] = [.root: keys, .targets: keys, .snapshot: online, .timestamp: online]
        var state = try TUFRepositoryState(roles: roles, at: .now)
        _ = try state.sign(by: key)
        var configuration = PinRepositoryConfiguration(
            source: .bundle(try #require(URL(string: "https://pins.example.com/bundle.json"))),
            root: try #require(state.newestRoot?.data), floor: PinFloor(covering: [try HostPattern(host)]))
        configuration.remoteDataProvider = NoServer()
        configuration.secureDataStore = InMemoryDataStore()
        let repository = try PinRepository(checking: configuration, logger: RecordingLog().logger)
        let counting = TrustMetrics(factory: metrics)
        counting.count(repository)
        counting.count(repository, named: "pins")
        _ = try? await repository.update(mode: .forced)
        #expect(try updates(of: "repository", "failed", "networkError") == 1)
        #expect(try updates(of: "pins", "failed", "networkError") == 1)
    }
}
