import Crypto
import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Deciding changes nothing; whoever hands a decision out tells the source", .timeLimit(.minutes(15)))
struct PureDecisionTests {
    private let pki: PolicyFixture

    init() throws { pki = try PolicyFixture() }

    /// Records the findings that it is notified of, and answers as the test specifies.
    private final class TellTale: PinSource {
        let content: PinAnswer.Content
        let told = Lock<[[PinFinding]]>([])

        init(_ content: PinAnswer.Content) { self.content = content }

        func answer(to question: PinQuestion) -> PinAnswer { PinAnswer(content, at: question.time) }
        func tell(_ decision: TrustDecision) { told.withLock { $0.append(decision.findings) } }
        var mayAdmitWithoutPins: Bool { false }
    }

    private func wrong(_ enforcement: PinSet.Enforcement = .enforce) throws -> PinSet {
        try PinSet(
            pins: [Pin(subject: .publicKey, digest: [UInt8](repeating: 7, count: 32))], enforcement: enforcement)
    }

    @Test("What a decision found is in it, and reaches the source once, whoever hands it out")
    func findings() throws {
        let absent = TrustFailure(.noUsablePins, expected: "pins", found: "none")
        let cases: [(PinAnswer.Content, [PinFinding])] = [
            (.required(try wrong()), [.mismatch(.enforce)]),
            (.required(try wrong(.reportOnly)), [.mismatch(.reportOnly)]),
            (.required(try PinSet(pins: [pki.keyPin(pki.leaf)])), []),
            (.required(PinSet(known: [])), [.noPins(.expired)]),
            (.none(.empty, absent), [.noPins(.empty)]), (.none(.notCovered, absent), [.noPins(.notCovered)]),
            (.exempt(TrustFailure(.validationDisabled, expected: "pins", found: "none")), [.exempt]),
        ]
        let host = try HostPattern(PolicyFixture.host)
        let trust = try pki.trust()
        for (content, findings) in cases {
            let source = TellTale(content)
            let policy = PinnedPolicy(
                scope: .hosts(host), source: source, certificates: [], log: pki.log.policyLog)
            #expect(policy.evaluate(trust, at: pki.now).findings == findings)
            #expect(source.told.withLock { $0 }.isEmpty)
            let composite = try CompositePolicy(
                host: host, allOf: [StandardPolicy(host: host), policy])
            for asked in [policy, composite] as [any TrustPolicy] {
                source.told.withLock { $0 = [] }
                asked.tell(asked.evaluate(trust, at: pki.now))
                #expect(source.told.withLock { $0 } == [findings])
                let manager = TrustManager(policies: [asked], clock: pki.clock)
                _ = manager.evaluate(trust)
                #expect(source.told.withLock { $0.count } == 2)
                _ = manager.policy(for: PolicyFixture.host)?.validate(trust: trust, clock: pki.clock)
                #expect(source.told.withLock { $0.count } == 3)
                // A manager's policy that is evaluated directly notifies no source either.
                _ = manager.policy(for: PolicyFixture.host)?.evaluate(trust, at: pki.now)
                #expect(source.told.withLock { $0.count } == 3)
                let judgment = manager.judgment(of: trust, at: pki.now)
                #expect(source.told.withLock { $0.count } == 3)
                manager.tell(judgment)
                #expect(source.told.withLock { $0.count } == 4)
                // A policy that was replaced meanwhile is not told.
                manager.add(policy: StandardPolicy(host: host))
                manager.tell(judgment)
                #expect(source.told.withLock { $0.count } == 4)
            }
        }
    }

