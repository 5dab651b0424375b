import Holdfast
import NIOCore
import NIOSSL
import NIOTLS

/// Placed behind NIOSSL's handler, it lets nothing through in either direction until the handshake is complete and the
/// peer is trusted. It makes the `TrustFailure` the channel's error, while NIOSSL only reports a failed handshake.
///
/// It cannot be removed from the pipeline.
final class TrustGateHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private enum State {
        /// No decision yet.
        case shut
        /// Trusted; the buffered events are being delivered.
        case opening
        case open
        case refused(any Error)
    }

    private enum Held {
        case write(NIOAny, EventLoopPromise<Void>?)
        case flush
        case closeOutput(EventLoopPromise<Void>?)
    }

    private let judge: PeerJudge
    private let promise: EventLoopPromise<TrustDecision>
    private let timeout: TimeAmount?
    private weak var tls: NIOSSLHandler?
    private var state = State.shut
    /// In their order of arrival; those before `released` are being delivered.
    private var held: [Held] = []
    private var released = 0
    private var timer: Scheduled<Void>?
    /// Whether an observer of the decision closed the connection.
    private var isClosing = false

    /// - Parameter tls: the handler in front, which knows the leaf of a resumed session.
    init(judge: PeerJudge, promise: EventLoopPromise<TrustDecision>, timeout: TimeAmount?, tls: NIOSSLHandler? = nil) {
        self.judge = judge
        self.promise = promise
        self.timeout = timeout
        self.tls = tls
    }

    /// Adds TLS and a gate behind it, and returns the gate's decision.
    static func add(
        behind tls: NIOSSLHandler, judge: PeerJudge, timeout: TimeAmount?,
        to pipeline: ChannelPipeline.SynchronousOperations, position: ChannelPipeline.SynchronousOperations.Position
    ) throws -> EventLoopFuture<TrustDecision> {
        let promise = pipeline.eventLoop.makePromise(of: TrustDecision.self)
        let gate = TrustGateHandler(judge: judge, promise: promise, timeout: timeout, tls: tls)
        do {
            // On an active channel TLS begins as soon as it is added, so the gate must already be there.
            try pipeline.addHandler(gate, position: position)
            try pipeline.addHandler(tls, position: .before(gate))
        } catch {
            promise.fail(error)
            throw error
        }
        return promise.futureResult
    }

    /// The decision, trusted only once the handshake is complete; fails if the handshake ends without one.
    var decision: EventLoopFuture<TrustDecision> { promise.futureResult }

    /// The identity of the trusted client.
    var client: EventLoopFuture<ClientIdentity> {
        promise.futureResult.assumeIsolated().flatMapThrowing { [judge] decision in
            if let failure = decision.failure { throw failure }
            guard let client = judge.client else { throw TLSAdapterError.noClient }
            return client
        }.nonisolated()
    }

    // MARK: Life

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { startTimer(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        startTimer(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        settle(judge.failure ?? TLSAdapterError.closedBeforeDecision)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        settle(judge.failure ?? TLSAdapterError.closedBeforeDecision)
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        guard let timeout, timer == nil, case .shut = state else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
            guard case .shut = self.state else { return }
            let error = TLSAdapterError(
                .handshakeTimedOut, expected: "a complete handshake within \(timeout)", found: "none",
                remedy: "Check that the peer speaks TLS at this port, or give it more time.")
            self.refuse(context, error)
        }
    }

    // MARK: Inbound

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted? = event as? TLSUserEvent, case .shut = state else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        judge.handshakeCompleted { tls?.peerCertificate }
        // An observer of the decision closed the connection.
        guard !isClosing else { return settle(TLSAdapterError.closedBeforeDecision) }
        guard let decision = judge.decision, decision.isTrusted else {
            refuse(context, judge.failure ?? TLSAdapterError.noDecision)
            return
        }
        state = .opening
        timer?.cancel()
        timer = nil
        // Code that waits for the decision can add its handlers before the event and the bytes that follow.
        promise.succeed(decision)
        context.fireUserInboundEventTriggered(event)
        release(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .open, .opening: context.fireChannelRead(data)
        case .shut: refuse(context, judge.failure ?? TLSAdapterError.bytesBeforeDecision)
        case .refused: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isFromTLS = error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError
        switch state {
        case .shut where isFromTLS:
            judge.handshakeFailed(error)
            let reason: any Error = judge.failure ?? error
            settle(reason)
            context.fireErrorCaught(reason)
        // Errors of TLS after a refusal are only its consequences.
        case .refused where isFromTLS: break
        case .shut, .opening, .open, .refused: context.fireErrorCaught(error)
        }
    }

    // MARK: Outbound

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch state {
        case .shut, .opening: held.append(.write(data, promise))
        case .open: context.write(data, promise: promise)
        case .refused(let error): promise?.fail(error)
        }
    }

    func flush(context: ChannelHandlerContext) {
        switch state {
        case .shut, .opening: held.append(.flush)
        case .open: context.flush()
        case .refused: break
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch (mode, state) {
        case (.output, .shut), (.output, .opening):
            held.append(.closeOutput(promise))
        case _ where judge.isDeciding:
            // TLS is on this call stack and is not reentrant.
            isClosing = true
            let loopBound = NIOLoopBound(context, eventLoop: context.eventLoop)
            context.eventLoop.execute { loopBound.value.close(mode: mode, promise: promise) }
        default:
            context.close(mode: mode, promise: promise)
        }
    }

    // MARK: The gate

    private func release(_ context: ChannelHandlerContext) {
        // A write may complete at once and cause the next one, which must keep its order.
        while case .opening = state {
            guard released < held.count else {
                held = []
                state = .open
                return
            }
            let next = held[released]
            // Delivered buffers are released at once, because a writer may keep adding more.
            held[released] = .flush
            released += 1
            switch next {
            case .write(let data, let promise): context.write(data, promise: promise)
            case .flush: context.flush()
            case .closeOutput(let promise): context.close(mode: .output, promise: promise)
            }
        }
    }

    private func refuse(_ context: ChannelHandlerContext, _ error: any Error) {
        settle(error)
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    /// Ends the wait for a decision; has no effect after one.
    private func settle(_ reason: @autoclosure () -> any Error) {
        timer?.cancel()
        timer = nil
        switch state {
        case .shut, .opening:
            let wasShut = if case .shut = state { true } else { false }
            let error: any Error = wasShut ? reason() : ChannelError.ioOnClosedChannel
            state = .refused(error)
            let left = held.dropFirst(released)
            held = []
            for next in left {
                switch next {
                case .write(_, let promise), .closeOutput(let promise): promise?.fail(error)
                case .flush: break
                }
            }
            guard wasShut else { return }
            if let decision = judge.decision, !decision.isTrusted {
                promise.succeed(decision)
            } else {
                promise.fail(error)
            }
        case .open, .refused: break
        }
    }
}
