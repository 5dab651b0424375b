import Foundation
import FoundationNetworking
import Holdfast
import HoldfastTesting
import Security
import Testing

@Suite("A pinned session's delegate")
struct PinnedSessionDelegateTests {
    private let session = URLSession(configuration: .ephemeral)

    private func ask(_ delegate: PinnedSessionDelegate, _ challenge: URLAuthenticationChallenge) async -> Answer {
        await answer { delegate.urlSession(session, didReceive: challenge, completionHandler: $0) }
    }

    @Test("A trusted server gets its credential, in both methods and in the async form")
    func trusted() async throws {
        let fixture = try AppleFixture()
        try fixture.pin([fixture.keyPin(fixture.leaf)])
        let delegate = PinnedSessionDelegate(manager: fixture.manager)
        let trust = fixture.secTrust()
        let challenge = fixture.challenge(trust)
        #expect(await ask(delegate, challenge) == .trusted)
        let task = session.dataTask(with: try #require(URL(string: "https://\(fixture.host)/")))
        #expect(
            await answer {
                delegate.urlSession(session, task: task, didReceive: challenge, completionHandler: $0)
            } == .trusted)
        let response = await delegate.response(to: challenge)
        #expect(response.disposition == .useCredential)
        #expect(response.credential?.isFor(trust) == true)
        #expect(delegate.failure(forHost: fixture.host) == nil)
    }

    @Test("A pin that does not match cancels, and the delegate and the observers say why")
    func mismatch() async throws {
        let fixture = try AppleFixture()
        try fixture.pin([fixture.keyPin(fixture.leaf)])
        let decisions = Collected<TrustDecision>()
        fixture.manager.addObserver { decisions.add($0) }
        let delegate = PinnedSessionDelegate(manager: fixture.manager)
        let impostor = try fixture.issuing.impersonate(fixture.leaf)
        #expect(await ask(delegate, fixture.challenge(fixture.secTrust(impostor.chain))) == .cancelled)
        #expect(delegate.failure(forHost: "https://\(fixture.host.uppercased())/")?.code == .pinMismatch)
        #expect(decisions.all.map(\.failure?.code) == [.pinMismatch])
        #expect(await ask(delegate, fixture.challenge(fixture.secTrust())) == .trusted)
        #expect(delegate.failure(forHost: fixture.host) == nil, "the last connection was not rejected")
    }

    @Test("A host without a policy is rejected unless the manager is told otherwise")
    func unknownHost() async throws {
        let fixture = try AppleFixture()
        let challenge = fixture.challenge(fixture.secTrust())
        let delegate = PinnedSessionDelegate(manager: fixture.manager)
        #expect(await ask(delegate, challenge) == .cancelled)
        #expect(delegate.failure(forHost: fixture.host)?.code == .noPolicyForHost)
        fixture.manager.unknownHosts = .standardValidation
        #expect(await ask(delegate, challenge) == .trusted)
    }

    @Test("Other authentication methods are left to the session")
    func otherMethods() async throws {
        let fixture = try AppleFixture()
        let delegate = PinnedSessionDelegate(manager: fixture.manager)
        for method in [NSURLAuthenticationMethodHTTPBasic, "NSURLAuthenticationMethodClientCertificate"] {
            #expect(await ask(delegate, fixture.challenge(nil, method: method)) == .byDefault)
        }
    }

    @Test("A challenge without a trust, and one for what is no host, are canceled")
    func incompleteChallenges() async throws {
        let fixture = try AppleFixture()
        fixture.manager.unknownHosts = .standardValidation
        let delegate = PinnedSessionDelegate(manager: fixture.manager)
        #expect(await ask(delegate, fixture.challenge(nil)) == .cancelled)
        #expect(await ask(delegate, fixture.challenge(fixture.secTrust(), host: "127.1")) == .cancelled)
        #expect(await ask(delegate, fixture.challenge(fixture.secTrust(), host: "")) == .cancelled)
    }

    @Test("Anchors of the caller's are the only ones")
    func anchors() async throws {
        let fixture = try AppleFixture()
        fixture.manager.add(policy: StandardPolicy(host: try HostPattern(fixture.host)))
        let trust = fixture.secTrust(systemAnchors: [])
        let own = PinnedSessionDelegate(manager: fixture.manager, anchors: try TrustAnchors(der: [fixture.root.root]))
        #expect(await ask(own, fixture.challenge(trust)) == .trusted)
        let system = PinnedSessionDelegate(manager: fixture.manager)
        #expect(await ask(system, fixture.challenge(fixture.secTrust(systemAnchors: []))) == .cancelled)
    }

