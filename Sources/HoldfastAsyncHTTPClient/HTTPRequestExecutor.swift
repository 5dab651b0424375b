public import AsyncHTTPClient
public import Logging
public import NIOCore

/// Something that sends a request and gets the response.
///
/// A library, or code of one's own, that takes `any HTTPRequestExecutor` in the place of an `HTTPClient` works with
/// pinned connections and without them. What a library asks for instead, such as swift-openapi-runtime's
/// `ClientTransport` or a closure, is a few lines around it:
/// ```swift
/// let fetch: @Sendable (HTTPClientRequest) async throws -> HTTPClientResponse = { request in
///     try await executor.execute(request, deadline: .now() + .seconds(30), logger: nil)
/// }
/// ```
public protocol HTTPRequestExecutor: Sendable {
    /// Sends a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - deadline: when the response must have come.
    ///   - logger: where the client logs.
    /// - Returns: the response, whose body is streamed. Read it to its end or release it.
    /// - Throws: what the client throws; a ``PinnedHTTPClient`` the `TrustFailure` of a server that is refused.
    func execute(
        _ request: HTTPClientRequest, deadline: NIODeadline, logger: Logger?
    ) async throws -> HTTPClientResponse
}

extension PinnedHTTPClient: HTTPRequestExecutor {}

extension HTTPClient: HTTPRequestExecutor {}
