import NIOCore
import NIOHTTP1
import NIOPosix

/// One question over HTTP/1.1 on a connection of its own, and the whole answer to it.
struct HTTPExchange: Sendable {
    /// What was answered.
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: [UInt8]

        /// The only value of a header; nil if there is none or more than one.
        func header(_ name: String) -> String? {
            let values = headers[name]
            return values.count == 1 ? values[0] : nil
        }
    }

    /// The answer has more bytes than it may.
    struct TooLarge: Error {}

    private let head: HTTPRequestHead
    private let maximumBody: Int
    private let limit: TimeAmount

    /// - Parameters:
    ///   - target: the path and the query.
    ///   - authority: what `Host` says.
    ///   - headers: others.
    ///   - maximumBody: how many bytes the answer may have.
    ///   - limit: how long connecting may take, and how long everything else.
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

    /// Connects, asks, and collects the answer.
    /// - Parameters:
    ///   - host: a name or an address.
    ///   - port: the port.
    ///   - group: the threads.
    ///   - secure: adds what encrypts, on the event loop of the connection.
    /// - Throws: what NIO and what encrypts throw.
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
            // A promise that nobody keeps would be one that was forgotten.
            answer.fail(error)
            throw error
        }
    }

    /// What asks on a connection, and collects the answer.
    func handler(_ answer: EventLoopPromise<Answer>) -> AnswerHandler {
        AnswerHandler(head, maximumBody: maximumBody, within: limit, answer)
    }
}

/// Asks once, and collects the answer.
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
        // Once there is an answer, the channel has ended and this changes nothing.
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
