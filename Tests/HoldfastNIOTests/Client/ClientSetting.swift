import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

/// An authority, an issuing authority below it, and clients that trust the first.
struct ClientSetting {
    let root: TestAuthority
    let issuing: TestAuthority

    init(key: TestKey.Choice = .p256, signature: TestSignature = .automatic) throws {
        root = try TestAuthority.root(key: key) { $0.signature = signature }
        issuing = try root.intermediate(key: key) { $0.signature = signature }
    }

    func validator() throws -> PathValidator {
        PathValidator(anchors: try TrustAnchors(der: [root.root]))
    }

    func client(
        for host: String, pins: [Pin] = [], configuration: TLSConfiguration = .makeClientConfiguration(),
        handshakeTimeout: Duration? = .seconds(300)
    ) throws -> PinnedTLSClient {
        try client(
            for: host, trust: .policy(try policy(for: host, pins: pins)), configuration: configuration,
            handshakeTimeout: handshakeTimeout)
    }

    /// A policy for this host, with pins if there are any.
    func policy(for host: String, pins: [Pin] = []) throws -> any TrustPolicy {
        let host = HostPattern(try DialedHost(host))
        return pins.isEmpty ? StandardPolicy(host: host) : try PinnedPolicy(host: host, pins: PinSet(pins: pins))
    }

    func client(
        for host: String, trust: TrustSource, configuration: TLSConfiguration = .makeClientConfiguration(),
        handshakeTimeout: Duration? = .seconds(300)
    ) throws -> PinnedTLSClient {
        try PinnedTLSClient(
            trust: trust, host: DialedHost(host), configuration: configuration, validator: validator(),
            handshakeTimeout: handshakeTimeout)
    }
}

extension TestCertificate {
    func publicKeyPin() throws -> Pin { try X509Certificate(der: der).publicKeyPin }
}

/// Nothing went out, nothing came in, and the reason is the same wherever one looks.
func expectRefusal(
    _ attempt: ClientAttempt, _ code: TrustFailure.Code, at server: LoopbackTLSServer,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    try await server.waitForDisconnection()
    expectRefusal(attempt, code, sourceLocation: sourceLocation)
    #expect(server.statistics.plaintextBytesReceived == 0, sourceLocation: sourceLocation)
}

func expectRefusal(
    _ attempt: ClientAttempt, _ code: TrustFailure.Code, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(attempt.failure?.code == code, "\(attempt.decision)", sourceLocation: sourceLocation)
    #expect(attempt.failures.map(\.code) == [code], "\(attempt.errors)", sourceLocation: sourceLocation)
    #expect(attempt.errors.count == 1, "\(attempt.errors)", sourceLocation: sourceLocation)
    #expect((attempt.writeError as? TrustFailure)?.code == code, sourceLocation: sourceLocation)
    #expect(attempt.received.isEmpty, sourceLocation: sourceLocation)
    #expect(!attempt.sawHandshake, sourceLocation: sourceLocation)
}

func expectTrust(
    _ attempt: ClientAttempt, answer: String = ClientAttempt.greeting,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(attempt.isTrusted, "\(attempt.decision)", sourceLocation: sourceLocation)
    #expect(attempt.writeError == nil, sourceLocation: sourceLocation)
    #expect(attempt.received == answer, sourceLocation: sourceLocation)
    #expect(attempt.sawHandshake, sourceLocation: sourceLocation)
}

extension LoopbackTLSServer.Options {
    /// One version of TLS alone.
    static func only(_ version: TLSVersion) -> Self { .init(oldestTLSVersion: version, newestTLSVersion: version) }
}
