import HoldfastProbe
import NIOCore
import NIOHTTP1
import ServerFoundation

/// One connection of a listener. It reads one request at a time, and nothing from a client that does not read its
/// responses. Each state has a time limit.
final class HTTPConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// Between requests.
        case waiting
        /// A head was read and waits for its turn.
        case queuing
        /// A head was read, and its body is not complete.
        case reading(HTTPRequestHead)
        /// A response is being made or written.
        case answering
        /// Reading is suspended for a while.
        case pausing
        /// The last response was written. Further input is discarded, so that the client can read it (RFC 9112 9.6).
        case lingering
        case closed
    }

    private let responder: ListenerResponder
    private let admission: ListenerAdmission?
    private let refusal: ListenerRefusal
    private let settings: ListenerSettings
    private let table: ConnectionTable
    private let log: RequestLog?
    private let lane: ReportLane
    /// Held while a report waits for its turn.
    private var place: ReportLane.Place?
    private var source = SourcePrefix.unknown
    private var peer: IPAddress?
    private var ticket: ConnectionTable.Ticket?
    private var hasBegun = false
    /// Generated when a request first needs an id.
    private var name: RandomID?
    /// The current request and the time of its head; nil before the first request.
    private var current: (head: HTTPRequestHead, began: NIODeadline)?

    private var state = State.waiting
    private var body = ByteBuffer()
    private var bodyBegan = NIODeadline.now()
    /// Maximum size in bytes of the current body.
    private var bodyLimit = 0
    /// Held while a body is read that needs a permit.
    private var permit: BodyPermit?
    private var parts = CircularBuffer<HTTPServerRequestPart>()
    private var requests = 0
    private var isLast = false
    private var inputEnded = false
    /// The reason why further input is meaningless; nil while it is valid.
    private var inputError: HTTPParserError?
    private var readIsHeld = false
    private var deadline = NIODeadline.distantFuture
    private var timer: Scheduled<Void>?

    /// Up to this size, copying the body costs less than a second write.
    private static let maximumCopy = 16_384

    init(
        _ responder: ListenerResponder, admitting admission: ListenerAdmission?, _ refusal: @escaping ListenerRefusal,
        _ settings: ListenerSettings, _ table: ConnectionTable, _ log: RequestLog?, _ lane: ReportLane
    ) {
        self.responder = responder
        self.admission = admission
        self.refusal = refusal
        self.settings = settings
        self.table = table
        self.log = log
        self.lane = lane
    }

    private var limits: ListenerLimits { settings.limits }

    // MARK: Begin and end

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard !hasBegun else { return }
        hasBegun = true
        peer = IPAddress(context.channel.remoteAddress)
        source = peer.map(SourcePrefix.init) ?? .unknown
        let channel = context.channel
        ticket = table.open(
            source, isProxy: peer.map(settings.proxies.contains) ?? true, at: NIODeadline.now().uptimeNanoseconds,
            evict: { channel.close(promise: nil) })
        guard ticket != nil else {
            state = .closed
            return context.close(promise: nil)
        }
        expect(limits.waiting, context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    private func end() {
        state = .closed
        permit = nil
        place?.leave()
        place = nil
        timer?.cancel()
        timer = nil
        parts.removeAll()
        guard let ticket else { return }
        self.ticket = nil
        table.close(ticket)
    }

    // MARK: Reading

    func read(context: ChannelHandlerContext) {
        switch state {
        case .queuing, .answering, .pausing: readIsHeld = true
        case .waiting, .reading, .lingering, .closed:
            if parts.isEmpty { context.read() } else { readIsHeld = true }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .lingering, .closed: return
        case .waiting, .queuing, .reading, .answering, .pausing:
            // A client that pipelines this many requests is not reading responses. Discard the rest and close.
            guard parts.count < limits.partsAtOnce else { return isLast = true }
            parts.append(unwrapInboundIn(data))
            takeParts(context)
        }
    }

    private func takeParts(_ context: ChannelHandlerContext) {
        while let part = parts.first {
            switch (state, part) {
            case (.waiting, .head(let head)):
                parts.removeFirst()
                take(head, context)
            case (.reading, .body(let bytes)):
                parts.removeFirst()
                guard body.readableBytes + bytes.readableBytes <= bodyLimit else {
                    refuse(.payloadTooLarge, "The body is too large.", context)
                    return
                }
                guard permit?.receive(bytes.readableBytes) ?? true else {
                    return refuse(.serviceUnavailable, "The server is busy.", context)
                }
                body.writeImmutableBuffer(bytes)
            case (.reading(let head), .end):
                parts.removeFirst()
                answer(head, context)
            case (.waiting, _), (.reading, .head):
                // The rest of a request that was answered before it was complete.
                parts.removeFirst()
            case (.queuing, _), (.answering, _), (.pausing, _), (.lingering, _), (.closed, _): return
            }
        }
        if let inputError {
            switch state {
            case .waiting, .reading: return refuse(inputError, context)
            case .queuing, .answering, .pausing, .lingering, .closed: return
            }
        }
        if inputEnded {
            switch state {
            // The rest of the body will not arrive.
            case .waiting, .reading: return context.close(promise: nil)
            case .queuing, .answering, .pausing, .lingering, .closed: break
            }
        }
        releaseRead(context)
    }

    private func releaseRead(_ context: ChannelHandlerContext) {
        guard readIsHeld, parts.isEmpty else { return }
        switch state {
        case .queuing, .answering, .pausing: return
        case .waiting, .reading, .lingering, .closed:
            readIsHeld = false
            context.read()
        }
    }

    private func take(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        requests += 1
        current = (head, .now())
        // After a request for another protocol, further input is not HTTP.
        let leaves = head.method == .CONNECT || head.headers.contains(name: "Upgrade")
        if !head.isKeepAlive || leaves || requests >= limits.requestsPerConnection { isLast = true }
        // RFC 9112 3.2: exactly one Host header is required.
        let hosts = head.headers["Host"].count
        guard hosts == 1 || (hosts == 0 && head.version == .http1_0) else {
            return refuse(.badRequest, "There must be one header Host.", context)
        }
        guard Self.hasUsualFraming(head) else {
            return refuse(.badRequest, "The body must have a length, or come in chunks.", context)
        }
        guard let admission, head.method == .POST else {
            lane.countOther()
            bodyLimit = limits.bodyBytes
            return read(head, context)
        }
        state = .queuing
        expect(limits.answerTime, context)
        place = lane.enter { [self] in
            place = nil
            guard case .queuing = state else { return }
            switch admission(head, source(of: head)) {
            case .refuse(let answer)?:
                state = .answering
                return write(answer, isHead: false, context)
            case .take(let bytes, let permit)?: (bodyLimit, self.permit) = (bytes, permit)
            case nil: bodyLimit = limits.bodyBytes
            }
            read(head, context)
            takeParts(context)
        }
    }

    private func read(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let length = head.headers["Content-Length"].first.flatMap { Int($0) } ?? 0
        guard length <= bodyLimit, bodyLimit > 0 || !head.headers.contains(name: "Transfer-Encoding") else {
            let takesNone = bodyLimit == 0 && head.method != .GET && head.method != .HEAD
            guard takesNone else { return refuse(.payloadTooLarge, "The body is too large.", context) }
            isLast = true
            return answer(head, context)
        }
        state = .reading(head)
        body = ByteBuffer()
        bodyBegan = .now()
        expect(min(limits.bodyTime, limits.bodyGrace), context)
        if head.version == .http1_1, head.headers["Expect"].contains(where: { $0.utf8.count == 12 }), length > 0 {
            context.writeAndFlush(wrapOutboundOut(AnswerBytes.goOn), promise: nil)
        }
    }

    /// HTTP/1.0 has no transfer codings, and this server decodes only chunked (RFC 9112 6.1). A proxy that interprets
    /// either differently would find the next request at another position.
    private static func hasUsualFraming(_ head: HTTPRequestHead) -> Bool {
        let codings = head.headers["Transfer-Encoding"]
        guard let coding = codings.first else { return true }
        return codings.count == 1 && head.version == .http1_1 && ASCIIText.spells(coding.utf8, "chunked")
    }

    // MARK: Answering

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        state = .answering
        permit = nil
        let request = ListenerRequest(head: head, body: body, source: source(of: head))
        switch responder {
        case .immediate(let respond):
            switch respond(request) {
            case .now(let answer): write(answer, isHead: request.isHead, context)
            case .later(let answer): wait(isHead: request.isHead, context, for: answer)
            }
        case .waiting(let respond): wait(isHead: request.isHead, context) { await respond(request) }
        }
    }

    private func source(of head: HTTPRequestHead) -> SourcePrefix {
        let client = peer.map { settings.proxies.client(behind: $0, forwarded: head.headers["X-Forwarded-For"]) }
        return client.map(SourcePrefix.init) ?? .unknown
    }

    private func wait(
        isHead: Bool, _ context: ChannelHandlerContext, for answer: @escaping @Sendable () async -> ListenerAnswer
    ) {
        // The responder has its own time limit; this one covers everything else.
        expect(limits.answerTime, context)
        let promise = context.eventLoop.makePromise(of: ListenerAnswer.self)
        promise.completeWithTask { await answer() }
        promise.futureResult.assumeIsolated().whenSuccess { self.write($0, isHead: isHead, context) }
    }

    private func refuse(_ status: HTTPResponseStatus, _ message: String, _ context: ChannelHandlerContext) {
        state = .answering
        permit = nil
        var answer = refusal(status, message)
        answer.closes = true
        write(answer, isHead: false, context)
    }

    private func write(_ answer: ListenerAnswer, isHead: Bool, _ context: ChannelHandlerContext) {
        guard case .answering = state else { return }
        if answer.closes { isLast = true }
        var fields = answer.headers
        // RFC 9110 8.6: these two must not have a Content-Length.
        let hasLength = answer.status != .notModified && answer.status != .noContent
        if hasLength { fields.append(("Content-Length", "\(answer.body.readableBytes)")) }
        if isLast { fields.append(("Connection", "close")) }
        // RFC 6797 7: only over TLS. Browsers require at least a year for their preload lists.
        if settings.identity != nil { fields.append(("Strict-Transport-Security", "max-age=31536000")) }
        note(answer, &fields)
        let hasBody = hasLength && !isHead && answer.body.readableBytes > 0
        expect(limits.time(forAnswerOf: hasBody ? answer.body.readableBytes : 0), context)
        // A small body is written together with the head; a large one is not copied.
        let copies = hasBody && answer.body.readableBytes <= Self.maximumCopy
        guard
            var bytes = AnswerBytes.head(
                answer.status, fields, with: context.channel.allocator, room: copies ? answer.body.readableBytes : 0)
        else { return context.close(promise: nil) }
        if copies { bytes.writeImmutableBuffer(answer.body) }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { self.finish($0, pauses: answer.pauses, context) }
        if hasBody, !copies {
            context.write(wrapOutboundOut(bytes), promise: nil)
            context.writeAndFlush(wrapOutboundOut(answer.body), promise: written)
        } else {
            context.writeAndFlush(wrapOutboundOut(bytes), promise: written)
        }
    }

    /// Records a request in the log. Adds its id to the response if that is an error or is never cached.
    private func note(_ answer: ListenerAnswer, _ fields: inout [(name: String, value: String)]) {
        let isNamed = settings.namesRequests || answer.status.code >= 400
        let isLogged = current.map { log?.writes($0.head.method, answer) ?? false } ?? false
        guard isNamed || isLogged else { return }
        let id = requestID()
        if isNamed { fields.append((RequestID.header, id.text)) }
        guard isLogged, let current else { return }
        log?.write(RequestLog.Entry(id: id, head: current.head, answer: answer, began: current.began))
    }

    private func requestID() -> RequestID {
        if let current, let id = RequestID(current.head.headers, from: peer, trusting: settings.proxies) { return id }
        var generator = SystemRandomNumberGenerator()
        let connection = name ?? RandomID(using: &generator)
        name = connection
        return RequestID(connection, requests)
    }

    private func finish(_ result: Result<Void, any Error>, pauses: Bool, _ context: ChannelHandlerContext) {
        guard case .answering = state else { return }
        guard case .success = result else { return context.close(promise: nil) }
        if isLast { return linger(context) }
        guard pauses else { return next(context) }
        state = .pausing
        expect(limits.pause, context)
    }

    private func next(_ context: ChannelHandlerContext) {
        state = .waiting
        current = nil
        expect(limits.waiting, context)
        takeParts(context)
    }

    private func linger(_ context: ChannelHandlerContext) {
        guard !inputEnded else { return context.close(promise: nil) }
        state = .lingering
        parts.removeAll()
        expect(limits.lingering, context)
        context.close(mode: .output, promise: nil)
        if readIsHeld {
            readIsHeld = false
            context.read()
        }
    }

    // MARK: Deadlines

    private func expect(_ span: TimeAmount, _ context: ChannelHandlerContext) {
        deadline = .now() + span
        guard timer == nil else { return }
        schedule(context)
    }

    /// One timer per connection, which checks whether the deadline was moved: requests then need no timers.
    private func schedule(_ context: ChannelHandlerContext) {
        let soon = min(deadline, .now() + .seconds(1))
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: soon) {
            self.timer = nil
            guard NIODeadline.now() >= self.deadline else { return self.schedule(context) }
            self.meetDeadline(context)
        }
    }

    private func meetDeadline(_ context: ChannelHandlerContext) {
        switch state {
        case .pausing: next(context)
        case .reading:
            // A body may take longer while it arrives fast enough.
            let elapsed = NIODeadline.now() - bodyBegan
            guard let more = limits.time(forBodyWith: body.readableBytes, after: elapsed) else {
                return refuse(.requestTimeout, "The request took too long.", context)
            }
            expect(more, context)
        case .waiting, .queuing, .answering, .lingering: context.close(promise: nil)
        case .closed: break
        }
    }

    // MARK: Events

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            inputEnded = true
            switch state {
            case .waiting where parts.isEmpty, .reading, .lingering: context.close(promise: nil)
            case .waiting, .queuing, .answering, .pausing: isLast = parts.isEmpty
            case .closed: break
            }
        case is ChannelShouldQuiesceEvent:
            isLast = true
            switch state {
            case .waiting, .pausing: context.close(promise: nil)
            case .queuing, .reading, .answering, .lingering:
                let channel = context.channel
                context.eventLoop.scheduleTask(in: limits.stopping) { channel.close(promise: nil) }
            case .closed: break
            }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.close(promise: nil) }
        switch state {
        case .waiting, .reading: refuse(error, context)
        case .queuing, .answering, .pausing: (inputError, isLast) = (error, true)  // The rest of a body never arrives.
        case .lingering, .closed: break
        }
    }

    private func refuse(_ error: HTTPParserError, _ context: ChannelHandlerContext) {
        let isTooLong = error == .headerOverflow
        refuse(
            isTooLong ? .requestHeaderFieldsTooLarge : .badRequest,
            isTooLong ? "The headers are too large." : "The request is no HTTP/1.1.", context)
    }
}
