import Foundation
package import Holdfast
import HoldfastNIO
import NIOCore
import NIOPosix
import NIOSSL

/// Downloads from a server that presents exactly one known certificate; names and issuers are not checked.
package struct LeafDataProvider: RemoteDataProvider {
    /// DER of that certificate, read for each handshake: it may have been renewed.
    package let leaf: @Sendable () -> [UInt8]

    package init(leaf: @escaping @Sendable () -> [UInt8]) {
        self.leaf = leaf
    }

    private static let limit: Duration = .seconds(15)

    package func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let answer: HTTPExchange.Answer
        do {
            answer = try await ask(request)
        } catch {
            throw RemoteDataError(
                .connectionFailed, expected: "an answer of the server with the certificate that is known",
                found: "none")
        }
        return try RemoteDataResponse(answer)
    }

    private func ask(_ request: RemoteDataRequest) async throws -> HTTPExchange.Answer {
        let host = try DialedHost(url: request.url)
        let port = host.port ?? 443
        // An expired certificate does not affect the requested document.
        let policy = CustomPolicy(host: HostPattern(host)) { [leaf] trust in trust?.chain.leaf == leaf() }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = ["http/1.1"]
        let client = try PinnedTLSClient(
            trust: .policy(policy), host: host, configuration: configuration,
            validator: PathValidator(anchors: TrustAnchors([])), handshakeTimeout: Self.limit)
        return try await HTTPExchange(request, of: host, within: Self.limit).answer(
            from: host.name, port: port, on: MultiThreadedEventLoopGroup.singleton
        ) { _ = try client.addHandlers(to: $0) }
    }
}

extension HTTPExchange {
    /// The exchange of a download.
    init(_ request: RemoteDataRequest, of host: DialedHost, within limit: Duration) {
        let query = request.url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        self.init(
            request.url.path(percentEncoded: true) + query, of: "\(host)",
            headers: request.headers.map { ($0.key, $0.value) }, maximumBody: request.maximumBytes,
            within: TimeAmount(limit))
    }
}

extension RemoteDataResponse {
    /// The response of a download.
    /// - Throws: `RemoteDataError` with the status of a response other than 200.
    package init(_ answer: HTTPExchange.Answer) throws {
        guard answer.status == 200 else { throw RemoteDataError(status: answer.status) }
        self.init(
            .body(Data(answer.body)),
            headers: Dictionary(answer.headers.map { ($0.name, $0.value) }) { first, _ in first })
    }
}
