import Foundation
import Holdfast

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends reports with URLSession: each has its own session, without cookies, cache, credentials, or trust manager.
///
/// It ends the connection as soon as the status has arrived, so a long answer costs nothing. On Linux the memory for an
/// answer is not bounded, because libcurl decodes the first bytes of a body before they can be refused, and headers may
/// be of any length; see `URLSessionDataProvider` of Holdfast. A service on Linux should use
/// `AsyncHTTPClientReportSender` of HoldfastReportsAsyncHTTPClient, which enforces all limits.
public struct URLSessionReportSender: ReportSender {
    /// The maximum time until the answer begins, including connecting and sending.
    package let limit: Duration
    /// Whether plain HTTP is allowed to the loopback addresses, for tests and demonstrations.
    package let allowsPlainHTTPToLoopback: Bool

    /// Makes a sender.
    /// - Parameters:
    ///   - limit: the maximum time until the answer begins, including connecting and sending.
    ///   - allowsPlainHTTPToLoopback: whether `http` is allowed to localhost and the loopback addresses.
    public init(limit: Duration = .seconds(30), allowsPlainHTTPToLoopback: Bool = false) {
        self.limit = DownloadRules.usable(limit)
        self.allowsPlainHTTPToLoopback = allowsPlainHTTPToLoopback
    }

    /// Sends a POST.
    /// - Throws: ``ReportSendingError``.
    public func send(_ upload: ReportUpload) async throws -> ReportAnswer {
        do throws(RemoteDataError) {
            try DownloadRules(allowsPlainHTTPToLoopback: allowsPlainHTTPToLoopback).check(upload.url)
        } catch {
            throw ReportSendingError(.insecureURL, expected: error.expected, found: error.found)
        }
        let posting = Posting(upload, limit: limit)
        return try await withTaskCancellationHandler {
            try await posting.run()
        } onCancel: {
            posting.end(with: ReportSendingError(.canceled, expected: "an answer", found: "a canceled task"))
        }
    }
}

/// One POST. Callbacks come on the session's queue, or from a timer or a cancellation; the first end is the result.
private final class Posting: NSObject, URLSessionDataDelegate, Sendable {
    private let upload: ReportUpload
    private let limit: Duration
    private let outcome = FirstAnswer<Result<ReportAnswer, any Error>>()

    init(_ upload: ReportUpload, limit: Duration) {
        self.upload = upload
        self.limit = limit
    }

    func run() async throws -> ReportAnswer {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        var request = URLRequest(url: upload.url)
        request.httpMethod = "POST"
        request.httpBody = upload.body
        request.setValue(upload.contentType, forHTTPHeaderField: "Content-Type")
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        // Foundation's default names the application, its version and the system's.
        request.setValue(HoldfastRelease.product(), forHTTPHeaderField: "User-Agent")
        // The default header contains the languages of the user.
        request.setValue("*", forHTTPHeaderField: "Accept-Language")
        // The caller's task may have been canceled already.
        guard !outcome.isSettled else { return try await outcome.value.get() }
        let limit = limit
        SoleTask.after(limit) { [weak self] in
            self?.end(
                with: ReportSendingError(.noAnswerInTime, expected: "an answer within \(limit)", found: "none"))
        }
        let task = SoleTask(request, in: configuration, delegate: self)
        defer { task.end() }
        return try await outcome.value.get()
    }

    func end(with error: ReportSendingError) { outcome.settle(.failure(error)) }

    // MARK: URLSession

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard !task.isEnding else { return }
        completionHandler(nil)
        end(
            with: ReportSendingError(
                .redirectRefused, expected: "an answer of the destination", found: "HTTP status \(response.statusCode)")
        )
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let answer = response as? HTTPURLResponse
        guard answer?.isInformational != true else { return completionHandler(.allow) }
        completionHandler(.cancel)
        guard let response = answer else {
            end(with: ReportSendingError(.connectionFailed, expected: "an answer of HTTP", found: "another"))
            return
        }
        settle(response)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error {
            end(
                with: ReportSendingError(
                    .connectionFailed, expected: "an answer", found: ForeignErrorText.found(error)))
        } else if let response = task.response as? HTTPURLResponse, !response.isInformational {
            settle(response)
        } else {
            end(with: ReportSendingError(.connectionFailed, expected: "an answer with a status", found: "none"))
        }
    }

    private func settle(_ response: HTTPURLResponse) {
        outcome.settle(
            .success(
                ReportAnswer(
                    status: response.statusCode, retryAfter: response.value(forHTTPHeaderField: "Retry-After"))))
    }
}
