public import Foundation

/// A request to a collector: one POST.
public struct ReportUpload: Sendable, Hashable {
    /// The URL: one of the destinations that the application named.
    public let url: URL
    /// The media type of the body.
    public let contentType: String
    /// The body.
    public let body: Data

    /// Makes an upload, for tests of a sender.
    public init(url: URL, contentType: String, body: Data) {
        self.url = url
        self.contentType = contentType
        self.body = body
    }
}

/// A collector's answer. Its body does not matter and is not read.
public struct ReportAnswer: Sendable, Hashable {
    /// The HTTP status.
    public let status: Int
    /// The pause that the collector requests (RFC 9110 10.2.3); nil if it states none in seconds.
    public let retryAfter: Duration?

    /// Makes an answer.
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - retryAfter: the value of `Retry-After`. A date is ignored, since the collector's clock may be wrong.
    public init(status: Int, retryAfter: String? = nil) {
        self.status = status
        self.retryAfter = retryAfter.flatMap { text in
            guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            return Int64(text).map { .seconds($0) }
        }
    }
}

/// Sends reports to collectors, over a separate transport with standard validation, never through the trust manager
/// whose decisions are reported: a report about a broken pin must not need that pin.
///
/// It follows no redirect, sends neither cookies nor credentials, and may be called from any thread.
public protocol ReportSender: Sendable {
    /// Sends a POST and returns the answer, whatever its status; fails at once when its task is canceled.
    /// - Throws: an error if no answer arrived.
    func send(_ upload: ReportUpload) async throws -> ReportAnswer
}
