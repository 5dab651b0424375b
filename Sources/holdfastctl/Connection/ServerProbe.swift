import Foundation
import Holdfast
import HoldfastNIO
import NIOCore
import NIOPosix
import NIOSSL

/// Makes handshakes with servers, each with a real policy. The decision contains whatever the server presented.
struct ServerProbe: Sendable {
    struct Answer {
        var decision: TrustDecision
        /// The address that answered, with its port; nil behind a proxy.
        let address: String?
        /// The address of the proxy, with its port.
        let proxy: String?
        /// The version for people, for example `TLS 1.3`; nil if the handshake ended before it was known.
        let version: String?
        /// Whether a trusted server asked for the client's certificate; nil for an untrusted one, because the client
        /// ends that handshake before it would present one.
        let asksForClientCertificate: Bool?

        /// The server's own certificate, as it was presented.
        var leaf: X509Certificate? { decision.chain?.leaf.flatMap { try? X509Certificate(der: $0) } }
    }

    /// The address to connect to instead of the host.
    private(set) var connectTo: DialedHost?
    let validator: PathValidator
    let timeout: TimeAmount
    /// The proxies that pass connections on.
    private var proxies = ProxySettings(always: nil)
    private(set) var startTLS: StartTLSProtocol?
    private var configuration: TLSConfiguration

    /// Makes a probe that trusts these anchors and presents no certificate.
    init(anchors: TrustAnchors, timeout: TimeAmount) {
        self.init(validator: PathValidator(anchors: anchors), timeout: timeout)
    }

    private init(validator: PathValidator, timeout: TimeAmount) {
        self.validator = validator
        self.timeout = timeout
        configuration = .makeClientConfiguration()
        connectTo = nil
        startTLS = nil
    }

    /// Reads the files that the options name.
    /// - Parameter validator: the validator; nil for one that uses only the anchors of the options.
    init(options: ConnectionOptions, validator: PathValidator? = nil) async throws(CommandFailure) {
        let limit = TimeAmount.seconds(Int64(options.timeout))
        if let validator {
            self.init(validator: validator, timeout: limit)
        } else {
            self.init(anchors: try await options.anchors(), timeout: limit)
        }
        connectTo = options.connectTo
        proxies = try options.proxiesOfHosts()
        startTLS = options.startTLS
        try options.clientIdentity()?.apply(to: &configuration)
    }

    /// A copy of this probe for one address.
    /// - Parameters:
    ///   - address: the address; nil to keep the current one.
    ///   - algorithms: the signature algorithms with which the server may prove its key; nil for all known ones.
    func connecting(to address: DialedHost?, offering algorithms: [SignatureAlgorithm]?) -> ServerProbe {
        var probe = self
        if let address { probe.connectTo = address }
        probe.configuration.verifySignatureAlgorithms = algorithms
        return probe
    }

    /// The proxy for a connection to a host; nil for none.
    func proxy(for host: DialedHost) -> ProxyServer? { proxies.proxy(for: connectTo ?? host) }

    /// Evaluates a host for each kind of key that its server has. A server may have one certificate with an ECDSA key
    /// and one with an RSA key, and different clients see different ones.
    /// - Returns: one answer, or two from the same address.
    func askForEachKey(
        _ policy: any TrustPolicy, about host: DialedHost
    ) async throws(CommandFailure) -> [Answer] {
        let first = try await ask(policy, about: host)
        guard let leaf = first.leaf else { return [first] }
        // The name may have several addresses, but both answers must come from one server.
        let place = first.address.flatMap { try? ServerAddress.host($0) }
        let other = connecting(to: place, offering: ServerPlaces.algorithmsOfOtherKind(than: leaf))
        do throws(CommandFailure) {
            let second = try await other.ask(policy, about: host)
            // A TLS 1.2 server may present its only certificate although the client cannot use it.
            return second.leaf.map { $0.der == leaf.der } ?? true ? [first] : [first, second]
        } catch  where error.code == .handshakeFailed {
            // A server without such a key refuses the handshake, as it should.
            return [first]
        }
    }

    /// Evaluates a host, on port 443 if it has none. It throws if something keeps it from deciding whether the host is
    /// trusted.
    func ask(_ policy: any TrustPolicy, about host: DialedHost) async throws(CommandFailure) -> Answer {
        let port = connectTo?.port ?? host.port ?? ServerAddress.defaultPort
        let server = ServerAddress.text((connectTo ?? host).name, port: port)
        let proxy = proxy(for: host)
        let peer = proxy?.host ?? connectTo ?? host
        let peerPort = proxy?.host.port ?? port
        let dialogues = dialogues(target: server, proxy)
        let version = Lock<String?>(nil)
        let asksForCertificate = Lock(false)
        let channel: any Channel
        let decision: EventLoopFuture<TrustDecision>
        do {
            let client = try PinnedTLSClient(
                trust: .policy(policy), host: host, configuration: configuration, validator: validator,
                handshakeTimeout: .nanoseconds(timeout.nanoseconds)
            ) { asksForCertificate.withLock { $0 = true } }
            (channel, decision) = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(timeout)
                .connect(host: peer.name, port: peerPort) { channel in
                    channel.eventLoop.submit {
                        (
                            channel,
                            try Self.addHandlers(
                                of: client, to: channel, after: dialogues, noting: version, within: timeout)
                        )
                    }
                }
        } catch {
            let place = proxy == nil ? server : "the proxy \(ServerAddress.text(peer.name, port: peerPort))"
            throw Self.failure(ofConnecting: error, to: place, name: peer.name, within: timeout)
        }
        let address = channel.remoteAddress.flatMap(Self.text)
        do {
            let answer = try await decision.get()
            channel.close(promise: nil)
            return Answer(
                decision: answer, address: proxy == nil ? address : nil, proxy: proxy == nil ? nil : address,
                version: version.withLock { $0 },
                asksForClientCertificate: answer.isTrusted ? asksForCertificate.withLock { $0 } : nil)
        } catch {
            channel.close(promise: nil)
            throw Self.failure(ofHandshake: error, with: server)
        }
    }

