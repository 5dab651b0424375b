import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import HoldfastNIO

@Suite("The gate behind TLS", .timeLimit(.minutes(15)))
struct TrustGateTests {
    private let setting: ClientSetting
    private let leaf: TestCertificate

    init() throws {
        setting = try ClientSetting()
        leaf = try setting.issuing.leaf(names: ["www.example.com"])
    }

    @Test("stays shut when a handshake is completed without a decision", arguments: [TLSVersion.tlsv12, .tlsv13])
    func noDecision(version: TLSVersion) async throws {
        var options = LoopbackTLSServer.Options.only(version)
        options.behavior = .greeting(Array("hello".utf8))
        try await withLoopbackTLSServer(serving: leaf, options: options) { server in
            let client = try setting.client(for: "www.example.com")
            // TLS that verifies as NIOSSL does, without asking the peer judge.
            let context = try NIOSSLContext(configuration: .testClient(trusting: [setting.root.root]))
            let attempt = try await ClientAttempt.make(client, at: server) { channel in
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: "www.example.com"))
                let promise = channel.eventLoop.makePromise(of: TrustDecision.self)
                try pipeline.addHandler(
                    TrustGateHandler(judge: PeerJudge(client.verification), promise: promise, timeout: nil))
                return promise.futureResult
            }
            try await server.waitForDisconnection()
            #expect((attempt.decision.error as? TLSAdapterError)?.code == .noDecision)
            #expect((attempt.writeError as? TLSAdapterError)?.code == .noDecision)
            #expect(attempt.errors.compactMap { ($0 as? TLSAdapterError)?.code } == [.noDecision])
            #expect(attempt.errors.count == 1)
            #expect(attempt.received.isEmpty)
            #expect(!attempt.sawHandshake)
            #expect(server.statistics.plaintextBytesReceived == 0)
        }
    }

    @Test("lets no bytes through that come without TLS")
    func bytesWithoutTLS() async throws {
        try await withLoopbackTLSServer(serving: leaf) { server in
            let client = try setting.client(for: "www.example.com")
            let attempt = try await ClientAttempt.make(client, at: server) { channel in
                let promise = channel.eventLoop.makePromise(of: TrustDecision.self)
                let gate = TrustGateHandler(judge: PeerJudge(client.verification), promise: promise, timeout: nil)
                try channel.pipeline.syncOperations.addHandler(Babbler())
                try channel.pipeline.syncOperations.addHandler(gate)
                return promise.futureResult
            }
            #expect((attempt.decision.error as? TLSAdapterError)?.code == .bytesBeforeDecision)
            #expect(attempt.received.isEmpty)
        }
    }

    @Test("closes after the time that a handshake may take")
    func timeout() async throws {
        try await withLoopbackTLSServer(serving: leaf, options: .init(behavior: .stalled)) { server in
            let client = try setting.client(for: "www.example.com", handshakeTimeout: .milliseconds(20))
            let attempt = try await ClientAttempt.make(client, at: server)
            #expect((attempt.decision.error as? TLSAdapterError)?.code == .handshakeTimedOut)
            #expect((attempt.writeError as? TLSAdapterError)?.code == .handshakeTimedOut)
            #expect(attempt.errors.count == 1)
        }
    }

    @Test("leaves errors alone that are not about trust, and fails the decision and the writes with them")
    func otherErrors() async throws {
        try await withLoopbackTLSServer(serving: leaf, options: .only(.tlsv12)) { server in
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv13
            let client = try setting.client(for: "www.example.com", configuration: configuration)
            let attempt = try await ClientAttempt.make(client, at: server)
            for error in [attempt.decision.error, attempt.writeError, attempt.errors.first] {
                guard case .handshakeFailed? = error as? NIOSSLError else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
            #expect(attempt.errors.count == 1)
        }
    }

    @Test("ends the wait when the connection was never made")
    func neverConnected() async throws {
        let client = try setting.client(for: "www.example.com")
        let future = Lock<EventLoopFuture<TrustDecision>?>(nil)
        await #expect(throws: (any Error).self) {
            _ = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let decision = try client.addHandlers(to: channel.pipeline.syncOperations)
                    future.withLock { $0 = decision }
                }
                // No server listens there; another test may have taken a port that was free a moment ago.
            }.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        }
        let result = await future.withLock { $0 }?.result
        #expect((result?.error as? TLSAdapterError)?.code == .closedBeforeDecision)
    }

    @Test("sends what was written before the handshake in its order, and closes the output after it")
    func order() async throws {
        try await withLoopbackTLSServer(serving: leaf) { server in
            let client = try setting.client(for: "www.example.com")
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .channelOption(.allowRemoteHalfClosure, value: true)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try client.addHandlers(to: channel.pipeline.syncOperations)
                        for text in ["one ", "two ", "three"] {
                            channel.write(ByteBuffer(string: text), promise: nil)
                        }
                        channel.flush()
                        channel.close(mode: .output, promise: nil)
                    }
                }.connect(to: try SocketAddress(ipAddress: server.address, port: server.port)).get()
            try await server.wait { $0.plaintextBytesReceived == "one two three".utf8.count }
            try await channel.closeFuture.inTime()
        }
    }

    @Test("can be added to a connection that is made already")
    func addedLate() async throws {
        try await withLoopbackTLSServer(serving: leaf) { server in
            let client = try setting.client(for: "www.example.com")
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(to: try SocketAddress(ipAddress: server.address, port: server.port)).get()
            try await client.configure(channel).inTime()
            #expect(try await channel.trustDecision().inTime().isTrusted)
            try await channel.writeAndFlush(ByteBuffer(string: "ping")).inTime()
            try await server.wait { $0.plaintextBytesReceived == 4 }
            try await channel.close().inTime()
        }
    }

    @Test("survives an observer that closes the connection while its peer is judged")
    func closedWhileDeciding() async throws {
        try await withLoopbackTLSServer(serving: leaf) { server in
            let box = Lock<(any Channel)?>(nil)
            let manager = TrustManager(policies: [try setting.policy(for: "www.example.com")])
            let staysOpen = Lock(false)
            manager.addObserver { _ in
                let channel = box.withLock { $0 }
                channel?.close(promise: nil)
                // NIOSSL must not be entered from within its callback: the close has to wait.
                staysOpen.withLock { $0 = channel?.isActive ?? false }
            }
            let client = try setting.client(for: "www.example.com", trust: .manager(manager))
            let attempt = try await ClientAttempt.make(client, at: server) { channel in
                box.withLock { $0 = channel }
                return nil
            }
            #expect(staysOpen.withLock { $0 })
            #expect(!attempt.isTrusted)
            #expect(attempt.received.isEmpty)
            try await server.waitForDisconnection()
            #expect(server.statistics.plaintextBytesReceived == 0)
        }
    }

    @Test("is asked for by a channel that has none: an error")
    func noGate() async throws {
        try await withLoopbackTLSServer(serving: leaf) { server in
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(to: try SocketAddress(ipAddress: server.address, port: server.port)).get()
            await #expect(throws: ChannelPipelineError.self) { try await channel.trustDecision().inTime() }
            try await channel.close().inTime()
        }
    }
}

/// Makes up bytes as soon as there is a connection.
private final class Babbler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        context.fireChannelRead(wrapInboundOut(ByteBuffer(string: "babble")))
    }
}
