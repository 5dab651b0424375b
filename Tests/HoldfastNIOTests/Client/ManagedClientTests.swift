import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import Testing

@Suite("A client that asks a trust manager", .timeLimit(.minutes(15)))
struct ManagedClientTests {
    private let setting: ClientSetting
    private let leaf: TestCertificate
    private let host = "www.example.com"

    init() throws {
        setting = try ClientSetting()
        leaf = try setting.issuing.leaf(names: ["www.example.com"])
    }

    @Test("refuses a host without a policy, unless told that standard validation decides")
    func unknownHost() async throws {
        let manager = TrustManager(policies: [try setting.policy(for: "other.example.com")])
        let seen = Lock<[TrustDecision]>([])
        manager.addObserver { decision in seen.withLock { $0.append(decision) } }
        try await withLoopbackTLSServer(serving: leaf) { server in
            let client = try setting.client(for: host, trust: .manager(manager))
            try await expectRefusal(try await ClientAttempt.make(client, at: server), .noPolicyForHost, at: server)
            manager.unknownHosts = .standardValidation
            expectTrust(try await ClientAttempt.make(client, at: server))
        }
        #expect(seen.withLock { $0.map(\.isTrusted) } == [false, true])
        #expect(seen.withLock { $0.map { $0.host?.name } } == [host, host])
    }

    @Test("is judged by the policy of the moment, when it is replaced and when it is removed")
    func replacedPolicy() async throws {
        let manager = TrustManager(policies: [try setting.policy(for: host)])
        let otherPin = try setting.issuing.leaf(names: ["other"]).publicKeyPin()
        let client = try setting.client(for: host, trust: .manager(manager))
        try await withLoopbackTLSServer(serving: leaf) { server in
            expectTrust(try await ClientAttempt.make(client, at: server))
            let sent = ClientAttempt.greeting.utf8.count

            manager.add(policy: try setting.policy(for: host, pins: [otherPin]))
            expectRefusal(try await ClientAttempt.make(client, at: server), .pinMismatch)
            manager.removePolicy(name: host)
            expectRefusal(try await ClientAttempt.make(client, at: server), .noPolicyForHost)
            try await server.waitForDisconnection()
            #expect(server.statistics.plaintextBytesReceived == sent)

            manager.add(policy: try setting.policy(for: host, pins: [otherPin, try leaf.publicKeyPin()]))
            expectTrust(try await ClientAttempt.make(client, at: server))
        }
    }

    @Test("with a single policy for another host is refused")
    func otherHost() async throws {
        let policy = try setting.policy(for: "other.example.com")
        try await withLoopbackTLSServer(serving: leaf) { server in
            let client = try setting.client(for: host, trust: .policy(policy))
            try await expectRefusal(try await ClientAttempt.make(client, at: server), .hostNotCovered, at: server)
        }
    }

    @Test("can ask a closure of the application instead")
    func closure() async throws {
        let policy = try setting.policy(for: host)
        let asked = Lock<[DialedHost?]>([])
        try await withLoopbackTLSServer(serving: leaf) { server in
            let client = try setting.client(
                for: host,
                trust: .custom { trust, time in
                    asked.withLock { $0.append(trust.host) }
                    return policy.evaluate(trust, at: time)
                })
            expectTrust(try await ClientAttempt.make(client, at: server))
        }
        #expect(try asked.withLock { $0 } == [DialedHost(host)])
    }

    @Test("goes by its validator's revocation lists, and by the new anchors of a store, in the next handshake")
    func validator() async throws {
        let serial = Array(try X509Certificate(der: leaf.der).serialNumber)
        let lists = try [
            setting.issuing.revocationList { $0.serialNumbers = [serial] }, setting.root.revocationList(),
        ].map { try CertificateRevocationList(der: $0) }
        let anchors = Lock(try TrustAnchors(der: [setting.root.root]))
        let store = try await TrustAnchorStore { anchors.withLock { $0 } }
        func client(_ revocation: Revocation) throws -> PinnedTLSClient {
            try PinnedTLSClient(
                trust: .policy(setting.policy(for: host)), host: DialedHost(host),
                validator: PathValidator(anchors: store, revocation: revocation))
        }
        let trusting = try client(.none)
        try await withLoopbackTLSServer(serving: leaf) { server in
            expectTrust(try await ClientAttempt.make(trusting, at: server))
            expectRefusal(try await ClientAttempt.make(try client(.crls(lists)), at: server), .revoked)
            let stranger = try TrustAnchors(der: [TestAuthority.root(name: "Stranger").root])
            anchors.withLock { $0 = stranger }
            #expect(try await store.reload())
            expectRefusal(try await ClientAttempt.make(trusting, at: server), .unknownIssuer)
        }
    }
}
