public import AsyncHTTPClient
public import Logging
public import NIOCore

/// A type that sends a request and returns the response.
///
/// A library, or your own code, that takes `any HTTPRequestExecutor` instead of an `HTTPClient` works with and without
/// pinning. If a library needs something else, such as swift-openapi-runtime's `ClientTransport` or a closure, wrap an
/// executor in a few lines:
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
    ///   - deadline: the deadline for the head of the response; the time for its body is not limited.
    ///   - logger: the logger of the client.
    /// - Returns: the response, whose body is streamed. Read it to its end or release it.
    /// - Throws: the client's errors; a ``PinnedHTTPClient`` throws the `TrustFailure` of a refused server.
    func execute(
        _ request: HTTPClientRequest, deadline: NIODeadline, logger: Logger?
    ) async throws -> HTTPClientResponse
}

extension PinnedHTTPClient: HTTPRequestExecutor {}

extension HTTPClient: HTTPRequestExecutor {}