    /// The dialogues in plaintext before TLS begins.
    private func dialogues(target: String, _ proxy: ProxyServer?) -> [any ConnectionDialogue] {
        (proxy.map { [ProxyDialogue(target: target, authorization: $0.authorization)] } ?? [])
            + (startTLS.map { [$0.dialogue] } ?? [])
    }

    /// Call it on the channel's event loop.
    private static func addHandlers(
        of client: PinnedTLSClient, to channel: any Channel, after dialogues: [any ConnectionDialogue],
        noting version: Lock<String?>, within timeout: TimeAmount
    ) throws -> EventLoopFuture<TrustDecision> {
        let pipeline = channel.pipeline.syncOperations
        guard !dialogues.isEmpty else {
            try pipeline.addHandler(TLSVersionWatch(version))
            return try client.addHandlers(to: pipeline)
        }
        let goAhead = channel.eventLoop.makePromise(of: Void.self)
        do {
            try pipeline.addHandler(DialogueHandler(DialogueSequence(dialogues), timeout: timeout, promise: goAhead))
        } catch {
            goAhead.fail(error)
            throw error
        }
        // This happens in the same turn of the event loop, so that no byte can arrive in between.
        return goAhead.futureResult.flatMapThrowing {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(TLSVersionWatch(version))
            return try client.addHandlers(to: pipeline)
        }
        .flatMap { $0 }
    }

    private static func text(_ address: SocketAddress) -> String? {
        guard let ip = address.ipAddress, let port = address.port else { return nil }
        return ServerAddress.text(ip, port: port)
    }

    private static func failure(
        ofConnecting error: any Error, to server: String, name: String, within timeout: TimeAmount
    ) -> CommandFailure {
        let seconds = timeout.nanoseconds / 1_000_000_000
        switch error {
        case ChannelError.connectTimeout:
            return CommandFailure(.timedOut, "\(server) did not answer within \(seconds) s")
        case let error as NIOConnectionError where error.connectionErrors.isEmpty:
            return CommandFailure(.resolveFailed, "no address was found for \(name)")
        case let error as NIOConnectionError:
            let reasons = error.connectionErrors.map { Self.reason($0.error, within: seconds) }
            return CommandFailure(
                .connectFailed, "cannot connect to \(server): \(reasons.joined(separator: "; "))",
                isUnroutable: error.connectionErrors.allSatisfy { Self.isUnroutable($0.error) })
        default:
            return CommandFailure(.connectFailed, "cannot connect to \(server): \(error)")
        }
    }

    /// Whether this machine has no route to the address, for example because it has no IPv6.
    private static func isUnroutable(_ error: any Error) -> Bool {
        [ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT].contains((error as? IOError)?.errnoCode)
    }

    private static func reason(_ error: any Error, within seconds: Int64) -> String {
        if case ChannelError.connectTimeout = error { return "no answer within \(seconds) s" }
        return switch (error as? IOError)?.errnoCode {
        case ECONNREFUSED: "connection refused"
        case ECONNRESET: "connection reset"
        case EHOSTUNREACH: "no route to the host"
        case ENETUNREACH: "no route to the network"
        case ETIMEDOUT: "no answer"
        default: "\(error)"
        }
    }

    private static func failure(ofHandshake error: any Error, with server: String) -> CommandFailure {
        if let error = error as? DialogueFailure {
            let code: CommandFailure.Code =
                switch error.kind {
                case .refused: .refusedBeforeTLS
                case .timedOut: .timedOut
                case .malformed, .tooLong, .extraBytes, .ended: .failedBeforeTLS
                }
            return CommandFailure(code, "no TLS with \(server): \(error.message)")
        }
        if let error = error as? TLSAdapterError {
            let code: CommandFailure.Code = error.code == .handshakeTimedOut ? .timedOut : .handshakeFailed
            return CommandFailure(code, "no TLS handshake with \(server): \(error)")
        }
        // In BoringSSL's messages, only the names mean something to people.
        let names = BoringSSLReason.names(in: error)
        let reason = names.isEmpty ? "\(error)" : names.joined(separator: "; ")
        return CommandFailure(
            .handshakeFailed,
            "no TLS handshake with \(server): \(reason). Check that a TLS server of version 1.2 or 1.3 answers there (with --starttls if it "
                + "begins in plaintext), "
                + "and that it accepts the client's certificate (--client-cert) or asks for none.")
    }
}