    @Test("A composite hands each member that was asked its own decision, at any depth")
    func members() throws {
        let host = try HostPattern(PolicyFixture.host)
        let sources = try (0..<3).map { _ in TellTale(.required(try wrong())) }
        let policies = sources.map { PinnedPolicy(scope: .hosts(host), source: $0) }
        let inner = try CompositePolicy(host: host, anyOf: [policies[1], policies[2]])
        let any = try CompositePolicy(host: host, anyOf: [policies[0], inner])
        any.tell(any.evaluate(try pki.trust(), at: pki.now))
        for source in sources { #expect(source.told.withLock { $0 } == [[.mismatch(.enforce)]]) }
        // In all-of, the first rejection is the decision: a member that was not asked is not notified.
        let all = try CompositePolicy(host: host, allOf: [policies[0], policies[1]])
        all.tell(all.evaluate(try pki.trust(), at: pki.now))
        #expect(sources.map { $0.told.withLock { $0.count } } == [2, 1, 1])
    }

    @Test("Evaluating a policy of a store starts no download and tells nobody, whatever it finds")
    func stores() async throws {
        let fixture = try TrustServerStoreFixture()
        let store = try fixture.store()
        let events = Lock(0)
        store.addObserver { _ in events.withLock { $0 += 1 } }
        let policy = try store.policy(for: PolicyFixture.host)
        let list = try StoreFixture()
        let lists = list.store()
        let listPolicy = try lists.policy(for: PolicyFixture.host)
        for _ in 0..<3 {
            #expect(policy.evaluate(try fixture.pki.trust(), at: fixture.clock.now).failure?.code == .noUsablePins)
            #expect(listPolicy.evaluate(try pki.trust(), at: pki.now).failure?.code == .noUsablePins)
        }
        #expect(!store.documents.isUpdating && fixture.provider.requests.isEmpty && events.withLock { $0 } == 0)
        #expect(!lists.documents.isUpdating && list.provider.requests.isEmpty)
        fixture.fail()
        policy.tell(policy.evaluate(try fixture.pki.trust(), at: fixture.clock.now))
        await store.settle()
        #expect(fixture.provider.requests.count == 1)
    }

    @Test("A source is told of clients as well, and of no host that the policy does not cover")
    func clients() throws {
        let source = TellTale(.required(try wrong()))
        let device = try pki.issuing.leaf(names: ["device.example"], purposes: [.clientAuthentication])
        let trust = ServerTrust(
            chain: PresentedChain(device.chain), purpose: .client,
            validator: PathValidator(anchors: try TrustAnchors(der: [pki.root.root])))
        let policy = PinnedPolicy(scope: .clients("devices"), source: source)
        #expect(policy.decision(about: trust, at: pki.now).failure?.code == .pinMismatch)
        #expect(source.told.withLock { $0 } == [[.mismatch(.enforce)]])
        #expect(policy.decision(about: try pki.trust(), at: pki.now).failure?.code == .hostNotCovered)
        let elsewhere = PinnedPolicy(scope: .hosts(try HostPattern("other.example.net")), source: source)
        #expect(elsewhere.decision(about: try pki.trust(), at: pki.now).failure?.code == .hostNotCovered)
        #expect(source.told.withLock { $0.count } == 1)
    }

    // MARK: Revocation lists and logs

    /// Servers of lists and logs that cannot be reached, and a trust that both are asked about.
    private struct Evidence {
        let lists: RevocationStoreFixture
        let revocation: RevocationStore
        let logs: TransparencyLogStore
        let logProvider = ScriptedProvider()
        let trust: ServerTrust
        let policy: StandardPolicy

        init() throws {
            lists = try RevocationStoreFixture()
            revocation = try lists.store(configured: []) { $0.unknownLeaf = .fails }
            let url = try #require(URL(string: "https://logs.example.com/log_list.json"))
            var configuration = TransparencyLogConfiguration(
                listURL: url, signatureURL: url, key: try SubjectPublicKeyInfo(der: TestKey().subjectPublicKeyInfoDER),
                shipped: TransparencyLogList([], issuedAt: Date(timeIntervalSince1970: 0)))
            configuration.remoteDataProvider = logProvider
            configuration.secureDataStore = InMemoryDataStore()
            logs = try TransparencyLogStore(checking: configuration, clock: lists.clock, logger: lists.log.logger)
            trust = ServerTrust(
                chain: PresentedChain(lists.leaf.chain),
                purpose: .server(identity: try DialedHost("www.example.com")),
                validator: PathValidator(
                    anchors: try TrustAnchors(der: [lists.root.root]), revocation: revocation,
                    transparency: .required(logs), cache: VerifiedPathCache()))
            policy = StandardPolicy(host: try HostPattern("www.example.com"))
        }

        var hasStarted: Bool {
            logs.documents.isUpdating || !logProvider.requests.isEmpty || !lists.provider.requests.isEmpty
                || !revocation.lists.isEmpty || revocation.known.withLock { $0.nextLook != .distantPast }
        }
    }

    /// The ways to report a decision, each with its calls.
    private static let handings: [(String, @Sendable (any TrustPolicy, ServerTrust, Date) async -> Void)] = [
        ("its maker", { policy, trust, time in trust.tell(policy.evaluate(trust, at: time)) }),
        ("a policy that is asked by itself", { policy, trust, time in _ = policy.decision(about: trust, at: time) }),
        (
            "a composite",
            { policy, trust, time in
                guard case .hosts(let host) = policy.scope,
                    let composite = try? CompositePolicy(host: host, allOf: [policy, policy])
                else { return }
                _ = composite.decision(about: trust, at: time)
            }
        ),
        ("a manager", { policy, trust, time in _ = TrustManager(policies: [policy]).evaluate(trust, at: time) }),
        (
            "a manager that waits",
            { policy, trust, time in _ = await TrustManager(policies: [policy]).decision(for: trust, at: time) }
        ),
        (
            "a policy of a manager",
            { policy, trust, time in
                let own = TrustManager(policies: [policy]).policy(for: policy.hostName)
                _ = own?.decision(about: trust, at: time)
            }
        ),
    ]

    @Test("Evaluating with stores of lists and logs starts nothing; handing the decision out fetches what it lacked")
    func evidence() async throws {
        for (name, handOut) in Self.handings {
            let evidence = try Evidence()
            let now = evidence.lists.clock.now
            let decision = evidence.policy.evaluate(evidence.trust, at: now)
            #expect(decision.failure?.code == .revocationUnknown)
            #expect(decision.pathsToFollow.map(\.count) == [3])
            let manager = TrustManager(policies: [evidence.policy])
            #expect(!manager.judgment(of: evidence.trust, at: now).isTrusted)
            #expect(!evidence.hasStarted, "evaluating has started a download")
            await handOut(evidence.policy, evidence.trust, now)
            #expect(evidence.logs.documents.isUpdating || !evidence.logProvider.requests.isEmpty, "\(name)")
            _ = await evidence.revocation.updateError()
            #expect(
                evidence.lists.places == [RevocationStoreFixture.issuingURL, RevocationStoreFixture.rootURL],
                "\(name)")
        }
    }

