import Dispatch
import Foundation
import FoundationNetworking
import Holdfast
import HoldfastTesting
import Security
import Testing

/// How often the system is asked about a connection, with what, and what a decision leaves on the `SecTrust`.
@Suite("The system's evaluation of a SecTrust")
struct SystemEvaluationTests {
    private func anchors(_ authority: TestAuthority) throws -> TrustAnchors { try TrustAnchors(der: [authority.root]) }

    private func certificates(_ der: [[UInt8]]) -> CFArray {
        der.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) } as CFArray
    }

    /// Every kind of policy, for the fixture's host; nil is the rejection of a host without one.
    private func policies(_ fixture: AppleFixture) throws -> [(any TrustPolicy)?] {
        let host = try HostPattern(fixture.host)
        let pins = try PinSet(pins: [fixture.keyPin(fixture.leaf)])
        return [
            StandardPolicy(host: host), StandardPolicy(host: host, validatesHostName: false),
            try PinnedPolicy(host: host, pins: pins),
            try PinnedPolicy(host: host, pins: pins, certificatePinOnly: true),
            CustomPolicy(host: host) { _ in true }, nil,
        ]
    }

    @Test("A connection is evaluated once, at the time of the decision and with the anchors that were given")
    func onceWithTheAnchors() throws {
        let fixture = try AppleFixture()
        let time = try #require(fixture.leaf.notAfter).addingTimeInterval(-60)
        for policy in try policies(fixture) {
            let manager = TrustManager(policies: policy.map { [$0] } ?? [])
            let secTrust = fixture.secTrust(systemAnchors: [])
            let trust = ServerTrust(
                secTrust, host: try fixture.dialed(), anchors: try anchors(fixture.root))
            let decision = manager.evaluate(trust, at: time)
            #expect(decision.isTrusted == (policy != nil), "\(decision.failure?.description ?? "")")
            #expect(decision.chain?.leaf == fixture.leaf.der)
            #expect(secTrust.evaluations.map(\.anchors) == [[fixture.root.root]], "\(policy.map { "\($0)" } ?? "none")")
        }
        let secTrust = fixture.secTrust()
        let manager = TrustManager(policies: [StandardPolicy(host: try HostPattern(fixture.host))])
        #expect(manager.evaluate(ServerTrust(secTrust, host: try fixture.dialed()), at: time).isTrusted)
        #expect(secTrust.evaluations.map(\.time) == [time])
        #expect(secTrust.evaluations.map(\.host) == [fixture.host])
    }

    @Test("A policy of the application's own that reads the chain first has it evaluated with the given anchors too")
    func chainFirst() throws {
        let fixture = try AppleFixture()
        let secTrust = fixture.secTrust(host: "as.it.was.example", systemAnchors: [])
        let trust = ServerTrust(secTrust, host: try fixture.dialed(), anchors: try anchors(fixture.root))
        let outcome = trust.validator.validate(
            trust.chain, for: .server(identity: try fixture.dialed()), at: .now
        ) { _ in true }
        #expect(outcome.path?.certificates.count == 3)
        #expect(trust.chain.certificates.count == 3, "the system's chain has the anchor")
        #expect(secTrust.evaluations.allSatisfy { $0.anchors == [fixture.root.root] && $0.host == fixture.host })
    }

    @Test("Anchors of one decision are not there for the next, which has none")
    func anchorsDoNotStay() throws {
        let fixture = try AppleFixture()
        fixture.manager.add(policy: StandardPolicy(host: try HostPattern(fixture.host)))
        let trust = fixture.secTrust(systemAnchors: [])
        let host = try fixture.dialed()
        #expect(
            fixture.manager.evaluate(ServerTrust(trust, host: host, anchors: try anchors(fixture.root))).isTrusted)
        #expect(fixture.manager.evaluate(ServerTrust(trust, host: host)).failure?.code == .rejectedBySystem)
        let known = fixture.secTrust()
        let other = try anchors(TestAuthority.root())
        #expect(!fixture.manager.evaluate(ServerTrust(known, host: host, anchors: other)).isTrusted)
        #expect(fixture.manager.evaluate(ServerTrust(known, host: host)).isTrusted, "and the system's count again")
    }

    @Test("Anchors that the application had set are there again after a decision with others")
    func applicationsAnchorsStay() throws {
        let fixture = try AppleFixture()
        fixture.manager.add(policy: StandardPolicy(host: try HostPattern(fixture.host)))
        let trust = fixture.secTrust(systemAnchors: [])
        let host = try fixture.dialed()
        #expect(SecTrustSetAnchorCertificates(trust, certificates([fixture.root.root])) == errSecSuccess)
        let other = try anchors(TestAuthority.root())
        #expect(!fixture.manager.evaluate(ServerTrust(trust, host: host, anchors: other)).isTrusted)
        #expect(fixture.manager.evaluate(ServerTrust(trust, host: host)).isTrusted)
    }

    @Test("The application's own date is there again after a decision for another time")
    func applicationsDateStays() throws {
        let fixture = try AppleFixture()
        let end = try #require(fixture.leaf.notAfter)
        let trust = fixture.secTrust()
        #expect(SecTrustSetVerifyDate(trust, end.addingTimeInterval(-30) as CFDate) == errSecSuccess)
        let policy = StandardPolicy(host: try HostPattern(fixture.host))
        let serverTrust = ServerTrust(trust, host: try fixture.dialed())
        #expect(!policy.evaluate(serverTrust, at: end.addingTimeInterval(60)).isTrusted)
        #expect(SecTrustGetVerifyTime(trust) == end.addingTimeInterval(-30).timeIntervalSinceReferenceDate)
    }

    @Test("Decisions at once about one SecTrust do not judge by one another's anchors")
    func sharedTrust() throws {
        let fixture = try AppleFixture()
        let policy = StandardPolicy(host: try HostPattern(fixture.host))
        let host = try fixture.dialed()
        let anchors = try anchors(fixture.root)
        nonisolated(unsafe) let trust = fixture.secTrust(systemAnchors: [])
        let wrong = Collected<Int>()
        DispatchQueue.concurrentPerform(iterations: 60) { number in
            let given = number.isMultiple(of: 2) ? anchors : nil
            let decision = unsafe policy.evaluate(ServerTrust(trust, host: host, anchors: given), at: .now)
            if decision.isTrusted != (given != nil) { wrong.add(number) }
        }
        #expect(wrong.all == [])
    }

    @Test("The delegate of a session has each connection evaluated once as well")
    func delegate() async throws {
        let fixture = try AppleFixture()
        try fixture.pin([fixture.keyPin(fixture.leaf)])
        let delegate = PinnedSessionDelegate(manager: fixture.manager, anchors: try anchors(fixture.root))
        let trust = fixture.secTrust(systemAnchors: [])
        #expect(await delegate.response(to: fixture.challenge(trust)).disposition == .useCredential)
        #expect(trust.evaluations.map(\.anchors) == [[fixture.root.root]])
    }
}
