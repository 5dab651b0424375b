import AsyncHTTPClient
import Holdfast
import HoldfastNIO
import NIOCore
import NIOSSL

/// The common properties of the connections of a pool: their origin, and a request's own settings.
struct OriginKey: Hashable, Sendable {
    /// TLS settings of a request, compared as AsyncHTTPClient compares them.
    struct Settings: Hashable, Sendable {
        let configuration: TLSConfiguration

        static func == (left: Self, right: Self) -> Bool { left.configuration.bestEffortEquals(right.configuration) }

        func hash(into hasher: inout Hasher) {
            // NIOSSL ends the process when it hashes an Ed25519 key. The certificate already identifies the key.
            var withoutKey = configuration
            withoutKey.privateKey = nil
            withoutKey.bestEffortHash(into: &hasher)
        }
    }

    let origin: HTTPOrigin
    let tls: Settings?
    let localAddress: String?
}

/// One `HTTPClient` for one origin, with the gate of its connections.
final class OriginClient: Sendable {
    let key: OriginKey
    let gate: ConnectionGate
    let http: HTTPClient
    let lane: ConnectionLane
    /// The maximum time until a connection exists.
    let connectTimeout: TimeAmount

    /// The maximum time until an unwanted connection ends; one that is still open then is silent.
    var endTimeout: TimeAmount { min(connectTimeout, Self.longestEnd) }

    static let longestEnd = TimeAmount.seconds(10)

    init(
        key: OriginKey, gate: ConnectionGate, http: HTTPClient, lane: ConnectionLane, connectTimeout: TimeAmount
    ) {
        self.key = key
        self.gate = gate
        self.http = http
        self.lane = lane
        self.connectTimeout = connectTimeout
    }
}

/// Makes the clients of origins from the application's configuration.
final class OriginClientMaker: Sendable {
    private let configuration: Lock<HTTPClient.Configuration>
    let evaluator: TrustEvaluator
    let evidence: EvidenceStore
    private let oldestTLSVersion: TLSVersion
    private let tries: Int
    private let outsideKey: (any NIOSSLCustomPrivateKey)?

    /// - Parameter outsideKey: the key of client certificates without a configured key.
    init(
        configuration: sending HTTPClient.Configuration, evaluator: TrustEvaluator, evidence: EvidenceStore,
        oldestTLSVersion: TLSVersion, tries: Int, outsideKey: (any NIOSSLCustomPrivateKey)? = nil
    ) {
        self.configuration = Lock(configuration)
        self.evaluator = evaluator
        self.evidence = evidence
        self.oldestTLSVersion = oldestTLSVersion
        self.tries = tries
        self.outsideKey = outsideKey
    }

    /// - Throws: ``PinnedHTTPClientError``.
    func make(
        _ key: OriginKey, on lane: ConnectionLane, answered: @escaping @Sendable () -> Void,
        expired: @escaping @Sendable (ConnectionGate) -> Void
    ) throws(PinnedHTTPClientError) -> OriginClient {
        var inner = configuration.withLock { $0 }
        let override = Self.override(of: key.origin, in: inner)
        inner.dnsOverride = override.map { [key.origin.hostInURL: $0] } ?? [:]
        inner.redirectConfiguration = .disallow
        inner.connectionPool.retryConnectionEstablishment = false
        if let localAddress = key.localAddress { inner.localAddress = localAddress }
        // AsyncHTTPClient's default.
        let connectTimeout = inner.timeout.connect ?? .seconds(10)
        let given = key.tls?.configuration ?? inner.tlsConfiguration ?? .makeClientConfiguration()
        var collector: EvidenceCollector?
        let (derived, clientKey) = try self.tls(from: given)
        var tls = derived
        // A silent server does not answer a TLS close_notify either.
        tls.shutdownTimeout = min(tls.shutdownTimeout, connectTimeout)
        do throws(TLSAdapterConfigurationError) {
            if key.origin.scheme == .https {
                var own = given
                own.cipherSuites = tls.cipherSuites
                // The protocols that AsyncHTTPClient derives from its httpVersion.
                own.applicationProtocols = inner.httpVersion == .http1Only ? ["http/1.1"] : ["h2", "http/1.1"]
                let route = EvidenceCollector.Route(
                    target: override ?? key.origin.host.name, port: key.origin.port, proxy: inner.proxy,
                    localAddress: inner.localAddress)
                collector = try EvidenceCollector(
                    host: key.origin.host, configuration: own, oldestTLSVersion: oldestTLSVersion, route: route,
                    timeout: connectTimeout, tries: tries)
            }
        } catch {
            throw PinnedHTTPClientError(error)
        }
        let gate = ConnectionGate(
            origin: key.origin, evaluator: evaluator, evidence: evidence, collector: collector,
            patience: connectTimeout, answered: answered, expired: expired)
        if let clientKey {
            let withheld = WithheldClientKey(clientKey, gate: gate)
            tls.privateKey = .privateKey(NIOSSLPrivateKey(customPrivateKey: withheld))
        }
        inner.tlsConfiguration = tls
        let (http1, http2) = (inner.http1_1ConnectionDebugInitializer, inner.http2ConnectionDebugInitializer)
        let stream = inner.http2StreamChannelDebugInitializer
        inner.http1_1ConnectionDebugInitializer = { channel in
            lane.note(channel)
            return gate.admit(channel, .http1, next: http1)
        }
        inner.http2ConnectionDebugInitializer = { channel in
            lane.note(channel)
            return gate.admit(channel, .http2, next: http2)
        }
        inner.http2StreamChannelDebugInitializer = { gate.admit(stream: $0, next: stream) }
        return OriginClient(
            key: key, gate: gate, http: HTTPClient(eventLoopGroup: lane.group, configuration: inner), lane: lane,
            connectTimeout: connectTimeout)
    }

