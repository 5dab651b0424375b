import Foundation

#if canImport(FoundationNetworking) && !HOLDFAST_WITHOUT_URLSESSION
import FoundationNetworking
#endif
#if canImport(Security)
import Security
#endif

/// Downloads documents with URLSession: each request has its own session, without cookies, cache, credentials, or trust
/// manager.
///
/// On Linux it refuses `http:`, except to this machine if `allowsPlainHTTPToLoopback` is set: on Linux, libcurl decodes
/// every `Content-Encoding` and cannot be stopped, so ``RemoteDataRequest/maximumBytes`` does not bound the memory that
/// a response takes. Measured on Linux with Swift 6.3: 260 bytes of `gzip, gzip, gzip` became 1,153,433,600, and the
/// process grew from 30 MB to 1.26 GB, although the request specified `identity` and the task was canceled after 1 MiB.
/// Over https only a server with a valid certificate for the name can do that. The memory is not bounded either for a
/// body that comes in many small pieces, or for headers: 18 MB in pieces of one byte took 3.4 GB, and 1 MB of header
/// lines kept all sessions of the process busy for 43 seconds; the time limits hold in spite of that. So use
/// HoldfastAsyncHTTPClient's `AsyncHTTPClientDataProvider`, which enforces all limits, for services on Linux and for
/// downloads of revocation lists, which authorities publish over `http:`.
///
/// In a build with `HOLDFAST_WITHOUT_URLSESSION=1` in its environment, every download fails. Programs on Linux that set
/// another provider everywhere then load neither libcurl nor the libraries that it needs.
public struct URLSessionDataProvider: RemoteDataProvider {
    /// The maximum time until the response begins, including the time to connect.
    package let answerLimit: Duration
    /// The maximum time for the whole download.
    package let wholeLimit: Duration
    /// Whether plain HTTP is allowed to the loopback addresses, for tests and demonstrations.
    package let allowsPlainHTTPToLoopback: Bool

    /// Makes a provider.
    /// - Parameters:
    ///   - answerLimit: the maximum time until the response begins.
    ///   - wholeLimit: the maximum time for the whole download.
    ///   - allowsPlainHTTPToLoopback: whether `http` is allowed to localhost and the loopback addresses.
    public init(
        answerLimit: Duration = .seconds(15), wholeLimit: Duration = .seconds(60),
        allowsPlainHTTPToLoopback: Bool = false
    ) {
        self.answerLimit = DownloadRules.usable(answerLimit)
        self.wholeLimit = DownloadRules.usable(wholeLimit)
        self.allowsPlainHTTPToLoopback = allowsPlainHTTPToLoopback
    }

    /// Downloads a document.
    /// - Throws: ``RemoteDataError``.
    public func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        #if HOLDFAST_WITHOUT_URLSESSION
        throw RemoteDataError(
            .unsupported, expected: "a build of Holdfast with URLSession", found: "HOLDFAST_WITHOUT_URLSESSION",
            remedy: "Give AsyncHTTPClientDataProvider of HoldfastAsyncHTTPClient as the remoteDataProvider.")
        #else
        return try await download(request)
        #endif
    }
}

#if !HOLDFAST_WITHOUT_URLSESSION
extension URLSessionDataProvider {
    private func download(_ request: RemoteDataRequest) async throws -> RemoteDataResponse {
        #if !canImport(Security)
        // Anyone on the network path could respond, and libcurl decodes without a bound.
        guard !request.allowsPlainHTTP || request.url.scheme?.lowercased() != "http" else {
            throw RemoteDataError(
                .unsupported, expected: "an https URL, since URLSession on Linux decodes what comes without a limit",
                found: request.url.quotedAddress,
                remedy: "Give AsyncHTTPClientDataProvider of HoldfastAsyncHTTPClient as the remoteDataProvider.")
        }
        #endif
        try rules(for: request).check(request.url)
        #if !canImport(Security)
        guard request.validatesServer else {
            throw RemoteDataError(
                .unsupported, expected: "standard validation, which URLSession does here in any case",
                found: "noValidation")
        }
        #endif
        let download = Download(request, provider: self)
        return try await withTaskCancellationHandler {
            try await download.run()
        } onCancel: {
            download.end(with: RemoteDataError(.canceled, expected: "a document", found: "a canceled task"))
        }
    }

    fileprivate func rules(for request: RemoteDataRequest) -> DownloadRules {
        #if canImport(Security)
        let allowsPlainHTTP = request.allowsPlainHTTP
        #else
        let allowsPlainHTTP = false
        #endif
        return DownloadRules(allowsPlainHTTPToLoopback: allowsPlainHTTPToLoopback, allowsPlainHTTP: allowsPlainHTTP)
    }
}

