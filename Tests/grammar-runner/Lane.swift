import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOHTTP1

/// A server and a client of its own, which meet in one request after the other.
final class Lane: Sendable {
    /// The component that sends requests to the server.
    enum Asker: Sendable {
        case client
        /// Downloads documents, revocation lists over plain HTTP among them.
        case provider
    }

    enum Outcome: Sendable {
        case response(UInt)
        case malformed(String)
        case failure(String)
    }

    let speech: AnsweringPeer.Speech
    private let peer: AnsweringPeer
    private let makeClient: @Sendable () throws -> PinnedHTTPClient
    private let client: Lock<PinnedHTTPClient>
    private let url: String
    private let asker: Asker
    private let provider: AsyncHTTPClientDataProvider

    init(_ speech: AnsweringPeer.Speech, _ asker: Asker = .client) async throws {
        self.speech = speech
        self.asker = asker
        let root = try TestAuthority.root()
        let peer = try await AnsweringPeer(speech, certificate: try root.leaf(names: ["www.example.com"]))
        let host = speech == .plain ? "127.0.0.1" : "www.example.com"
        url = "\(speech == .plain ? "http" : "https")://\(host):\(peer.port)/"
        let anchors = try TrustAnchors(der: [root.root])
        let pattern = try HostPattern(host)
        let policy: any TrustPolicy =
            speech == .plain
            ? DisabledPolicy(host: pattern, log: RecordingLog().policyLog) : StandardPolicy(host: pattern)
        makeClient = {
            let manager = TrustManager(policies: [policy])
            var configuration = HTTPClient.Configuration()
            configuration.dnsOverride["www.example.com"] = "127.0.0.1"
            configuration.timeout.connect = .seconds(60)
            var limits = PinnedHTTPClient.Limits()
            limits.closing = .seconds(1)
            return try PinnedHTTPClient(
                manager: manager, validator: PathValidator(anchors: anchors), configuration: configuration,
                limits: limits)
        }
        client = Lock(try makeClient())
        provider = PolicyLog.$shared.withValue(RecordingLog().policyLog) {
            AsyncHTTPClientDataProvider(validator: PathValidator(anchors: anchors), allowsPlainHTTPToLoopback: true)
        }
        self.peer = peer
    }

    func shutdown() async {
        try? await client.withLock { $0 }.shutdown()
        await peer.shutdown()
    }

    /// Sends requests until one meets the answer.
    /// - Returns: what is wrong; nil when it is what was expected.
    func meet(_ answer: Answer) async throws -> String? {
        if answer.needsConnection { try await renew() }
        peer.script = answer.script
        let outcome = await outcome(answer.needsConnection)
        peer.script = .init(answer: Self.good(speech))
        if let complaint = Self.complaint(about: outcome, answer) { return complaint }
        return answer.isFollowed ? await settle() : nil
    }

    private func renew() async throws {
        let made = try makeClient()
        let old = client.withLock { client in
            defer { client = made }
            return client
        }
        try await old.shutdown()
    }

    /// A request may come to a connection that is about to end because of the answer before, and never reach the server.
    private func outcome(_ isFirst: Bool) async -> Outcome {
        var outcome = Outcome.failure("nothing reaches the server")
        for _ in 0..<50 {
            let requests = peer.requests
            outcome = asker == .client ? await request() : await download()
            if peer.requests > requests || isFirst { break }
        }
        return outcome
    }

    private func request() async -> Outcome {
        do {
            let client = client.withLock { $0 }
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
            _ = try await response.body.collect(upTo: 1 << 20)
            return .response(response.status.code)
        } catch let error as PinnedHTTPClientError where error.code.rawValue == "malformedResponse" {
            return .malformed(error.found)
        } catch {
            return .failure("\(error)")
        }
    }

    private func download() async -> Outcome {
        guard let url = URL(string: url) else { return .failure(url) }
        do {
            _ = try await provider.data(for: RemoteDataRequest(url: url, maximumBytes: 1_000))
            return .response(200)
        } catch let error as RemoteDataError {
            if let status = error.status { return .response(UInt(status)) }
            let isMalformed =
                error.code == .connectionFailed && error.found.contains("informational responses, then one")
            return isMalformed ? .malformed(error.found) : .failure("\(error)")
        } catch {
            return .failure("\(error)")
        }
    }

    private static func complaint(about outcome: Outcome, _ answer: Answer) -> String? {
        let isRight =
            switch (outcome, answer.expectation) {
            case (.response(let found), .response(let expected)): found == expected
            case (.malformed(let found), .malformed(let name)): name.isEmpty || found.contains(name)
            case (.response(let found), .anything): (200...599).contains(found)
            case (.failure(let text), .anything), (.failure(let text), .failure): !text.contains("deadlineExceeded")
            case (.malformed, .anything), (.malformed, .failure): true
            default: false
            }
        return isRight ? nil : "\(answer.name): \(outcome) instead of \(answer.expectation)"
    }

    /// Once a good answer comes, what was sent before it has been read.
    private func settle() async -> String? {
        for _ in 0..<50 {
            if case .response(200) = await request() { return nil }
        }
        return "no good answer comes anymore"
    }

    static func good(_ speech: AnsweringPeer.Speech) -> @Sendable (UInt32) -> [UInt8] {
        switch speech {
        case .http2: { HTTP2Octets.headers($0) }
        case .plain, .http1: { _ in Array("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".utf8) }
        }
    }
}
