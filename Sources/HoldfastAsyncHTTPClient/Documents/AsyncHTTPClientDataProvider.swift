public import AsyncHTTPClient
public import Foundation
public import Holdfast
import HoldfastNIO
public import NIOCore
import NIOHTTP1
public import NIOPosix

/// Downloads documents for a `CertStore` with AsyncHTTPClient. Each request has its own client, whose servers Holdfast
/// validates, without the application's trust manager.
///
/// ```swift
/// let anchors = try await TrustAnchors.system()
/// let provider = AsyncHTTPClientDataProvider(validator: PathValidator(anchors: anchors))
/// let store = try await CertStore.load(configuration: configuration, remoteDataProvider: provider)
/// ```
/// It behaves like `URLSessionDataProvider`, but you can choose its anchors. It decodes nothing: a response with a
/// `Content-Encoding` other than `identity` is an error, so no response takes more memory than
/// `RemoteDataRequest.maximumBytes` allows.
public struct AsyncHTTPClientDataProvider: RemoteDataProvider, IdentifiedSource {
    /// Maximum time until the response begins, connecting included.
    public let answerLimit: Duration
    /// Maximum time for the whole download.
    public let wholeLimit: Duration
    /// Whether plain HTTP is allowed to the loopback addresses, for tests and demonstrations.
    public let allowsPlainHTTPToLoopback: Bool

    /// The identity that copies of a provider share.
    private final class Identity: Sendable {}

    private let identity = Identity()
    package var sourceIdentity: String { "\(ObjectIdentifier(identity))" }

    let validator: PathValidator
    let eventLoopGroup: any EventLoopGroup
    let clock: any WallClock
    let proxy: @Sendable (URL) -> HTTPClient.Configuration.Proxy?
    /// Captured when the provider is made, because downloads run in separate tasks.
    let log = PolicyLog.shared

    /// Makes a provider.
    /// - Parameters:
    ///   - validator: validates servers with its trusted anchors. New ones of a `TrustAnchorStore` are used from the
    ///     next download on.
    ///   - answerLimit: the maximum time until the response begins.
    ///   - wholeLimit: the maximum time for the whole download.
    ///   - allowsPlainHTTPToLoopback: whether `http` is allowed to localhost and the loopback addresses.
    ///   - eventLoopGroup: the event loops for timers; those of Network.framework are refused. Connections have
    ///     separate threads.
    ///   - clock: the time at which servers are validated.
    ///   - proxy: returns the HTTP proxy for a URL, also for each redirect; nil for none. The server is validated in
    ///     any case.
    public init(
        validator: PathValidator, answerLimit: Duration = .seconds(15), wholeLimit: Duration = .seconds(60),
        allowsPlainHTTPToLoopback: Bool = false,
        eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        clock: any WallClock = SystemWallClock(),
        proxy: @escaping @Sendable (URL) -> HTTPClient.Configuration.Proxy? = { _ in nil }
    ) {
        self.validator = validator
        self.answerLimit = DownloadRules.usable(answerLimit)
        self.wholeLimit = DownloadRules.usable(wholeLimit)
        self.allowsPlainHTTPToLoopback = allowsPlainHTTPToLoopback
        self.eventLoopGroup = eventLoopGroup
        self.clock = clock
        self.proxy = proxy
    }

    /// Downloads a document.
    /// - Throws: `RemoteDataError`.
    public func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let download = DocumentDownload(request, provider: self)
        try download.rules.check(request.url)
        let (answerLimit, wholeLimit) = (answerLimit, wholeLimit)
        // A nearby server could respond before a timer of zero length fires.
        guard answerLimit > .zero, wholeLimit > .zero else {
            throw RemoteDataError(.noAnswerInTime, expected: "limits above 0 s", found: "no time for an answer")
        }
        do {
            return try await withThrowingTaskGroup(of: RemoteDataResponse?.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await download.run() }
                group.addTask {
                    try await Task.sleep(for: answerLimit)
                    guard !download.hasAnswer else { return nil }
                    throw RemoteDataError(.noAnswerInTime, expected: "an answer within \(answerLimit)", found: "none")
                }
                group.addTask {
                    try await Task.sleep(for: wholeLimit)
                    throw RemoteDataError(
                        .tookTooLong, expected: "the whole within \(wholeLimit)", found: "not the end")
                }
                while let response = try await group.next() {
                    if let response { return response }
                }
                throw CancellationError()
            }
        } catch let error as RemoteDataError {
            throw error
        } catch {
            throw RemoteDataError(.canceled, expected: "a document", found: "a canceled task")
        }
    }
}

/// One download, with its redirects.
private final class DocumentDownload: Sendable {
    let rules: DownloadRules
    private let request: RemoteDataRequest
    private let provider: AsyncHTTPClientDataProvider
    private let answered = Lock(false)

    init(_ request: RemoteDataRequest, provider: AsyncHTTPClientDataProvider) {
        self.request = request
        self.provider = provider
        rules = DownloadRules(
            allowsPlainHTTPToLoopback: provider.allowsPlainHTTPToLoopback, allowsPlainHTTP: request.allowsPlainHTTP)
    }

    /// Whether a response other than a redirect has begun.
    var hasAnswer: Bool { answered.withLock { $0 } }

    func run() async throws -> RemoteDataResponse {
        var url = request.url
        var redirects = 0
        // It is unknown before the first response.
        var isAnsweredHere: Bool?
        while true {
            let arrival = Arrival(place: rules.place(of: url, redirectedFromThisMachine: isAnsweredHere))
            switch try await ask(url, arrival) {
            case .response(let response): return response
            case .redirect(let target, let status):
                redirects += 1
                url = try rules.redirected(to: target, from: url, number: redirects, status: status)
                isAnsweredHere = arrival.isThisMachine
            }
        }
    }

