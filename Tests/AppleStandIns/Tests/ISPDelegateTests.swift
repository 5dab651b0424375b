import Foundation
import FoundationNetworking
import HoldfastTesting
import Security
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

@Suite("ISPCertificatePinning's delegates")
struct ISPDelegateTests {
    private let session = URLSession(configuration: .ephemeral)

    /// A folder of its own, gone afterwards.
    private func withPins(
        of certificates: (AppleFixture) -> [TestCertificate],
        _ body: (AppleFixture, URL) async throws -> Void
    ) async throws {
        let fixture = try AppleFixture()
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).plist")
        defer { try? FileManager.default.removeItem(at: file) }
        let pinned = certificates(fixture).map { Data($0.der) }
        if !pinned.isEmpty {
            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: [fixture.host: pinned], file: file))
        }
        try await body(fixture, file)
    }

    @Test("A session's delegate trusts a chain with a certificate stored for its domain, the anchor included")
    func sessionDelegate() async throws {
        for level in 0...2 {
            try await withPins(of: { [[$0.leaf], [$0.issuing.certificate], [$0.root.certificate]][level] }) {
                fixture, file in
                let delegate = ISPPinnedNSURLSessionDelegate(file: file)
                func ask(_ trust: SecTrust?) async -> Answer {
                    await answer {
                        delegate.urlSession(session, didReceive: fixture.challenge(trust), completionHandler: $0)
                    }
                }
                #expect(await ask(fixture.secTrust()) == .trusted)
                #expect(await ask(fixture.secTrust(systemAnchors: [])) == .cancelled)
                #expect(await ask(nil) == .cancelled)
                #expect(
                    ISPCertificatePinning.verifyPinnedCertificate(
                        forTrust: fixture.secTrust(), andDomain: fixture.host, file: file))
                #expect(
                    !ISPCertificatePinning.verifyPinnedCertificate(
                        forTrust: fixture.secTrust(), andDomain: "other.example", file: file))
            }
        }
    }

    @Test("The class for Objective-C, and delegates that are given no file, use the usual one")
    func usualFile() async throws {
        let fixture = try AppleFixture()
        let pins = [fixture.host: [Data(fixture.leaf.der)]]
        defer { ISPCertificatePinning.setupSSLPins(usingDictionnary: [:]) }
        func verify(_ trust: SecTrust?, _ domain: String?) -> Bool {
            ObjCISPCertificatePinning.verifyPinnedCertificate(forTrust: trust, andDomain: domain)
        }
        #expect(ObjCISPCertificatePinning.setupSSLPins(usingDictionnary: [:]))
        #expect(!verify(fixture.secTrust(), fixture.host))
        #expect(ObjCISPCertificatePinning.setupSSLPins(usingDictionnary: pins))
        #expect(!ObjCISPCertificatePinning.setupSSLPins(usingDictionnary: nil))
        #expect(verify(fixture.secTrust(), fixture.host) && !verify(fixture.secTrust(systemAnchors: []), fixture.host))
        #expect(!verify(nil, fixture.host) && !verify(fixture.secTrust(), nil))
        #expect(!verify(fixture.secTrust(), "other.example"))
        #expect(
            ISPCertificatePinning.verifyPinnedCertificate(
                forTrust: fixture.secTrust(), andDomain: fixture.host, file: ISPCertificatePinning.defaultFile))
        let (ofSession, ofConnection) = (ISPPinnedNSURLSessionDelegate(), ISPPinnedNSURLConnectionDelegate())
        let sender = Sender()
        let answer = await answer {
            ofSession.urlSession(session, didReceive: fixture.challenge(fixture.secTrust()), completionHandler: $0)
        }
        #expect(answer == .trusted)
        ofConnection.connection(
            NSObject(), willSendRequestFor: fixture.challenge(fixture.secTrust(), sender: sender))
        #expect(await sender.first() == .use("server trust"))
    }

    @Test("Without stored certificates every server is canceled, and the delegate says why")
    func nothingStored() async throws {
        try await withPins(of: { _ in [] }) { fixture, file in
            let delegate = ISPPinnedNSURLSessionDelegate(file: file)
            let answer = await answer {
                delegate.urlSession(
                    session, didReceive: fixture.challenge(fixture.secTrust()), completionHandler: $0)
            }
            #expect(answer == .cancelled)
            let failure = try #require(delegate.failure(forHost: fixture.host))
            #expect(failure.code == .noPolicyForHost && failure.host?.name == fixture.host)
            #expect(failure.expected == "stored certificates of \(fixture.host)")
            #expect(
                !ISPCertificatePinning.verifyPinnedCertificate(
                    forTrust: fixture.secTrust(), andDomain: fixture.host, file: file))
        }
    }

    @Test("A connection's delegate answers the challenge's sender, once")
    func connectionDelegate() async throws {
        try await withPins(of: { [$0.leaf] }) { fixture, file in
            let delegate = ISPPinnedNSURLConnectionDelegate(file: file)
            func ask(
                _ trust: SecTrust?, method: String? = nil, proposing credential: URLCredential? = nil,
                hasDefaultHandling: Bool = true
            ) async -> [Sender.Answer] {
                await Sender.answers(hasDefaultHandling: hasDefaultHandling) { sender in
                    delegate.connection(
                        NSObject(),
                        willSendRequestFor: fixture.challenge(
                            trust, method: method, proposing: credential, sender: sender))
                }
            }
            #expect(await ask(fixture.secTrust()) == [.use("server trust")])
            #expect(await ask(fixture.secTrust(systemAnchors: [])) == [.cancel])
            #expect(await ask(nil) == [.cancel])
            let other = NSURLAuthenticationMethodHTTPBasic
            #expect(await ask(nil, method: other) == [.byDefault])
            #expect(await ask(nil, method: other, hasDefaultHandling: false) == [.withoutCredential])
            // The credential that the system would have used by itself.
            let proposed = URLCredential(user: "proposed", password: "", persistence: .none)
            #expect(await ask(nil, method: other, proposing: proposed) == [.byDefault])
            #expect(
                await ask(nil, method: other, proposing: proposed, hasDefaultHandling: false) == [.use("proposed")])
        }
    }

    @Test("Both delegates, and the check without one, validate for the time of the clock that they are given")
    func clocks() async throws {
        try await withPins(of: { [$0.leaf] }) { fixture, file in
            for (years, isTrusted) in [(0, true), (100, false)] as [(Double, Bool)] {
                let clock = ManualClock(now: SystemWallClock().now.addingTimeInterval(years * 366 * 86_400))
                let ofSession = ISPPinnedNSURLSessionDelegate(file: file, clock: clock)
                let answer = await answer {
                    ofSession.urlSession(
                        session, didReceive: fixture.challenge(fixture.secTrust()), completionHandler: $0)
                }
                #expect(answer == (isTrusted ? .trusted : .cancelled))
                let (ofConnection, sender) = (ISPPinnedNSURLConnectionDelegate(file: file, clock: clock), Sender())
                ofConnection.connection(
                    NSObject(), willSendRequestFor: fixture.challenge(fixture.secTrust(), sender: sender))
                let sent = await sender.first()
                #expect(isTrusted ? sent == .use("server trust") : sent == .cancel)
                #expect(
                    ISPCertificatePinning.verifyPinnedCertificate(
                        forTrust: fixture.secTrust(), andDomain: fixture.host, file: file, clock: clock) == isTrusted)
            }
        }
    }

    @Test("The decision is made on the queue for evaluations, and names the domain also where nothing is stored")
    func queue() async throws {
        QueueMark.install()
        for isStored in [true, false] {
            try await withPins(of: { isStored ? [$0.leaf] : [] }) { fixture, file in
                let clock = QueueMarkingClock()
                let judge = StoredCertificatesJudge(file: file, clock: clock)
                let decision = await judge.decision(for: SystemTrust(fixture.secTrust()), host: try fixture.dialed())
                #expect(decision.isTrusted == isStored && decision.policyName == fixture.host)
                #expect(!clock.marks.all.isEmpty && clock.marks.all.allSatisfy(\.self))
            }
        }
    }

    @Test("The sender is told of the very challenge that it sent")
    func challenge() async throws {
        try await withPins(of: { [$0.leaf] }) { fixture, file in
            let (delegate, sender) = (ISPPinnedNSURLConnectionDelegate(file: file), Sender())
            let challenge = fixture.challenge(fixture.secTrust(), sender: sender)
            delegate.connection(NSObject(), willSendRequestFor: challenge)
            #expect(await sender.first() == .use("server trust"))
            #expect(sender.used.all == [Swift.ObjectIdentifier(challenge)])
        }
    }

    /// As an application inherits from it: it counts challenges and leaves the answers to the class above.
    private final class CountingSessionDelegate: ISPPinnedNSURLSessionDelegate, @unchecked Sendable {
        let hosts = Collected<String>()

        override func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            hosts.add(challenge.protectionSpace.host)
            super.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
        }
    }

    private final class CountingConnectionDelegate: ISPPinnedNSURLConnectionDelegate {
        let hosts = Collected<String>()

        override func connection(
            _ connection: AnyObject, willSendRequestFor challenge: URLAuthenticationChallenge
        ) {
            hosts.add(challenge.protectionSpace.host)
            super.connection(connection, willSendRequestFor: challenge)
        }
    }

    @Test("Swift classes inherit from both delegates")
    func subclasses() async throws {
        try await withPins(of: { [$0.leaf] }) { fixture, file in
            let ofSession = CountingSessionDelegate(file: file)
            for (trust, expected) in [
                (fixture.secTrust(), Answer.trusted), (fixture.secTrust(systemAnchors: []), .cancelled),
            ] {
                let answer = await answer {
                    ofSession.urlSession(session, didReceive: fixture.challenge(trust), completionHandler: $0)
                }
                #expect(answer == expected)
            }
            #expect(ofSession.hosts.all == [fixture.host, fixture.host])
            #expect(ofSession.failure(forHost: fixture.host) != nil)
            let (ofConnection, sender) = (CountingConnectionDelegate(file: file), Sender())
            ofConnection.connection(
                NSObject(), willSendRequestFor: fixture.challenge(fixture.secTrust(), sender: sender))
            #expect(await sender.first() == .use("server trust"))
            #expect(ofConnection.hosts.all == [fixture.host])
        }
    }
}
