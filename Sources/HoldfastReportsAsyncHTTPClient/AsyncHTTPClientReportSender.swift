public import AsyncHTTPClient
import Foundation
public import Holdfast
import HoldfastAsyncHTTPClient
public import HoldfastReports
public import NIOCore
import NIOHTTP1
public import NIOPosix

/// Sends reports with AsyncHTTPClient. Each has its own client, whose server Holdfast validates, without the
/// application's trust manager.
///
/// ```swift
/// let anchors = try await TrustAnchors.system()
/// let sender = AsyncHTTPClientReportSender(validator: PathValidator(anchors: anchors))
/// ```
/// It reads only the head of an answer, and decodes nothing.
public struct AsyncHTTPClientReportSender: ReportSender {
    private let validator: PathValidator
    private let limit: Duration
    private let eventLoopGroup: any EventLoopGroup
    private let clock: any WallClock
    private let proxy: HTTPClient.Configuration.Proxy?

    /// Makes a sender.
    /// - Parameters:
    ///   - validator: validates collectors with its trusted anchors.
    ///   - limit: the maximum time until the answer begins, including connecting and sending.
    ///   - eventLoopGroup: the event loops for timers; those of Network.framework are refused. Connections have
    ///     separate threads.
    ///   - clock: the time at which collectors are validated.
    ///   - proxy: an HTTP proxy; nil for none. The collector is validated in any case.
    public init(
        validator: PathValidator, limit: Duration = .seconds(30),
        eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        clock: any WallClock = SystemWallClock(), proxy: HTTPClient.Configuration.Proxy? = nil
    ) {
        self.validator = validator
        self.limit = DownloadRules.usable(limit)
        self.eventLoopGroup = eventLoopGroup
        self.clock = clock
        self.proxy = proxy
    }

    /// Sends a POST.
    /// - Throws: `ReportSendingError`.
    public func send(_ upload: ReportUpload) async throws -> ReportAnswer {
        do throws(RemoteDataError) {
            try DownloadRules(allowsPlainHTTPToLoopback: false).check(upload.url)
        } catch {
            throw ReportSendingError(.insecureURL, expected: error.expected, found: error.found)
        }
        let start = ContinuousClock.now
        do {
            return try await post(upload)
        } catch {
            throw Self.error(for: error, isTooLate: ContinuousClock.now - start >= limit, limit)
        }
    }

    private func post(_ upload: ReportUpload) async throws -> ReportAnswer {
        let client = try client()
        // No caller waits for connections to end.
        defer { Task { try? await client.shutdown() } }
        var request = HTTPClientRequest(url: upload.url.absoluteString)
        request.method = .POST
        request.headers.replaceOrAdd(name: "Content-Type", value: upload.contentType)
        request.headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
        request.headers.replaceOrAdd(name: "User-Agent", value: HoldfastRelease.product())
        request.body = .bytes(ByteBuffer(bytes: upload.body))
        let response = try await client.execute(request, timeout: TimeAmount(limit))
        let status = Int(response.status.code)
        guard !(300..<400).contains(status) else {
            throw ReportSendingError(
                .redirectRefused, expected: "an answer of the destination", found: "HTTP status \(status)")
        }
        return ReportAnswer(status: status, retryAfter: response.headers.first(name: "Retry-After"))
    }

    private func client() throws -> PinnedHTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.proxy = proxy
        configuration.decompression = .disabled
        // HTTP/1.1 is enough for one request.
        configuration.httpVersion = .http1Only
        return try PinnedHTTPClient(
            manager: TrustManager(unknownHosts: .standardValidation), validator: validator,
            eventLoopGroup: eventLoopGroup, configuration: configuration, clock: clock)
    }

    /// Once the time is up, any other error of the client is a timeout.
    private static func error(for error: any Error, isTooLate: Bool, _ limit: Duration) -> ReportSendingError {
        switch error {
        case let error as ReportSendingError: error
        case is CancellationError:
            ReportSendingError(.canceled, expected: "an answer", found: "a canceled task")
        case let error as HTTPClientError where error == .cancelled:
            ReportSendingError(.canceled, expected: "an answer", found: "a canceled task")
        case let failure as TrustFailure:
            ReportSendingError(
                .connectionFailed, expected: "a trusted collector: \(failure.expected)",
                found: "\(failure.found) (\(failure.code.rawValue))")
        case _ where isTooLate:
            ReportSendingError(.noAnswerInTime, expected: "an answer within \(limit)", found: "none")
        default:
            ReportSendingError(.connectionFailed, expected: "an answer", found: ForeignErrorText.found(error))
        }
    }
}