    private enum Answer {
        case response(RemoteDataResponse)
        case redirect(URL?, status: Int)
    }

    /// A client for one URL, because the target of a redirect does not know its origin.
    private func ask(_ url: URL, _ arrival: Arrival) async throws -> Answer {
        let client: PinnedHTTPClient
        do {
            client = try self.client(for: url, arrival)
        } catch {
            throw RemoteDataError(
                .connectionFailed, expected: "a URL of a server", found: ForeignErrorText.found(error))
        }
        // No caller waits for connections to end.
        defer { Task { try? await client.shutdown() } }
        do {
            return try await ask(url, client)
        } catch {
            throw Self.error(for: error, to: destination(of: url))
        }
    }

    private func client(for url: URL, _ arrival: Arrival) throws -> PinnedHTTPClient {
        let manager = TrustManager(unknownHosts: .standardValidation)
        if url.scheme?.lowercased() == "http" || !request.validatesServer {
            // The rules allow plain HTTP, which has nothing to validate.
            let host = HostPattern(try DialedHost(url: url))
            manager.add(policy: DisabledPolicy(host: host, log: provider.log))
        }
        var configuration = HTTPClient.Configuration()
        // The client's own timeouts are longer, because an error of these limits names the limit.
        configuration.timeout.connect = TimeAmount(provider.answerLimit + .seconds(10))
        configuration.proxy = provider.proxy(url)
        configuration.decompression = .disabled
        // HTTP/1.1 is enough for one request.
        configuration.httpVersion = .http1Only
        if configuration.proxy == nil {
            configuration.http1_1ConnectionDebugInitializer = { arrival.check($0) }
            configuration.http2ConnectionDebugInitializer = { arrival.check($0) }
        }
        return try PinnedHTTPClient(
            manager: manager, validator: provider.validator,
            eventLoopGroup: provider.eventLoopGroup, configuration: configuration, clock: provider.clock)
    }

    private func ask(_ url: URL, _ client: PinnedHTTPClient) async throws -> Answer {
        var http = HTTPClientRequest(url: url.absoluteString)
        for (name, value) in request.headers { http.headers.replaceOrAdd(name: name, value: value) }
        http.headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
        let response = try await client.execute(http, deadline: .distantFuture)
        let status = Int(response.status.code)
        if [301, 302, 303, 307, 308].contains(status), let location = response.headers.first(name: "Location") {
            return .redirect(URL(string: location, relativeTo: url)?.absoluteURL, status: status)
        }
        answered.withLock { $0 = true }
        let named = response.headers.filter { $0.name.isASCII(atMost: 128) }
        let headers = Dictionary(named.map { ($0.name, $0.value) }) { first, _ in first }
        switch status {
        case 200:
            let body = try await body(of: response)
            return .response(RemoteDataResponse(.body(body), headers: headers))
        case 304 where request.isConditional:
            return .response(RemoteDataResponse(.notModified, headers: headers))
        default: throw RemoteDataError(status: status)
        }
    }

    /// Reads at most the limit, whatever length the response announces.
    private func body(of response: HTTPClientResponse) async throws -> Data {
        let encodings = response.headers[canonicalForm: "Content-Encoding"]
        guard encodings.allSatisfy({ $0.utf8.count == 8 && $0.lowercased().hasSameOctets(as: "identity") }) else {
            throw RemoteDataError(
                .encodedBody, expected: "a body as it is, which was asked for",
                found: "Content-Encoding: \(encodings.joined(separator: ", ").quoted)")
        }
        let announced = response.headers.first(name: "Content-Length").flatMap { Int64($0) } ?? 0
        guard announced <= Int64(request.maximumBytes) else { throw request.tooLarge("\(announced) announced") }
        var body = Data()
        for try await buffer in response.body {
            guard body.count + buffer.readableBytes <= request.maximumBytes else { throw request.tooLarge("more") }
            body.append(contentsOf: buffer.readableBytesView)
        }
        return body
    }

    /// The destination of a connection for a URL.
    private func destination(of url: URL) -> String {
        guard let proxy = provider.proxy(url) else { return (try? DialedHost(url: url))?.description ?? "the server" }
        return "the proxy \((try? DialedHost(proxy.host, port: proxy.port))?.description ?? proxy.host.quotedAddress)"
    }

    private static func error(for error: any Error, to destination: String) -> any Error {
        if let reason = ConnectionErrorText.text(ofConnecting: error, to: destination) {
            return RemoteDataError(.connectionFailed, expected: "a connection", found: reason)
        }
        return switch error {
        case is RemoteDataError, is CancellationError: error
        case let error as HTTPClientError where error == .cancelled: CancellationError()
        case let failure as TrustFailure:
            RemoteDataError(
                .connectionFailed, expected: "a trusted server: \(failure.expected)",
                found: "\(failure.found) (\(failure.code.rawValue))")
        case let error as HTTPClientError where error == .remoteConnectionClosed || error == .uncleanShutdown:
            RemoteDataError(
                .connectionFailed, expected: "a whole answer", found: "that the server closed the connection")
        default: RemoteDataError(.connectionFailed, expected: "a whole answer", found: reason(of: error))
        }
    }

    /// In messages of BoringSSL, only the names are meaningful to users.
    private static func reason(of error: any Error) -> String {
        let names = BoringSSLReason.names(in: error)
        return names.isEmpty ? ForeignErrorText.found(error) : names.joined(separator: "; ")
    }
}
