import NIOCore
import NIOHTTP1
import NIOPosix

/// One HTTP/1.1 request on a separate connection, with its complete response.
package struct HTTPExchange: Sendable {
    /// A response.
    package struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: [UInt8]

        /// The only value of a header; nil for none or several.
        func header(_ name: String) -> String? {
            let values = headers[name]
            return values.count == 1 ? values[0] : nil
        }
    }

    /// The response exceeds the maximum size.
    struct TooLarge: Error {}

    private let head: HTTPRequestHead
    private let maximumBody: Int
    private let limit: TimeAmount

    /// - Parameters:
    ///   - target: the path and the query.
    ///   - authority: the value of `Host`.
    ///   - headers: further headers.
    ///   - maximumBody: the maximum size of the response.
    ///   - limit: the time limit of connecting, and that of everything else.
    init(
        _ target: String, of authority: String, headers: [(name: String, value: String)] = [], maximumBody: Int,
        within limit: TimeAmount
    ) {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target)
        head.headers.add(name: "Host", value: authority)
        head.headers.add(name: "Connection", value: "close")
        for header in headers { head.headers.add(name: header.name, value: header.value) }
        (self.head, self.maximumBody, self.limit) = (head, maximumBody, limit)
    }

    /// Connects, sends the request, and collects the response.
    /// - Parameters:
    ///   - host: a name or an address.
    ///   - port: the port.
    ///   - group: the event loops.
    ///   - secure: adds the TLS handler, on the event loop of the connection.
    /// - Throws: the errors of NIO and of the TLS handler.
    func answer(
        from host: String, port: Int, on group: any EventLoopGroup,
        securing secure: @escaping @Sendable (ChannelPipeline.SynchronousOperations) throws -> Void
    ) async throws -> Answer {
        let answer = group.any().makePromise(of: Answer.self)
        do {
            let channel = try await ClientBootstrap(group: group)
                .connectTimeout(limit)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        try secure(pipeline)
                        try pipeline.addHTTPClientHandlers()
                        try pipeline.addHandler(handler(answer))
                    }
                }
                .connect(host: host, port: port).get()
            defer { channel.close(promise: nil) }
            return try await withTaskCancellationHandler {
                try await answer.futureResult.get()
            } onCancel: {
                channel.close(promise: nil)
            }
        } catch {
            // Every promise must be completed.
            answer.fail(error)
            throw error
        }
    }

    /// The handler that sends the request on a connection, and collects the response.
    func handler(_ answer: EventLoopPromise<Answer>) -> AnswerHandler {
        AnswerHandler(head, maximumBody: maximumBody, within: limit, answer)
    }
}

/// Sends one request, and collects the response.
final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private struct NoAnswer: Error {}

    private let question: HTTPRequestHead
    private let maximumBody: Int
    private let limit: TimeAmount
    private let answer: EventLoopPromise<HTTPExchange.Answer>
    private var head: HTTPResponseHead?
    private(set) var body: [UInt8] = []
    private var hasAnswered = false

    init(
        _ question: HTTPRequestHead, maximumBody: Int, within limit: TimeAmount,
        _ answer: EventLoopPromise<HTTPExchange.Answer>
    ) {
        (self.question, self.maximumBody, self.limit, self.answer) = (question, maximumBody, limit, answer)
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        // Once there is a response, the channel has closed and this changes nothing.
        context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        context.write(wrapOutboundOut(.head(question)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body(let part):
            guard body.count + part.readableBytes <= maximumBody else {
                finish(.failure(HTTPExchange.TooLarge()), context)
                return
            }
            body += part.readableBytesView
        case .end:
            guard let head else { return }
            finish(
                .success(HTTPExchange.Answer(status: Int(head.status.code), headers: head.headers, body: body)),
                context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { finish(.failure(error), context) }

    func channelInactive(context: ChannelHandlerContext) {
        finish(.failure(NoAnswer()), context)
        context.fireChannelInactive()
    }

    private func finish(_ result: Result<HTTPExchange.Answer, any Error>, _ context: ChannelHandlerContext) {
        guard !hasAnswered else { return }
        hasAnswered = true
        answer.completeWith(result)
        context.close(promise: nil)
    }
}
