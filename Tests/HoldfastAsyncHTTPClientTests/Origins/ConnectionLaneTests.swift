import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("The thread of a client's connections", .timeLimit(.minutes(15)))
struct ConnectionLaneTests {
    /// Other tests may take it first, so there are many tries.
    @Test("serves a later client once all connections on it are closed")
    func reuse() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let script = ScriptedOrigin.Script(
            greeting: [HTTP2Octets.settings()],
            answer: { [HTTP2Octets.headers($0, ends: false) + HTTP2Octets.data($0, "ok")] })
        let context = try ScriptedOrigin.context(try setting.leaf(), protocols: ["h2"])
        let origin = try await ScriptedOrigin.start(context) { _ in script }
        // Kept, so that no other lane gets the identity of one of them.
        var lanes: [ConnectionLane] = []
        var isReused = false
        for _ in 0..<200 where !isReused {
            let client = try setting.client()
            try await client.expectAnswer(origin.url())
            let lane = try #require(client.clients.all.first?.lane)
            isReused = lanes.contains { $0 === lane }
            lanes.append(lane)
            try await client.shutdown()
        }
        #expect(isReused)
        await origin.shutdown()
    }

    @Test("is not passed on while a connection is open on it, and ends with that")
    func openConnection() async throws {
        let lane = try ConnectionLane.take()
        let listener = try await ServerBootstrap(group: lane.group).bind(host: "127.0.0.1", port: 0).get()
        lane.note(listener)
        // The lane's own futures come to nothing once it has ended, however soon that is by the time that this test has
        // its next turn.
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let (resolved, closed) = (loop.makePromise(of: Void.self), loop.makePromise(of: Void.self))
        listener.closeFuture.cascade(to: closed)
        lane.group.any().execute {
            lane.leave()
            // Names are resolved in order, so the lane's last one has been by then.
            ClientBootstrap(group: lane.group).connect(host: "127.0.0.1", port: 0).whenComplete { _ in
                resolved.succeed()
            }
        }
        try await expectValue(of: resolved.futureResult)
        let next = try ConnectionLane.take()
        #expect(next !== lane)
        next.leave()
        try await expectValue(of: closed.futureResult)
    }

    private func expectValue(of future: EventLoopFuture<Void>) async throws {
        let value: Void? = try await future.value(before: .now() + .minutes(5), on: future.eventLoop)
        #expect(value != nil)
    }

    @Test("that has ended keeps nobody waiting, although its futures come to nothing")
    func ended() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let promise = group.any().makePromise(of: Int.self)
        promise.succeed(1)
        let (future, loop) = (promise.futureResult, MultiThreadedEventLoopGroup.singleton.any())
        #expect(try await future.value(before: .now() + .minutes(5), on: loop) == 1)
        try await group.shutdownGracefully()
        // Without an end, either task would outlast this.
        func outcome(_ task: Task<Bool, Never>) async -> Bool? { await TimeLimit.value(of: task, within: .seconds(60)) }
        let limited = Task { (try? await future.value(before: .now() + .milliseconds(1), on: loop)) == .some(nil) }
        #expect(await outcome(limited) == true)
        let canceled = Task { (try? await future.value(before: .distantFuture, on: loop)) == .some(nil) }
        canceled.cancel()
        #expect(await outcome(canceled) == true)
    }
}