    /// Refuses TLS settings that would weaken the policy before anything is connected.
    func check(_ tls: TLSConfiguration) throws(PinnedHTTPClientError) {
        do throws(TLSAdapterConfigurationError) {
            _ = try ClientTLSConfiguration.derived(from: tls, oldestTLSVersion: oldestTLSVersion)
        } catch {
            throw PinnedHTTPClientError(error)
        }
    }

    /// The same, with the client's certificate and key, which takes longer.
    func checkWithKey(_ tls: TLSConfiguration) throws(PinnedHTTPClientError) { _ = try self.tls(from: tls) }

    /// The TLS settings of connections, which verify nothing: the gate does. The client's key is separate.
    private func tls(from given: TLSConfiguration) throws(PinnedHTTPClientError) -> (TLSConfiguration, ClientKey?) {
        var derived: TLSConfiguration
        do throws(TLSAdapterConfigurationError) {
            derived = try ClientTLSConfiguration.derived(from: given, oldestTLSVersion: oldestTLSVersion)
            derived.certificateVerification = .none
            guard !derived.certificateChain.isEmpty, derived.privateKey != nil || outsideKey != nil else {
                return (derived, nil)
            }
            derived = try ClientTLSConfiguration.readingClientKey(of: derived)
        } catch {
            throw PinnedHTTPClientError(error)
        }
        let key = try clientKey(in: derived)
        derived.privateKey = nil
        derived.cipherSuiteValues = try suitesThatProveKeys(of: derived)
        return (derived, key)
    }

    private func clientKey(in tls: TLSConfiguration) throws(PinnedHTTPClientError) -> ClientKey {
        switch tls.privateKey {
        case nil:
            if let outsideKey { return .outside(outsideKey) }
        case .privateKey(let key):
            if case .certificate(let certificate)? = tls.certificateChain.first,
                let key = ClientKey(key, of: certificate)
            {
                return key
            }
        default: break
        }
        throw PinnedHTTPClientError(
            .tlsConfigurationRefused,
            expected: "a private key of RSA, ECDSA (P-256, P-384, P-521) or Ed25519, in memory or in a file",
            found: "another kind of key, or a custom one",
            remedy: """
                Leave privateKey out of the TLS configuration, keep the certificateChain, and give the key \
                (NIOSSLCustomPrivateKey) to the PinnedHTTPClient as clientKey.
                """)
    }

    /// Only cipher suites with an ephemeral key: with static RSA (RFC 5246 7.4.7.1) a client sends its certificate
    /// before the server has proved its key.
    private func suitesThatProveKeys(of tls: TLSConfiguration) throws(PinnedHTTPClientError) -> [NIOTLSCipher] {
        let suites = tls.cipherSuiteValues.filter(Self.ephemeralSuites.contains)
        guard suites.isEmpty else { return suites }
        throw PinnedHTTPClientError(
            .tlsConfigurationRefused,
            expected: "cipher suites with an ephemeral key, because there is a client certificate",
            found: "none", remedy: "Leave cipherSuites as they are.")
    }

    private static let ephemeralSuites: Set<NIOTLSCipher> = [
        .TLS_AES_128_GCM_SHA256, .TLS_AES_256_GCM_SHA384, .TLS_CHACHA20_POLY1305_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, .TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
        .TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, .TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    private static func override(of origin: HTTPOrigin, in configuration: HTTPClient.Configuration) -> String? {
        guard !configuration.dnsOverride.isEmpty else { return nil }
        if let exact = configuration.dnsOverride[origin.hostInURL] { return exact }
        return configuration.dnsOverride.first { name, _ in
            (try? DialedHost(name))?.hasSameName(as: origin.host) ?? false
        }?.value
    }
}

extension PinnedHTTPClientError {
    init(_ error: TLSAdapterConfigurationError) {
        self.init(
            .tlsConfigurationRefused, expected: error.expected, found: "\(error.found) (\(error.code.rawValue))",
            remedy: error.remedy)
    }
}