/// One download. Every callback comes on the session's queue, or from a timer or a cancellation; the first callback
/// that ends it determines the result.
private final class Download: NSObject, URLSessionDataDelegate, Sendable {
    private struct State {
        var body = Data()
        var headers: [String: String] = [:]
        var hasAnswer = false
        var redirects = 0
    }

    private let request: RemoteDataRequest
    private let provider: URLSessionDataProvider
    private let state = Lock(State())
    private let outcome = FirstAnswer<Result<RemoteDataResponse, any Error>>()

    init(_ request: RemoteDataRequest, provider: URLSessionDataProvider) {
        self.request = request
        self.provider = provider
    }

    func run() async throws -> RemoteDataResponse {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // The session's limits are set later than ours, because it does not report which of its limits was reached.
        configuration.timeoutIntervalForRequest = (provider.wholeLimit + .seconds(10)) / .seconds(1)
        configuration.timeoutIntervalForResource = (provider.wholeLimit + .seconds(10)) / .seconds(1)
        var urlRequest = URLRequest(url: request.url)
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        // The caller's task may have been canceled already.
        guard !outcome.isSettled else { return try await outcome.value.get() }
        after(provider.answerLimit) { download in
            guard !download.state.withLock({ $0.hasAnswer }) else { return nil }
            return RemoteDataError(
                .noAnswerInTime, expected: "an answer within \(download.provider.answerLimit)", found: "none")
        }
        after(provider.wholeLimit) { download in
            RemoteDataError(
                .tookTooLong, expected: "the whole within \(download.provider.wholeLimit)", found: "not the end")
        }
        let task = SoleTask(urlRequest, in: configuration, delegate: self)
        defer { task.end() }
        return try await outcome.value.get()
    }

    func end(with error: RemoteDataError) { outcome.settle(.failure(error)) }

    private func after(_ span: Duration, _ error: @escaping @Sendable (Download) -> RemoteDataError?) {
        SoleTask.after(span) { [weak self] in
            guard let self, let error = error(self) else { return }
            self.end(with: error)
        }
    }

    // MARK: URLSession

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard !task.isEnding else { return }
        let redirects = state.withLock { state in
            state.redirects += 1
            return state.redirects
        }
        do throws(RemoteDataError) {
            try provider.rules(for: request).redirected(
                to: newRequest.url, from: response.url ?? request.url, number: redirects, status: response.statusCode)
        } catch {
            completionHandler(nil)
            end(with: error)
            return
        }
        completionHandler(newRequest)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let response = response as? HTTPURLResponse else {
            completionHandler(.cancel)
            end(with: RemoteDataError(.connectionFailed, expected: "an answer of HTTP", found: "another"))
            return
        }
        guard !response.isInformational else { return completionHandler(.allow) }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name] = value }
        }
        state.withLock { state in
            state.hasAnswer = true
            state.headers = headers
        }
        switch response.statusCode {
        case 200:
            guard response.expectedContentLength <= Int64(request.maximumBytes) else {
                completionHandler(.cancel)
                end(with: request.tooLarge("\(response.expectedContentLength) announced"))
                return
            }
            completionHandler(.allow)
        case 304 where request.isConditional:
            completionHandler(.cancel)
            outcome.settle(.success(RemoteDataResponse(.notModified, headers: headers)))
        default:
            completionHandler(.cancel)
            end(with: RemoteDataError(status: response.statusCode))
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = state.withLock { state in
            guard !outcome.isSettled, state.body.count + data.count <= request.maximumBytes else { return true }
            state.body += data
            return false
        }
        guard isTooLarge else { return }
        dataTask.stop()
        end(with: request.tooLarge("more"))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error {
            end(
                with: RemoteDataError(
                    .connectionFailed, expected: "a whole answer",
                    found: ForeignErrorText.found(error)))
            return
        }
        let (body, headers, hasAnswer) = state.withLock { ($0.body, $0.headers, $0.hasAnswer) }
        guard hasAnswer else {
            // FoundationNetworking delivers the body of a redirect without a target as if it were a success.
            let status = (task.response as? HTTPURLResponse)?.statusCode
            end(
                with: status.map { RemoteDataError(status: $0) }
                    ?? RemoteDataError(.connectionFailed, expected: "an answer with a status", found: "none"))
            return
        }
        outcome.settle(.success(RemoteDataResponse(.body(body), headers: headers)))
    }

    #if canImport(Security)
    /// Only here may a server remain unvalidated, and only if the configuration allows it: the response is signed.
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        guard !request.validatesServer,
            space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust
        else {
            completionHandler(.performDefaultHandling, nil)
            return
        }
        completionHandler(.useCredential, URLCredential(trust: trust))
    }
    #endif
}
#endif
