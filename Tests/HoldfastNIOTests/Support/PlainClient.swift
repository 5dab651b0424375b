import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A client on NIOSSL alone, without any of Holdfast's handlers.
struct PlainClient: Sendable {
    /// The result of a connection.
    struct Outcome: Sendable {
        let received: [UInt8]
        let version: TLSVersion?
    }

    let configuration: TLSConfiguration
    var serverName: String? = "www.example.com"

    init(trusting roots: [[UInt8]], version: TLSVersion? = nil, serverName: String? = "www.example.com") throws {
        configuration = try .testClient(
            trusting: roots, oldestTLSVersion: version ?? .tlsv12, newestTLSVersion: version)
        self.serverName = serverName
    }

    init(_ configuration: TLSConfiguration) {
        self.configuration = configuration
    }

    /// Sends bytes and returns what comes back, `count` bytes or all until the end; throws what goes wrong before.
    func exchange(_ bytes: [UInt8], expecting count: Int, with address: String, _ port: Int) async throws -> Outcome {
        let context = try NIOSSLContext(configuration: configuration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: [UInt8].self)
        let bootstrap = ClientBootstrap(group: loop).channelInitializer { [serverName] channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: serverName))
                try pipeline.addHandler(Collector(count: count, promise: promise))
            }
        }
        let channel: any Channel
        do {
            channel = try await bootstrap.connect(host: address, port: port).get()
        } catch {
            promise.fail(error)
            throw error
        }
        channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        do {
            let received = try await promise.futureResult.inTime()
            // Gone with its handler once the connection has ended.
            let version = try? await channel.nioSSL_tlsVersion().inTime()
            try? await channel.close().inTime()
            return Outcome(received: received, version: version)
        } catch {
            try? await channel.close().inTime()
            throw error
        }
    }
}

private final class Collector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let count: Int
    private let promise: EventLoopPromise<[UInt8]>
    private var received: [UInt8] = []

    init(count: Int, promise: EventLoopPromise<[UInt8]>) {
        self.count = count
        self.promise = promise
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += Array(unwrapInboundIn(data).readableBytesView)
        if received.count >= count { promise.succeed(received) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.succeed(received)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }
}
