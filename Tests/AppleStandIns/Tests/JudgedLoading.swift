import Foundation
import FoundationNetworking
import Holdfast
import Security

/// Loads from one host as Apple's systems do: first a delegate answers for the server's trust. On Linux, URLSession asks
/// no delegate, and uses its own protocol for `https` in any session: hence a separate scheme. `Main` registers it.
final class JudgedLoading: URLProtocol {
    /// A server, and the delegate that is asked about it.
    struct Server: Sendable {
        let chain: [[UInt8]]
        let root: [UInt8]
        let judge: PinnedSessionDelegate
    }

    /// One request. Unchecked, because URLProtocol is not Sendable; after `startLoading` only the delegate's answer uses it.
    private struct Load: @unchecked Sendable {
        let loading: JudgedLoading

        func succeed() {
            guard let url = loading.request.url,
                let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
            else { return fail() }
            loading.client?.urlProtocol(loading, didReceive: response, cacheStoragePolicy: .notAllowed)
            loading.client?.urlProtocol(loading, didLoad: JudgedLoading.body)
            loading.client?.urlProtocolDidFinishLoading(loading)
        }

        func fail() { loading.client?.urlProtocol(loading, didFailWithError: URLError(.cancelled)) }
    }

    static let scheme = "judged"
    static let host = "api.example.com"
    static let body = Data("hello".utf8)
    private static let server = Lock<Server?>(nil)

    /// Has the host be this server from now on.
    static func show(_ server: Server) { Self.server.withLock { $0 = server } }

    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == scheme }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        let load = Load(loading: self)
        guard let server = Self.server.withLock({ $0 }) else { return load.fail() }
        // Made here, because a SecTrust may not be handed from thread to thread.
        let trust = SecTrust.presented(server.chain, host: Self.host, systemAnchors: [server.root])
        let challenge = URLAuthenticationChallenge(
            protectionSpace: TrustProtectionSpace(host: Self.host, trust: trust), proposedCredential: nil,
            previousFailureCount: 0, failureResponse: nil, error: nil, sender: Sender())
        server.judge.urlSession(.shared, didReceive: challenge) { disposition, _ in
            if disposition == .useCredential { load.succeed() } else { load.fail() }
        }
    }
}
