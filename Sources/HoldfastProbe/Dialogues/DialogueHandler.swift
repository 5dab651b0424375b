import Foundation
import Holdfast
import NIOCore

/// Runs the dialogue with a proxy on a connection. Then it leaves the pipeline, so that TLS can begin.
final class DialogueHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        case idle, talking, done, settled
    }

    private var dialogue: ProxyDialogue
    private let timeout: TimeAmount
    /// Succeeds, on the event loop, at the moment when the TLS handlers must be added.
    private let promise: EventLoopPromise<Void>
    private var state = State.idle
    private var timer: Scheduled<Void>?

    init(_ dialogue: ProxyDialogue, timeout: TimeAmount, promise: EventLoopPromise<Void>) {
        self.dialogue = dialogue
        self.timeout = timeout
        self.promise = promise
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { start(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        start(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        switch state {
        // Input after the end, in the same turn of the event loop, also comes here. The dialogue refuses it.
        case .talking, .done:
            do throws(DialogueFailure) {
                if try dialogue.receive(bytes) { state = .done }
            } catch {
                fail(error, context)
            }
        case .idle, .settled: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        guard case .done = state else { return }
        settle()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        promise.succeed()
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(Self.closed, context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // If a peer closes before it has read everything, the connection is reset.
        let isReset = [ECONNRESET, EPIPE].contains((error as? IOError)?.errnoCode)
        fail(
            isReset
                ? Self.closed
                : DialogueFailure(.ended, "the connection failed before TLS: \(ForeignErrorText.found(error))"), context
        )
    }

    private static let closed = DialogueFailure(.ended, "the connection was closed before TLS began")

    func handlerRemoved(context: ChannelHandlerContext) {
        // This was one of several attempts to connect and was not needed.
        fail(ChannelError.ioOnClosedChannel, context)
    }

    private func start(_ context: ChannelHandlerContext) {
        guard case .idle = state else { return }
        state = .talking
        let timeout = timeout
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
            let seconds = timeout.nanoseconds / 1_000_000_000
            self.fail(DialogueFailure(.timedOut, "no go-ahead for TLS came within \(seconds) s"), context)
        }
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: dialogue.opening)), promise: nil)
    }

    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        if case .settled = state { return }
        settle()
        promise.fail(error)
        context.close(promise: nil)
    }

    private func settle() {
        state = .settled
        timer?.cancel()
        timer = nil
    }
}
