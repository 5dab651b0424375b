import Holdfast
import HoldfastNIO
import HoldfastProbe
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServerFoundation

/// Sends one request over HTTPS, and reads only the status of the response.
///
/// The settings must not give access to addresses that only this machine reaches. So names are resolved once, only
/// allowed addresses are connected to, and the connected socket is checked again before TLS starts. Redirects are not
/// followed.
struct WebhookClient: Sendable {
    /// The reason why there is no response.
    struct Failure: Error, Hashable {
        /// The text for the log: no path, no header, and no text from the receiver.
        let words: String
    }

    /// Validates the receiver's chain.
    let validator: any ChainValidator
    /// The addresses that may be contacted.
    let filter: AddressFilter
    let clock: any WallClock
    var resolver = AddressResolver.system
    /// Maximum time for the whole request.
    var limit: Duration = .seconds(10)

    /// Maximum number of addresses to try per name.
    private static let maximumAddresses = 4

    /// Sends a request.
    /// - Returns: the status of the response.
    func post(
        _ body: [UInt8], _ headers: [(String, String)], to address: WebhookAddress
    ) async -> Result<Int, Failure> {
        let result = await Deadline.value(within: limit) {
            do throws(Failure) {
                return Result<Int, Failure>.success(try await send(body, headers, to: address))
            } catch {
                return .failure(error)
            }
        }
        return result ?? .failure(Failure(words: "\(address.host) gave no answer within \(limit)"))
    }

    private func send(
        _ body: [UInt8], _ headers: [(String, String)], to address: WebhookAddress
    ) async throws(Failure) -> Int {
        var failure = Failure(words: "\(address.host) has no address")
        for place in try await places(of: address.host).prefix(Self.maximumAddresses) {
            if let refusal = filter.refusal(of: place) {
                failure = Failure(words: "\(place) may not be asked: \(refusal); list it with --allow")
                continue
            }
            let answer: (channel: any Channel, status: EventLoopFuture<Int>)
            do {
                answer = try await connect(to: place, address.host)
            } catch let error as Failure {
                failure = error
                continue
            } catch {
                failure = Failure(words: "\(place) could not be connected to")
                continue
            }
            return try await finish(answer.channel, answer.status, body, headers, address)
        }
        throw failure
    }

    private func places(of host: DialedHost) async throws(Failure) -> [IPAddress] {
        if let address = IPAddress(host) { return [address] }
        do throws(ProbeFailure) {
            return try await resolver.addresses(host.name)
        } catch {
            throw Failure(words: "no address of \(host.name) was found")
        }
    }

    /// Connects, and returns once the receiver is trusted.
    private func connect(
        to place: IPAddress, _ host: DialedHost
    ) async throws -> (channel: any Channel, status: EventLoopFuture<Int>) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = ["http/1.1"]
        let client = try PinnedTLSClient(
            trust: .policy(StandardPolicy(host: HostPattern(host))), host: host, configuration: configuration,
            validator: validator, handshakeTimeout: limit, clock: clock)
        let (channel, decision, status) = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(TimeAmount(limit))
            .connect(to: SocketAddress(ipAddress: place.description, port: host.port ?? 443)) { channel in
                channel.eventLoop.submit {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(SocketGuard(filter))
                    let decision = try client.addHandlers(to: pipeline)
                    try pipeline.addHTTPClientHandlers(leftOverBytesStrategy: .dropBytes)
                    let status = channel.eventLoop.makePromise(of: Int.self)
                    try pipeline.addHandler(StatusReader(status))
                    return (channel, decision, status.futureResult)
                }
            }
        do {
            guard try await decision.get().isTrusted else {
                channel.close(promise: nil)
                throw Failure(words: "the certificate of \(host) is not trusted")
            }
        } catch let error as Failure {
            throw error
        } catch {
            channel.close(promise: nil)
            throw Failure(words: "\(host) at \(place) made no TLS connection")
        }
        return (channel, status)
    }

    private func finish(
        _ channel: any Channel, _ status: EventLoopFuture<Int>, _ body: [UInt8], _ headers: [(String, String)],
        _ address: WebhookAddress
    ) async throws(Failure) -> Int {
        let head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: address.target, headers: HTTPHeaders(headers))
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: body))), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        // A receiver that does not respond must not keep the connection open.
        let closing = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) { channel.close(promise: nil) }
        defer {
            closing.cancel()
            channel.close(promise: nil)
        }
        do {
            return try await status.get()
        } catch {
            throw Failure(words: "\(address.host) ended the connection without an answer")
        }
    }
}

/// The first handler, which closes a connection to a forbidden address before any byte is sent.
private final class SocketGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let filter: AddressFilter

    init(_ filter: AddressFilter) { self.filter = filter }

    func channelActive(context: ChannelHandlerContext) {
        guard let text = context.channel.remoteAddress?.ipAddress, let address = try? IPAddress(text),
            filter.refusal(of: address) == nil
        else { return context.close(promise: nil) }
        context.fireChannelActive()
    }
}

/// Reads the status of the response, and nothing after it.
final class StatusReader: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private var status: EventLoopPromise<Int>?

    init(_ status: EventLoopPromise<Int>) { self.status = status }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data) else { return }
        status?.succeed(Int(head.status.code))
        status = nil
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        status?.fail(ChannelError.eof)
        status = nil
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        status?.fail(ChannelError.eof)
        status = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        status?.fail(error)
        status = nil
        context.close(promise: nil)
    }
}