    @Test("A path that is remembered from a decision that was never handed out still names its lists")
    func remembered() async throws {
        let lists = try RevocationStoreFixture()
        let store = try lists.store(configured: [])
        let trust = ServerTrust(
            chain: PresentedChain(lists.leaf.chain), purpose: .server(identity: try DialedHost("www.example.com")),
            validator: try lists.validator(store, cache: VerifiedPathCache()))
        let policy = StandardPolicy(host: try HostPattern("www.example.com"))
        #expect(policy.evaluate(trust, at: lists.clock.now).isTrusted && store.lists.isEmpty)
        let second = policy.decision(about: trust, at: lists.clock.now)
        #expect(second.effort.usedCachedPath && store.lists.count == 2)
    }

    private func listFixture(for certificate: TestCertificate? = nil, name: String) throws -> StoreFixture {
        var fixture = try StoreFixture()
        fixture.configuration.updatesOnMismatch = true
        let digest = Data(SHA256.hash(data: (certificate ?? pki.leaf).der))
        let entry = try fixture.signer.entry(name, digest, StoreFixture.start + 100 * StoreFixture.day)
        fixture.provider.answer(fixture.signer.list([entry]))
        return fixture
    }

    @Test("An empty store asks for a list as after a mismatch: once at a time, then not before its interval")
    func empty() async throws {
        let fixture = try listFixture(name: PolicyFixture.host)
        let store = fixture.store()
        let policy = try store.policy(for: PolicyFixture.host)
        let trust = try pki.trust()
        let report = await store.finishedUpdate {
            for _ in 0..<8 { #expect(policy.decision(about: trust, at: pki.now).failure?.code == .noUsablePins) }
        }
        #expect(report?.error == nil && fixture.provider.requests.count == 1)
        #expect(policy.decision(about: trust, at: pki.now).isTrusted)
    }

    @Test("A failed answer to an empty store is not asked for again before its back-off, in another process neither")
    func backOff() async throws {
        let fixture = try listFixture(name: PolicyFixture.host)
        fixture.provider.answer { _ in throw RemoteDataError(status: 503) }
        let trust = try pki.trust()
        let store = fixture.store()
        let policy = try store.policy(for: PolicyFixture.host)
        _ = await store.finishedUpdate { _ = policy.decision(about: trust, at: pki.now) }
        _ = policy.decision(about: trust, at: pki.now)
        #expect(!store.documents.isUpdating && fixture.provider.requests.count == 1)
        // Another process, or the next start: a store of the same storage.
        let restarted = fixture.store()
        let again = try restarted.policy(for: PolicyFixture.host)
        _ = again.decision(about: trust, at: pki.now)
        #expect(!restarted.documents.isUpdating && fixture.provider.requests.count == 1)
        fixture.clock.advance(by: .seconds(600))
        _ = await restarted.finishedUpdate { _ = again.decision(about: trust, at: pki.now) }
        #expect(fixture.provider.requests.count == 2)
    }

    @Test("A host that a fresh list does not have is no reason to ask before the list is due")
    func absent() async throws {
        let fixture = try listFixture(name: "other.example.com")
        let store = fixture.store()
        try await store.update()
        let policy = try store.policy(for: PolicyFixture.host)
        for _ in 0..<3 {
            let decision = policy.decision(about: try pki.trust(), at: pki.now)
            #expect(decision.findings == [.noPins(.notCovered)])
        }
        #expect(!store.documents.isUpdating && fixture.provider.requests.count == 1)
    }

    @Test("Adapters wait for a first list; stored lists and shipped entries are waited for by nobody")
    func firstList() async throws {
        var fixture = try listFixture(name: PolicyFixture.host)
        let store = fixture.store()
        let policy = try store.policy(for: PolicyFixture.host)
        #expect(policy.needsPreparation)
        let manager = TrustManager(policies: [policy], clock: pki.clock)
        #expect(await manager.decision(for: try pki.trust()).isTrusted)
        #expect(fixture.provider.requests.count == 1 && !policy.needsPreparation)
        #expect(!fixture.store().needsPreparation)
        let digest = Data(SHA256.hash(data: pki.leaf.der)).base64EncodedString()
        fixture.configuration.fallbackCertificateData = Data(
            #"{"name":"\#(PolicyFixture.host)","fingerprint":"\#(digest)","expires":\#(StoreFixture.start + 10)}"#.utf8)
        let shipped = fixture.store(InMemoryDataStore())
        #expect(shipped.configurationError == nil && !shipped.needsPreparation)
        fixture.clock.advance(by: .seconds(11))
        #expect(shipped.needsPreparation)
    }
}
