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
        lane.leave()
        // Names are resolved in order, so the lane's last one has been by then.
        _ = try? await ClientBootstrap(group: lane.group).connect(host: "127.0.0.1", port: 0).get()
        let next = try ConnectionLane.take()
        #expect(next !== lane)
        next.leave()
        try await listener.closeFuture.get()
    }
}
