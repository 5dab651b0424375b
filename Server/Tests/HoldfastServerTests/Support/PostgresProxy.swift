import NIOCore
import NIOPosix
import Synchronization

/// Stands between a server and its database, and fails when a test says so.
final class PostgresProxy: Sendable {
    /// A fault of the next commit, or of everything.
    enum Fault: Sendable {
        /// Nothing.
        case nothing
        /// Ends the connection before the commit reaches the database.
        case losesCommit
        /// Ends the connection when the database has committed and says so.
        case losesAnswer
        /// As before, and closes each new connection afterwards.
        case losesAnswerAndCloses
        /// Ends the connection before the commit reaches the database, and has who comes next wait.
        case losesCommitAndHolds
        /// Closes each new connection.
        case closed
        /// Has each new connection wait until the fault is another one.
        case holds
        /// Takes what is sent, and passes nothing on.
        case silent
        /// Takes nothing of what is sent.
        case stalled
        /// Loses an byte of all that is sent, both ways.
        case losesBytes
        /// Keeps the next commit of something that is published until the fault is another one.
        case holdsPublication
    }

    private let listener: any Channel
    private let shared: SharedFault

    var port: Int { listener.localAddress?.port ?? 0 }

    static func run(before target: Int, _ body: (PostgresProxy) async throws -> Void) async throws {
        let state = SharedFault()
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { front in
                guard state.lets() else { return front.close() }
                state.add(front)
                return state.turn(on: front.eventLoop).flatMap {
                    ClientBootstrap(group: front.eventLoop)
                        .channelInitializer { back in
                            front.eventLoop.makeCompletedFuture {
                                let passing = Passing()
                                try front.pipeline.syncOperations.addHandler(Front(back, state, passing))
                                try back.pipeline.syncOperations.addHandler(Back(front, state, passing))
                            }
                        }
                        .connect(host: "127.0.0.1", port: target)
                }
                .flatMap { _ in front.setOption(.autoRead, value: true) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let proxy = PostgresProxy(listener, state)
        let result: Result<Void, any Error>
        do { result = .success(try await body(proxy)) } catch { result = .failure(error) }
        try await listener.close()
        try result.get()
    }

    private init(_ listener: any Channel, _ shared: SharedFault) {
        self.listener = listener
        self.shared = shared
    }

    func set(_ fault: Fault) { shared.set(fault) }

    /// Ends all connections that there are.
    func cut() { shared.cut() }

    /// Whether a commit is kept.
    var holdsOne: Bool { shared.holdsOne }

    /// Returns once a connection waits.
    func holds() async { for await _ in shared.arrivals.stream { return } }

    private final class SharedFault: Sendable {
        private let fault = Mutex(Fault.nothing)
        private let waiting = Mutex<[EventLoopPromise<Void>]>([])
        let arrivals = AsyncStream<Void>.makeStream()
        private let fronts = Mutex<[ObjectIdentifier: any Channel]>([:])
        /// Passes on the commit that is kept.
        private let held = Mutex<(@Sendable () -> Void)?>(nil)

        func set(_ new: Fault) {
            fault.withLock { $0 = new }
            let passOn = held.withLock { held in
                defer { held = nil }
                return held
            }
            passOn?()
            guard new != .holds else { return }
            let promises = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for promise in promises { promise.succeed() }
        }

        func turn(on loop: any EventLoop) -> EventLoopFuture<Void> {
            guard fault.withLock({ $0 == .holds }) else { return loop.makeSucceededVoidFuture() }
            let promise = loop.makePromise(of: Void.self)
            waiting.withLock { $0.append(promise) }
            arrivals.continuation.yield()
            return promise.futureResult
        }

        func add(_ front: any Channel) {
            fronts.withLock { $0[ObjectIdentifier(front)] = front }
            front.closeFuture.whenComplete { [weak self] _ in
                self?.fronts.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(front)) }
            }
        }

        func cut() { for front in fronts.withLock({ Array($0.values) }) { front.close(promise: nil) } }

        var holdsOne: Bool { held.withLock { $0 != nil } }

        /// Keeps a commit, and everything else goes on.
        func hold(_ passOn: @escaping @Sendable () -> Void) { held.withLock { $0 = passOn } }

        /// The bytes to pass on: all, or all but one for `losesBytes`.
        func left(of buffer: ByteBuffer) -> ByteBuffer {
            guard fault.withLock({ $0 == .losesBytes }), buffer.readableBytes > 1 else { return buffer }
            var bytes = Array(buffer.readableBytesView)
            bytes.remove(at: bytes.count / 2)
            return ByteBuffer(bytes: bytes)
        }

        func lets() -> Bool { fault.withLock { $0 != .closed } }

        func isSilent() -> Bool { fault.withLock { $0 == .silent } }

        func isStalled() -> Bool { fault.withLock { $0 == .stalled } }

        /// The fault for a commit that comes now.
        func commit(publishing isPublication: Bool) -> Fault {
            fault.withLock { fault in
                guard fault != .holdsPublication || isPublication else { return .nothing }
                defer {
                    switch fault {
                    case .losesCommit, .losesAnswer: fault = .nothing
                    case .losesAnswerAndCloses: fault = .closed
                    case .holdsPublication: fault = .nothing
                    case .losesCommitAndHolds: fault = .holds
                    case .nothing, .closed, .holds, .silent, .stalled, .losesBytes: break
                    }
                }
                return fault
            }
        }
    }

    /// Whether answers still reach the front. Both handlers are on one event loop.
    private final class Passing { var isOver = false }

    private final class Front: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let back: any Channel
        private let fault: SharedFault
        private let passing: Passing
        /// Whether the transaction has had a document published.
        private var isPublishing = false

        init(_ back: any Channel, _ fault: SharedFault, _ passing: Passing) {
            (self.back, self.fault, self.passing) = (back, fault, passing)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            if fault.isSilent() { return }
            if fault.isStalled() { return context.channel.setOption(.autoRead, value: false).whenComplete { _ in } }
            let statement = Array("INSERT INTO document".utf8)
            if buffer.readableBytesView.firstRange(of: statement) != nil { isPublishing = true }
            if buffer.readableBytesView.firstRange(of: Array("COMMIT".utf8) + [0]) != nil {
                defer { isPublishing = false }
                switch fault.commit(publishing: isPublishing) {
                case .losesCommit, .losesCommitAndHolds:
                    context.close(promise: nil)
                    return
                case .losesAnswer, .losesAnswerAndCloses: passing.isOver = true
                case .holdsPublication:
                    fault.hold { [back] in back.writeAndFlush(buffer, promise: nil) }
                    return
                case .nothing, .closed, .holds, .silent, .stalled, .losesBytes: break
                }
            }
            back.writeAndFlush(fault.left(of: buffer), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { back.close(promise: nil) }
    }

    private final class Back: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let front: any Channel
        private let fault: SharedFault
        private let passing: Passing

        init(_ front: any Channel, _ fault: SharedFault, _ passing: Passing) {
            (self.front, self.fault, self.passing) = (front, fault, passing)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if passing.isOver {
                context.close(promise: nil)
            } else if !fault.isSilent() {
                front.writeAndFlush(fault.left(of: unwrapInboundIn(data)), promise: nil)
            }
        }

        func channelInactive(context: ChannelHandlerContext) { front.close(promise: nil) }
    }
}