    /// Waits for a document before it can decide.
    private final class WaitingPolicy: TrustPolicy {
        let scope: PolicyScope
        private let isReady = Lock(false)
        init(_ host: String) { scope = PolicyScope(hostName: host) }
        var needsPreparation: Bool { isReady.withLock { !$0 } }
        func prepare() async throws { isReady.withLock { $0 = true } }
        func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
            TrustDecision(
                needsPreparation
                    ? .rejected(TrustFailure(.noUsablePins, expected: "a document", found: "none")) : .trusted,
                policyName: hostName, host: trust.host, time: time, chain: trust.chain)
        }
    }

    @Test("A policy that waits for its first document gets it before the decision")
    func firstDocument() async throws {
        let fixture = try AppleFixture()
        fixture.manager.add(policy: WaitingPolicy(fixture.host))
        let delegate = PinnedSessionDelegate(manager: fixture.manager)
        #expect(await ask(delegate, fixture.challenge(fixture.secTrust())) == .trusted)
    }

    @Test("The decision is made on no thread of the caller's")
    func queue() async throws {
        let fixture = try AppleFixture()
        QueueMark.install()
        let marks = Collected<Bool>()
        fixture.manager.add(
            policy: CustomPolicy(host: try HostPattern(fixture.host)) { _ in
                marks.add(QueueMark.isOnEvaluationQueue)
                return true
            })
        let delegate = PinnedSessionDelegate(manager: fixture.manager)
        #expect(await ask(delegate, fixture.challenge(fixture.secTrust())) == .trusted)
        #expect(marks.all == [true])
    }

    /// Logs, and leaves the answer to the class it inherits from.
    private final class LoggingDelegate: PinnedSessionDelegate, @unchecked Sendable {
        let hosts = Collected<String>()
        override func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            hosts.add(challenge.protectionSpace.host)
            super.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
        }
    }

    @Test("A delegate can be inherited from, and a session found by the shared manager's")
    func inherited() async throws {
        let fixture = try AppleFixture()
        TrustManager.shared.add(policy: StandardPolicy(host: try HostPattern(fixture.host)))
        defer { TrustManager.shared.removePolicy(name: fixture.host) }
        let delegate = LoggingDelegate()
        #expect(await ask(delegate, fixture.challenge(fixture.secTrust())) == .trusted)
        #expect(delegate.hosts.all == [fixture.host])
    }

    @Test("A session made for a manager has its delegate, and a refreshed one the same delegate")
    func sessions() throws {
        let fixture = try AppleFixture()
        let session = URLSession(configuration: .ephemeral, pinnedBy: fixture.manager)
        let delegate = try #require(session.delegate as? PinnedSessionDelegate)
        let refreshed = session.refreshed()
        #expect(refreshed !== session)
        #expect(refreshed.delegate === delegate)
        refreshed.invalidateAndCancel()
    }

    @Test(
        "A session that is invalid has lost its delegate: it is refreshed into one that trusts nobody",
        .timeLimit(.minutes(15)))
    func refreshedTooLate() async throws {
        let fixture = try AppleFixture()
        try fixture.pin([fixture.keyPin(fixture.leaf)])
        let session = URLSession(configuration: .ephemeral, pinnedBy: fixture.manager)
        let good = session.refreshed()
        // The link to the delegate is cut on this queue.
        while session.delegate != nil {
            await withCheckedContinuation { continuation in
                session.delegateQueue.addOperation { continuation.resume() }
            }
        }
        let late = session.refreshed()
        let refusing = try #require(late.delegate as? PinnedSessionDelegate)
        #expect(await ask(refusing, fixture.challenge(fixture.secTrust())) == .cancelled)
        for session in [good, late] { session.invalidateAndCancel() }
    }

    @Test("A background session is refreshed without a second one of its identifier, and takes tasks still")
    func backgroundSession() throws {
        let fixture = try AppleFixture()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.identifier = fixture.host
        let session = URLSession(configuration: configuration, pinnedBy: fixture.manager)
        try #require(session.refreshed() === session)
        session.dataTask(with: try #require(URL(string: "https://\(fixture.host)/"))).cancel()
        session.invalidateAndCancel()
    }
}
