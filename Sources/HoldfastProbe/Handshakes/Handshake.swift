import Foundation
import Holdfast
import HoldfastNIO
import NIOCore
import NIOPosix
import NIOSSL

/// Makes one connection to one address and performs a handshake on it, with a real policy.
struct Handshake: Sendable {
    /// The destination of the connection.
    enum Target: Sendable {
        case address(PeerAddress)
        /// A proxy, and the destination that it connects to.
        case proxy(ProxyServer, destination: String)
    }

    let host: DialedHost
    let policy: any TrustPolicy
    let validator: any ChainValidator
    let clock: any WallClock
    let configuration: TLSConfiguration
    let filter: AddressFilter?
    let deadlines: ProbeDeadlines
    let group: any EventLoopGroup

    /// The chain that a connection presented, or why it presented none; and the proxy's address, if a proxy is used.
    func run(to target: Target) async -> (result: Result<ShownChain, ProbeFailure>, proxy: PeerAddress?) {
        let sight = Lock(AddressGuard.Sight())
        let result = await run(to: target, noting: sight)
        let (address, refusal) = sight.withLock { ($0.address, $0.failure) }
        // A connection that was closed because of its address has other failures as well. Report the address.
        let proxy = if case .proxy = target { address } else { PeerAddress?.none }
        return (refusal.map { .failure($0) } ?? result, proxy)
    }

    private func run(
        to target: Target, noting sight: Lock<AddressGuard.Sight>
    ) async -> Result<ShownChain, ProbeFailure> {
        let version = Lock<String?>(nil)
        let asksForCertificate = Lock(false)
        let channel: any Channel
        let decision: EventLoopFuture<TrustDecision>
        do {
            let client = try PinnedTLSClient(
                trust: .policy(policy), host: host, configuration: configuration, validator: validator,
                handshakeTimeout: deadlines.handshake, clock: clock
            ) { asksForCertificate.withLock { $0 = true } }
            let (dialogue, limit) = (target.dialogue, TimeAmount(deadlines.handshake))
            // A proxy's destination is filtered before the request to the proxy.
            let (filter, place) = (isDirect(target) ? filter : nil, target.place)
            let initializer: @Sendable (any Channel) -> EventLoopFuture<(any Channel, EventLoopFuture<TrustDecision>)> =
                { channel in
                    channel.eventLoop.submit {
                        try channel.pipeline.syncOperations.addHandler(AddressGuard(filter, at: place, noting: sight))
                        return (
                            channel,
                            try Self.addHandlers(
                                of: client, to: channel, after: dialogue, noting: version, within: limit)
                        )
                    }
                }
            let bootstrap = ClientBootstrap(group: group)
                .connectTimeout(TimeAmount(deadlines.connecting))
            switch target {
            case .address(let peer):
                let address = try SocketAddress(ipAddress: peer.address.description, port: peer.port)
                (channel, decision) = try await bootstrap.connect(to: address, channelInitializer: initializer)
            case .proxy(let proxy, _):
                (channel, decision) = try await bootstrap.connect(
                    host: proxy.host.name, port: proxy.host.port ?? ProxyServer.defaultPort,
                    channelInitializer: initializer)
            }
        } catch {
            return .failure(ConnectionFailures(target, deadlines).failure(ofConnecting: error))
        }
        defer { channel.close(promise: nil) }
        do {
            let answer = try await decision.get()
            // TLS itself refused the key's use. This is a finding about the server's keys, not about its chain.
            if let failure = answer.failure, failure.code == .keyUsageForbidsTLS, failure.certificate == nil {
                throw failure
            }
            return .success(
                ShownChain(
                    decision: answer, tlsVersion: version.withLock { $0 },
                    asksForClientCertificate: answer.isTrusted ? asksForCertificate.withLock { $0 } : nil))
        } catch {
            return .failure(ConnectionFailures(target, deadlines).failure(ofHandshake: error))
        }
    }

    private func isDirect(_ target: Target) -> Bool {
        if case .address = target { true } else { false }
    }

    /// Must be called on the channel's event loop.
    private static func addHandlers(
        of client: PinnedTLSClient, to channel: any Channel, after dialogue: ProxyDialogue?,
        noting version: Lock<String?>, within timeout: TimeAmount
    ) throws -> EventLoopFuture<TrustDecision> {
        let pipeline = channel.pipeline.syncOperations
        guard let dialogue else {
            try pipeline.addHandler(TLSVersionWatch(version))
            return try client.addHandlers(to: pipeline)
        }
        let goAhead = channel.eventLoop.makePromise(of: Void.self)
        do {
            try pipeline.addHandler(DialogueHandler(dialogue, timeout: timeout, promise: goAhead))
        } catch {
            goAhead.fail(error)
            throw error
        }
        // This runs in the same turn of the event loop, so no byte can arrive in between.
        return goAhead.futureResult.flatMapThrowing {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(TLSVersionWatch(version))
            return try client.addHandlers(to: pipeline)
        }
        .flatMap { $0 }
    }
}

extension Handshake.Target {
    /// The dialogue in plaintext before TLS begins; nil if TLS begins at once.
    fileprivate var dialogue: ProxyDialogue? {
        guard case .proxy(let proxy, let destination) = self else { return nil }
        return ProxyDialogue(target: destination, authorization: proxy.authorization)
    }

    /// The destination of TLS, for messages.
    var destination: String {
        switch self {
        case .address(let peer): peer.description
        case .proxy(_, let destination): destination
        }
    }

    /// The destination of the connection, for messages.
    var place: String {
        switch self {
        case .address(let peer): peer.description
        case .proxy(let proxy, _): "the proxy \(proxy.host)"
        }
    }
}
