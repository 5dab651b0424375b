import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import ObjectiveC
import Security
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An application's delegates in a `WrappingSessionDelegate`, with what the Objective-C runtime makes of them.
@Suite("A wrapped delegate of the application's own", .timeLimit(.minutes(15)))
struct WrappedDelegateTests {
    /// Would trust every server, and hears how its tasks end.
    private final class Own: NSObject, URLSessionDataDelegate {
        let ends = AsyncStream.makeStream(of: String.self)

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let trust = challenge.protectionSpace.serverTrust
            completionHandler(.useCredential, trust.map { URLCredential(trust: $0) })
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            ends.continuation.yield("data")
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ends.continuation.yield((error as? URLError)?.code == .cancelled ? "canceled" : "completed")
            ends.continuation.finish()
        }
    }

    private final class WithSessionMethod: NSObject, URLSessionDelegate {
        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            completionHandler(.performDefaultHandling, nil)
        }
    }

    private final class Without: NSObject, URLSessionDelegate {}

    private static let sessionMethod = "URLSession:didReceiveChallenge:completionHandler:"
    private static let taskMethod = "URLSession:task:didReceiveChallenge:completionHandler:"

    @Test("It has the challenge methods of the wrapped delegate, and the session's where that has none")
    func methods() {
        let cases: [(any URLSessionDelegate, session: Bool, task: Bool)] = [
            (Own(), false, true), (WithSessionMethod(), true, false), (Without(), true, false),
        ]
        for (own, session, task) in cases {
            let delegate = WrappingSessionDelegate(wrapping: own, manager: TrustManager())
            #expect(delegate.responds(to: Selector((Self.sessionMethod))) == session, "\(type(of: own))")
            #expect(delegate.responds(to: Selector((Self.taskMethod))) == task, "\(type(of: own))")
        }
        let completion = Selector(("URLSession:task:didCompleteWithError:"))
        #expect(WrappingSessionDelegate(wrapping: Own(), manager: TrustManager()).responds(to: completion))
        #expect(!WrappingSessionDelegate(wrapping: Without(), manager: TrustManager()).responds(to: completion))
    }

    /// The events that a delegate got for one request, and how many bytes the server received.
    private func heard(_ site: AppleSite, serving certificate: TestCertificate) async throws -> (
        events: [String], received: Int
    ) {
        try await withLoopbackTLSServer(serving: certificate, options: .init(behavior: .http(body: "body"))) { server in
            let own = Own()
            let delegate = WrappingSessionDelegate(wrapping: own, manager: site.manager, anchors: try site.anchors)
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try #require(URL(string: "https://\(AppleSite.address):\(server.port)/"))).resume()
            var events: [String] = []
            for await event in own.ends.stream { events.append(event) }
            session.finishTasksAndInvalidate()
            return (events, server.statistics.plaintextBytesReceived)
        }
    }

    @Test("The manager decides about the server, and the wrapped delegate hears the rest")
    func requests() async throws {
        let site = try AppleSite()
        try site.pin()
        #expect(try await heard(site, serving: site.leaf).events == ["data", "completed"])
        let refused = try await heard(site, serving: site.impostor())
        #expect(refused.events == ["canceled"] && refused.received == 0)
    }
}
