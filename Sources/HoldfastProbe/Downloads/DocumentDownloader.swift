import AsyncHTTPClient
package import Foundation
package import Holdfast
import HoldfastAsyncHTTPClient
import Logging

/// Downloads documents for tools, through the same proxies as connections to hosts.
package struct DocumentDownloader: RemoteDataProvider {
    private let provider: AsyncHTTPClientDataProvider

    /// - Parameters:
    ///   - anchors: the certificate authorities that must have issued the certificates of servers.
    ///   - limit: the maximum duration of one download.
    ///   - proxies: the proxies for https.
    ///   - allowsPlainHTTPToLoopback: whether to use plain HTTP for a server on this machine, for documents that are
    ///     verified in any case.
    package init(
        trusting anchors: TrustAnchors, within limit: Duration, through proxies: ProxySettings = .none,
        allowsPlainHTTPToLoopback: Bool = false
    ) {
        func make() -> AsyncHTTPClientDataProvider {
            AsyncHTTPClientDataProvider(
                validator: PathValidator(anchors: anchors), answerLimit: limit, wholeLimit: limit,
                allowsPlainHTTPToLoopback: allowsPlainHTTPToLoopback, proxy: Self.proxy(proxies))
        }
        // For plain HTTP, the policy would log that it validates no host.
        provider = allowsPlainHTTPToLoopback ? PolicyLog.$shared.withValue(Self.silence) { make() } : make()
    }

    /// Downloads revocation lists over plain HTTP, as authorities publish them: the lists are signed.
    static func ofSignedLists(answerLimit: Duration, wholeLimit: Duration) -> AsyncHTTPClientDataProvider {
        PolicyLog.$shared.withValue(silence) {
            AsyncHTTPClientDataProvider(
                validator: PathValidator(anchors: TrustAnchors([])), answerLimit: answerLimit, wholeLimit: wholeLimit)
        }
    }

    package func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        try await provider.data(for: request)
    }

    /// Downloads a document.
    /// - Throws: `RemoteDataError`.
    package func document(at url: URL, maximumBytes: Int) async throws -> Data {
        try await data(for: RemoteDataRequest(url: url, maximumBytes: maximumBytes)).document()
    }

    /// Sends a request with a challenge, as some clients do.
    /// - Returns: the body of the response, and its signature, which is empty if it is missing.
    /// - Throws: `RemoteDataError`.
    package func response(
        at url: URL, to challenge: String, maximumBytes: Int
    ) async throws -> (body: Data, signature: String) {
        let response = try await data(
            for: RemoteDataRequest(
                url: url, headers: [ChallengeResponse.challengeHeader: challenge], maximumBytes: maximumBytes))
        return (try response.document(), response.header(ChallengeResponse.signatureHeader) ?? "")
    }

    private static var silence: PolicyLog {
        PolicyLog(Logger(label: "holdfast.policies") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func proxy(_ proxies: ProxySettings) -> @Sendable (URL) -> HTTPClient.Configuration.Proxy? {
        { url in
            guard url.scheme?.lowercased() == "https", let host = try? DialedHost(url: url),
                let dialed = try? host.withPort(orDefault: HostAndPort.defaultPort),
                let proxy = proxies.proxy(for: dialed)
            else { return nil }
            return .server(
                host: proxy.host.name, port: proxy.host.port ?? ProxyServer.defaultPort,
                authorization: proxy.credentials.map { .basic(credentials: $0) })
        }
    }
}

extension RemoteDataResponse {
    /// The document in the response to a request without a condition.
    func document() throws(RemoteDataError) -> Data {
        guard case .body(let data) = content else {
            throw RemoteDataError(.unexpectedStatus, expected: "a document", found: "none")
        }
        return data
    }
}
