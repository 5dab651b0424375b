public import Foundation

/// A request for a document, such as that of a ``CertStore``.
public struct RemoteDataRequest: Sendable {
    /// The URL of the document.
    public var url: URL
    /// Headers to send, by name.
    public var headers: [String: String]
    /// The maximum size of a response's body, in bytes; a larger one fails as `tooLarge` while it arrives.
    public var maximumBytes: Int
    /// Whether the server itself is validated. A provider that does not support this setting validates.
    package var validatesServer = true
    /// Whether `http` is allowed: only for revocation lists, which authorities publish that way (RFC 5280 4.2.1.13),
    /// and which are signed and not secret.
    public var allowsPlainHTTP = false

    /// Whether the server may respond that nothing has changed (RFC 9110 13.1).
    package var isConditional: Bool { ["If-None-Match", "If-Modified-Since"].contains { headers[$0] != nil } }

    /// Makes a request.
    public init(url: URL, headers: [String: String] = [:], maximumBytes: Int = DocumentLimits().bytes) {
        self.url = url
        self.headers = headers
        self.maximumBytes = maximumBytes
    }

    package func tooLarge(_ found: String) -> RemoteDataError {
        RemoteDataError(.tooLarge, expected: "at most \(maximumBytes) bytes", found: found)
    }
}

/// A server's response.
public struct RemoteDataResponse: Sendable {
    /// The content of the response.
    public enum Content: Sendable, Hashable {
        /// A document.
        case body(Data)
        /// The document is the one whose entity tag or date was sent (HTTP status 304).
        case notModified
    }

    /// The content of the response.
    public let content: Content
    private let headers: [String: String]

    /// Makes a response.
    /// - Parameters:
    ///   - content: the body, or the statement that it has not changed.
    ///   - headers: by name, in any case.
    public init(_ content: Content, headers: [String: String] = [:]) {
        self.content = content
        // Header names are ASCII (RFC 9110 5.1), so others are skipped.
        let named = headers.filter { $0.key.isASCII(atMost: 128) }
        self.headers = Dictionary(named.map { ($0.lowercased(), $1) }) { first, _ in first }
    }

    /// A header by its name, in any case.
    public func header(_ name: String) -> String? { headers[name.lowercased()] }

    /// The entity tag of this version of the document, safe to store and send again; empty if it is missing or invalid
    /// (RFC 9110 8.8.3).
    package var entityTag: String {
        guard let tag = header("ETag"), tag.isASCII(atMost: 256),
            tag.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return "" }
        return tag
    }
}

/// Downloads documents for a ``CertStore``: over a separate transport and with standard validation, never through the
/// trust manager that the store feeds.
public protocol RemoteDataProvider: Sendable {
    /// Downloads a document; ends at once, with an error, when its task is canceled.
    /// - Throws: ``RemoteDataError``.
    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse
}

extension RemoteDataProvider {
    /// Downloads a document for a store; nil if the server responds that it has not changed.
    package func document(
        for request: RemoteDataRequest
    ) async throws(StoreError) -> (body: Data, response: RemoteDataResponse)? {
        let response: RemoteDataResponse
        do {
            response = try await data(for: request)
        } catch {
            throw StoreError(network: error)
        }
        if case .body(let body) = response.content { return (body, response) }
        guard request.isConditional else { throw StoreError(network: RemoteDataError(status: 304)) }
        return nil
    }
}

/// The reason why a document could not be downloaded.
public struct RemoteDataError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<RemoteDataError>

    /// The reason.
    public let code: Code
    /// The HTTP status, if the server sent one.
    public let status: Int?
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts

    /// Makes an error; without a remedy it gets the usual one for its code.
    public init(_ code: Code, status: Int? = nil, expected: String, found: String, remedy: String? = nil) {
        self.code = code
        self.status = status
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.remedy)
    }

    /// The error for a status that is not a success.
    public init(status: Int) {
        let code: Code =
            switch status {
            case 400..<500: .clientError
            case 500..<600: .serverError
            default: .unexpectedStatus
            }
        self.init(code, status: status, expected: "HTTP status 200", found: "\(status)")
    }
}

extension RemoteDataError.Code {
    /// The URL is not HTTPS.
    public static var insecureURL: Self { Self("Configure an https URL.") }
    /// The connection could not be made, broke, or failed in TLS.
    public static var connectionFailed: Self { Self("Check the network, the URL and the certificate of the server.") }
    /// No response arrived within the time limit.
    public static var noAnswerInTime: Self { Self("Try again later; if this happens again, check the server.") }
    /// The whole download took longer than its limit.
    public static var tookTooLong: Self { Self("Try again later; if this happens again, check the server.") }
    /// More bytes than the limit.
    public static var tooLarge: Self { Self("Check that the URL leads to a pin document, or raise the limits.") }
    /// A redirect to a URL that is not HTTPS, or one too many.
    public static var redirectRefused: Self { Self("Configure the URL that the server redirects to, with https.") }
    /// A status from 400 to 499: the request is wrong, and repeating it does not help.
    public static var clientError: Self { Self("Check the URL and the name of the application in it.") }
    /// A status from 500 to 599: the server has a problem.
    public static var serverError: Self { Self("Try again later; the server has a problem.") }
    /// Any other status that is neither 200 nor, if an entity tag was sent, 304.
    public static var unexpectedStatus: Self { Self("Check that the URL leads to a pin document.") }
    /// The body is compressed or otherwise encoded (RFC 9110 8.4), although the request did not allow that.
    public static var encodedBody: Self { Self("Have the server send the document without Content-Encoding.") }
    /// The task was canceled.
    public static var canceled: Self { Self("Ask again when needed.") }
    /// The provider does not support a setting of the configuration.
    public static var unsupported: Self { Self("Use standard validation, or a provider that can do it.") }
}

/// A source, storage or clock that identifies equivalent values of its type, for HoldfastCompatibility: policies with
/// equivalent ones share a store.
package protocol IdentifiedSource: Sendable {
    /// Equal texts for equivalent values.
    var sourceIdentity: String { get }
}
