import Foundation
import Holdfast
import HoldfastTesting
import NIOCore
import NIOSSL

@testable import HoldfastNIO

/// A server with a certificate of one authority, and an authority for its clients.
struct MutualSetting {
    let servers: ClientSetting
    let leaf: TestCertificate
    let root: TestAuthority
    let issuing: TestAuthority

    init(clock: any WallClock = SystemWallClock()) throws {
        servers = try ClientSetting()
        leaf = try servers.issuing.leaf(names: ["localhost"])
        root = try TestAuthority.root(name: "Client Root", clock: clock)
        issuing = try root.intermediate(name: "Client Issuing CA")
    }

    /// The certificate of a client.
    func device(
        _ name: String = "device", key: TestKey.Choice = .p256,
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws -> TestCertificate {
        try issuing.leaf(
            names: [.dns("\(name).example")], key: key, purposes: [.clientAuthentication], configure: configure)
    }

    func pinned(_ certificates: TestCertificate...) throws -> PinnedPolicy {
        try PinnedPolicy(clients: "devices", pins: PinSet(pins: certificates.map { try $0.publicKeyPin() }))
    }

    func configuration(_ version: TLSVersion? = nil) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfigurationWithMTLS(
            certificateChain: try leaf.chain.map { .certificate(try NIOSSLCertificate(bytes: $0, format: .der)) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: leaf.key.privateKeyDER, format: .der)),
            trustRoots: .default)
        configuration.minimumTLSVersion = version ?? .tlsv12
        configuration.maximumTLSVersion = version
        return configuration
    }

    func validator() throws -> PathValidator {
        PathValidator(anchors: try TrustAnchors(der: [root.root]))
    }

    func server(
        _ policy: any TrustPolicy, _ version: TLSVersion? = nil, clock: any WallClock = SystemWallClock(),
        mostChains: Int = ClientSessions.mostChains
    ) throws -> PinnedTLSServer {
        try PinnedTLSServer(
            clients: policy, configuration: configuration(version), validator: validator(), oldestTLSVersion: .tlsv12,
            handshakeTimeout: .seconds(60), clock: clock, mostChains: mostChains)
    }

    /// Our own client, with a certificate if it has one.
    func client(presenting certificate: TestCertificate?) throws -> PinnedTLSClient {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let certificate {
            configuration.certificateChain = try certificate.chain.map {
                .certificate(try NIOSSLCertificate(bytes: $0, format: .der))
            }
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(bytes: certificate.key.privateKeyDER, format: .der))
        }
        return try servers.client(for: "localhost", configuration: configuration)
    }
}

/// A policy that may be exchanged behind the server's back, as one is that fetches its pins.
final class ExchangeablePolicy: TrustPolicy {
    private struct Values {
        var base: any TrustPolicy
        var evaluations = 0
    }

    private let values: Lock<Values>

    init(_ base: any TrustPolicy) {
        values = Lock(Values(base: base))
    }

    let scope = PolicyScope.clients("exchangeable")
    var evaluations: Int { values.withLock { $0.evaluations } }

    func exchange(for base: any TrustPolicy) {
        values.withLock { $0.base = base }
    }

    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        let base = values.withLock { values in
            values.evaluations += 1
            return values.base
        }
        return base.evaluate(trust, at: time)
    }
}
