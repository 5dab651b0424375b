import Foundation
import Holdfast
import HoldfastNIO
import NIOCore
import NIOPosix
import NIOSSL

/// Downloads from a server that shows one certificate exactly, which is known here: no name and no authority counts.
struct LeafDataProvider: RemoteDataProvider {
    /// DER of the certificate that counts, asked for in each handshake: it may have been renewed.
    let leaf: @Sendable () -> [UInt8]

    private static let limit: Duration = .seconds(15)

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
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
        // An expired certificate is an end of what is served, and says nothing about what is asked for.
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
    /// A download.
    init(_ request: RemoteDataRequest, of host: DialedHost, within limit: Duration) {
        let query = request.url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        self.init(
            request.url.path(percentEncoded: true) + query, of: "\(host)",
            headers: request.headers.map { ($0.key, $0.value) }, maximumBody: request.maximumBytes,
            within: TimeAmount(limit))
    }
}

extension RemoteDataResponse {
    /// What a download gave.
    /// - Throws: `RemoteDataError` with the status of another answer than 200.
    init(_ answer: HTTPExchange.Answer) throws {
        guard answer.status == 200 else { throw RemoteDataError(status: answer.status) }
        self.init(
            .body(Data(answer.body)),
            headers: Dictionary(answer.headers.map { ($0.name, $0.value) }) { first, _ in first })
    }
}
