import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastTesting
import NIOCore
import Testing

/// An authority with an issuing one below it, and clients that trust the first and reach every name of `example` on the
/// loopback address.
struct HTTPSetting {
    let root: TestAuthority
    let issuing: TestAuthority
    let manager: TrustManager
    let clock: ManualClock

    init(policies: [any TrustPolicy] = []) throws {
        root = try TestAuthority.root()
        issuing = try root.intermediate()
        manager = TrustManager(policies: policies)
        clock = ManualClock(now: SystemWallClock().now)
    }

    static let names = ["www.example.com", "api.example.com", "other.example.net", "xn--mnchen-3ya.example.com"]

    func leaf(_ names: TestGeneralName..., configure: (inout CertificateSpecification) -> Void = { _ in })
        throws -> TestCertificate
    {
        try issuing.leaf(names: names.isEmpty ? ["www.example.com"] : names, configure: configure)
    }

    /// Standard validation for a host, or pins in addition if there are any.
    func trust(_ host: String, pins: [Pin] = []) throws {
        let pattern = try HostPattern(host)
        manager.add(
            policy: pins.isEmpty
                ? StandardPolicy(host: pattern) : try PinnedPolicy(host: pattern, pins: PinSet(pins: pins)))
    }

    var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        for name in Self.names { configuration.dnsOverride[name] = "127.0.0.1" }
        // Long on purpose: nothing that is tested may depend on it.
        configuration.timeout.connect = .minutes(5)
        return configuration
    }

    func anchors() throws -> TrustAnchors { try TrustAnchors(der: [root.root]) }

    func client(
        unknownHosts: UnknownHostRule = .reject, limits: PinnedHTTPClient.Limits = .init(),
        validator: PathValidator? = nil, redirects: RedirectRules? = nil,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) throws -> PinnedHTTPClient {
        var configuration = configuration
        configure(&configuration)
        manager.unknownHosts = unknownHosts
        return try PinnedHTTPClient(
            manager: manager, validator: try validator ?? PathValidator(anchors: anchors()),
            configuration: configuration, redirects: redirects, limits: limits, clock: clock
        )
    }

    func withClient<Result>(
        unknownHosts: UnknownHostRule = .reject, limits: PinnedHTTPClient.Limits = .init(),
        validator: PathValidator? = nil, redirects: RedirectRules? = nil,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in },
        _ body: (PinnedHTTPClient) async throws -> Result
    ) async throws -> Result {
        let client = try client(
            unknownHosts: unknownHosts, limits: limits, validator: validator, redirects: redirects, configure)
        do {
            let result = try await body(client)
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }
}

extension TestCertificate {
    func publicKeyPin() throws -> Pin { try X509Certificate(der: der).publicKeyPin }
}

extension TestOrigin {
    func url(_ path: String = "/", host: String = "www.example.com", scheme: String = "https") -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }
}

extension PinnedHTTPClient {
    /// Sends a GET, or another request, and reads the answer.
    func text(_ url: String, _ configure: (inout HTTPClientRequest) -> Void = { _ in }) async throws -> String {
        var request = HTTPClientRequest(url: url)
        configure(&request)
        let response = try await execute(request, timeout: .minutes(1))
        return String(buffer: try await response.body.collect(upTo: 1 << 20))
    }

    /// The reason of a refusal; nil, and a failed test, when there is none.
    func refusal(
        _ url: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ configure: (inout HTTPClientRequest) -> Void = { _ in }
    ) async -> TrustFailure? {
        do {
            let text = try await text(url, configure)
            Issue.record("answered: \(text)", sourceLocation: sourceLocation)
        } catch let failure as TrustFailure {
            return failure
        } catch {
            Issue.record("another error: \(error)", sourceLocation: sourceLocation)
        }
        return nil
    }

    /// The error of a request; nil, and a failed test, when there is none.
    func clientError(
        _ url: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ configure: (inout HTTPClientRequest) -> Void = { _ in }
    ) async -> PinnedHTTPClientError.Code? {
        do {
            let text = try await text(url, configure)
            Issue.record("answered: \(text)", sourceLocation: sourceLocation)
        } catch let error as PinnedHTTPClientError {
            return error.code
        } catch {
            Issue.record("another error: \(error)", sourceLocation: sourceLocation)
        }
        return nil
    }
}

/// The server saw the connections end and not one byte of a request.
func expectNoRequest(_ origin: TestOrigin, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try await origin.waitForDisconnection()
    #expect(origin.counters.plaintextBytes == 0, sourceLocation: sourceLocation)
    #expect(origin.counters.requests.isEmpty, sourceLocation: sourceLocation)
}

extension PinnedHTTPClient {
    /// The request is answered.
    func expectAnswer(
        _ url: String, _ answer: String = "ok", sourceLocation: SourceLocation = #_sourceLocation,
        _ configure: (inout HTTPClientRequest) -> Void = { _ in }
    ) async throws {
        let text = try await text(url, configure)
        #expect(text == answer, sourceLocation: sourceLocation)
    }
}

extension TestOrigin {
    /// So many handshakes there were; the server may count one a little after the client has its answer.
    func expectHandshakes(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await wait { $0.handshakes >= count }
        #expect(counters.handshakes == count, sourceLocation: sourceLocation)
    }
}
