import Foundation
import FoundationNetworking
import Holdfast
import HoldfastTesting
import ObjectiveC
import Security
import Testing

@Suite("A delegate around an application's own")
struct WrappingSessionDelegateTests {
    private static let clientCertificate = "NSURLAuthenticationMethodClientCertificate"
    private static let ntlm = "NSURLAuthenticationMethodNTLM"
    private static let basic = NSURLAuthenticationMethodHTTPBasic

    /// An application's delegate: it has a credential for everything that it is asked about.
    private final class Own: NSObject, URLSessionTaskDelegate, StandInResponder {
        let implemented: Set<Selector>

        init(_ implemented: Set<Selector>) { self.implemented = implemented }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            completionHandler(.useCredential, URLCredential(user: "session", password: "", persistence: .none))
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            completionHandler(.useCredential, URLCredential(user: "task", password: "", persistence: .none))
        }
    }

    /// Asks as a session does: about a connection in the session's method, where there is none in the task's; about a
    /// request in the task's method alone.
    private func ask(_ delegate: WrappingSessionDelegate, _ challenge: URLAuthenticationChallenge) async -> Answer {
        let session = URLSession(configuration: .ephemeral)
        let isAboutConnection = [NSURLAuthenticationMethodServerTrust, Self.clientCertificate, Self.ntlm]
            .contains(challenge.protectionSpace.authenticationMethod)
        if isAboutConnection, delegate.responds(to: .sessionChallenge) {
            return await answer {
                delegate.urlSession(session, didReceive: challenge, completionHandler: $0)
            }
        }
        guard delegate.responds(to: .taskChallenge), let url = URL(string: "https://localhost/") else {
            return .byDefault
        }
        let task = session.dataTask(with: url)
        return await answer {
            delegate.urlSession(session, task: task, didReceive: challenge, completionHandler: $0)
        }
    }

    /// The methods of a wrapped delegate, and which of them answers for a connection and for a request.
    private static let cases: [(methods: Set<Selector>, connection: String?, request: String?)] = [
        ([.taskChallenge], "task", "task"), ([.sessionChallenge], "session", nil),
        ([.sessionChallenge, .taskChallenge], "session", "task"), ([], nil, nil),
    ]

    @Test("Servers are judged by the manager, whichever methods the wrapped delegate has", arguments: cases.indices)
    func servers(_ index: Int) async throws {
        let fixture = try AppleFixture()
        try fixture.pin([fixture.keyPin(fixture.leaf)])
        let delegate = WrappingSessionDelegate(wrapping: Own(Self.cases[index].methods), manager: fixture.manager)
        #expect(await ask(delegate, fixture.challenge(fixture.secTrust())) == .trusted)
        let impostor = try fixture.issuing.impersonate(fixture.leaf)
        #expect(await ask(delegate, fixture.challenge(fixture.secTrust(impostor.chain))) == .cancelled)
        #expect(delegate.failure(forHost: fixture.host)?.code == .pinMismatch)
    }

    @Test(
        "Client certificates, NTLM and passwords are the wrapped delegate's, also if it has the task's method alone",
        arguments: cases.indices)
    func otherMethods(_ index: Int) async throws {
        let fixture = try AppleFixture()
        let (methods, connection, request) = Self.cases[index]
        let delegate = WrappingSessionDelegate(wrapping: Own(methods), manager: fixture.manager)
        func expected(_ user: String?) -> Answer {
            user.map { Answer(disposition: .useCredential, user: $0) } ?? .byDefault
        }
        for method in [Self.clientCertificate, Self.ntlm] {
            #expect(await ask(delegate, fixture.challenge(nil, method: method)) == expected(connection))
        }
        #expect(await ask(delegate, fixture.challenge(nil, method: Self.basic)) == expected(request))
    }

    @Test("What only the wrapped delegate implements goes to it, and what it does not is left to the session")
    func forwarding() throws {
        let wrapped = Own([.becameInvalid])
        let delegate = WrappingSessionDelegate(wrapping: wrapped, manager: TrustManager())
        #expect(delegate.responds(to: .becameInvalid))
        #expect(delegate.forwardingTarget(for: .becameInvalid) as? Own === wrapped)
        let other = WrappingSessionDelegate(wrapping: Own([]), manager: TrustManager())
        #expect(!other.responds(to: .becameInvalid))
        #expect(other.forwardingTarget(for: .becameInvalid) == nil)
    }
}
