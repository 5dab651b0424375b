import AsyncHTTPClient
import Holdfast
import HoldfastNIO
import NIOCore
import NIOSSL

/// What the connections of a pool have in common: their origin, and the settings that a request may have of its own.
struct OriginKey: Hashable, Sendable {
    /// TLS settings of a request, compared as AsyncHTTPClient compares them.
    struct Settings: Hashable, Sendable {
        let configuration: TLSConfiguration

        static func == (left: Self, right: Self) -> Bool { left.configuration.bestEffortEquals(right.configuration) }

        func hash(into hasher: inout Hasher) { configuration.bestEffortHash(into: &hasher) }
    }

    let origin: HTTPOrigin
    let tls: Settings?
    let localAddress: String?
}

/// One `HTTPClient` for one origin, with the gate that its connections pass.
final class OriginClient: Sendable {
    let key: OriginKey
    let verification: ConnectionVerification
    let anchors: TrustAnchors
    let gate: ConnectionGate
    let http: HTTPClient
    let lane: ConnectionLane
    /// How long it may take until there is a connection.
    let connectTimeout: TimeAmount

    /// How long an unwanted connection may take to end; one that is still open then is silent.
    var endTimeout: TimeAmount { min(connectTimeout, Self.longestEnd) }

    static let longestEnd = TimeAmount.seconds(10)

    init(
        key: OriginKey, verification: ConnectionVerification, anchors: TrustAnchors, gate: ConnectionGate,
        http: HTTPClient, lane: ConnectionLane, connectTimeout: TimeAmount
    ) {
        self.key = key
        self.verification = verification
        self.anchors = anchors
        self.gate = gate
        self.http = http
        self.lane = lane
        self.connectTimeout = connectTimeout
    }
}

/// Makes the clients of origins from what the application configured.
final class OriginClientMaker: Sendable {
    private let configuration: Lock<HTTPClient.Configuration>
    let evaluator: TrustEvaluator
    let evidence: EvidenceStore
    private let oldestTLSVersion: TLSVersion
    private let tries: Int
    private let roots = Lock<(anchors: TrustAnchors, certificates: [NIOSSLCertificate])?>(nil)

    init(
        configuration: sending HTTPClient.Configuration, evaluator: TrustEvaluator, evidence: EvidenceStore,
        oldestTLSVersion: TLSVersion, tries: Int
    ) {
        self.configuration = Lock(configuration)
        self.evaluator = evaluator
        self.evidence = evidence
        self.oldestTLSVersion = oldestTLSVersion
        self.tries = tries
    }

    /// What BoringSSL is to verify for a policy on the way to an origin.
    func verification(
        for policy: (any TrustPolicy)?, origin: HTTPOrigin, anchors: TrustAnchors
    ) -> ConnectionVerification {
        let goesElsewhere = configuration.withLock { $0.proxy != nil || Self.override(of: origin, in: $0) != nil }
        let isAddress = origin.host.serverNameIndication == nil
        return ConnectionVerification(for: policy)
            .possible(anchors: anchors, dialsAddressElsewhere: isAddress && goesElsewhere)
    }

    /// - Throws: ``PinnedHTTPClientError``.
    func make(
        _ key: OriginKey, verification: ConnectionVerification, anchors: TrustAnchors, on lane: ConnectionLane,
        answered: @escaping @Sendable () -> Void, expired: @escaping @Sendable (ConnectionGate) -> Void
    ) throws(PinnedHTTPClientError) -> OriginClient {
        var inner = configuration.withLock { $0 }
        let override = Self.override(of: key.origin, in: inner)
        inner.dnsOverride = override.map { [key.origin.hostInURL: $0] } ?? [:]
        inner.redirectConfiguration = .disallow
        inner.connectionPool.retryConnectionEstablishment = false
        if let localAddress = key.localAddress { inner.localAddress = localAddress }
        // Without a setting, AsyncHTTPClient's requests wait as long.
        let connectTimeout = inner.timeout.connect ?? .seconds(10)
        let given = key.tls?.configuration ?? inner.tlsConfiguration ?? .makeClientConfiguration()
        var collector: EvidenceCollector?
        do throws(TLSAdapterConfigurationError) {
            var derived = try ClientTLSConfiguration.derived(from: given, oldestTLSVersion: oldestTLSVersion)
            switch verification {
            case .none: derived.certificateVerification = .none
            case .chain: derived.certificateVerification = .noHostnameVerification
            case .chainAndHost: derived.certificateVerification = .fullVerification
            }
            derived.trustRoots = .certificates(verification == .none ? [] : certificates(of: anchors))
            // A silent server does not answer a TLS close_notify either.
            derived.shutdownTimeout = min(derived.shutdownTimeout, connectTimeout)
            inner.tlsConfiguration = derived
            if key.origin.scheme == .https {
                var own = given
                // What AsyncHTTPClient makes of its httpVersion.
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
            patience: connectTimeout,
            answered: answered, expired: expired)
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
            key: key, verification: verification, anchors: anchors, gate: gate,
            http: HTTPClient(eventLoopGroup: lane.group, configuration: inner), lane: lane,
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

    private static func override(of origin: HTTPOrigin, in configuration: HTTPClient.Configuration) -> String? {
        guard !configuration.dnsOverride.isEmpty else { return nil }
        if let exact = configuration.dnsOverride[origin.hostInURL] { return exact }
        return configuration.dnsOverride.first { name, _ in
            (try? DialedHost(name))?.hasSameName(as: origin.host) ?? false
        }?.value
    }

    /// The anchors for BoringSSL. It then refuses chains to an anchor that it cannot read, which is left out, and never
    /// accepts more.
    private func certificates(of anchors: TrustAnchors) -> [NIOSSLCertificate] {
        if let known = roots.withLock({ $0 }), known.anchors == anchors { return known.certificates }
        let made = anchors.certificates.compactMap { try? NIOSSLCertificate(bytes: $0.der, format: .der) }
        roots.withLock { $0 = (anchors, made) }
        return made
    }
}

extension PinnedHTTPClientError {
    init(_ error: TLSAdapterConfigurationError) {
        self.init(
            .tlsConfigurationRefused, expected: error.expected, found: "\(error.found) (\(error.code.rawValue))",
            remedy: error.remedy)
    }
}
