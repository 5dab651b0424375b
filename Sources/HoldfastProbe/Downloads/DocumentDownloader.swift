import AsyncHTTPClient
package import Foundation
package import Holdfast
import HoldfastAsyncHTTPClient
import Logging

/// Downloads documents for tools, through the proxies through which they connect to hosts.
package struct DocumentDownloader: RemoteDataProvider {
    private let provider: AsyncHTTPClientDataProvider

    /// - Parameters:
    ///   - anchors: the authorities that servers must have a certificate of.
    ///   - limit: how long one download may take.
    ///   - proxies: the proxies for https.
    ///   - allowsPlainHTTPToLoopback: whether a server on this machine is asked over plain HTTP, for documents that are
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
        // Of plain HTTP it would log that nobody is validated.
        provider = allowsPlainHTTPToLoopback ? PolicyLog.$shared.withValue(Self.silence) { make() } : make()
    }

    /// Downloads revocation lists over plain HTTP, by which authorities publish them: lists are signed.
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

    /// Asks a server with a challenge, as clients do that send one.
    /// - Returns: the body of the response, and its signature; that is empty if there is none.
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
    /// What was asked for without a condition.
    func document() throws(RemoteDataError) -> Data {
        guard case .body(let data) = content else {
            throw RemoteDataError(.unexpectedStatus, expected: "a document", found: "none")
        }
        return data
    }
}
