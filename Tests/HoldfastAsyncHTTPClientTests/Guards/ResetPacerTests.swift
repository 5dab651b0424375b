import AsyncHTTPClient
import Dispatch
import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("Resets of streams", .timeLimit(.minutes(15)))
struct ResetPacerTests {
    @Test("are sent at once until too many are unconfirmed, and then as they are confirmed")
    func pace() {
        var pacer = ResetPacer()
        var sent = 0
        for number in 1...60 {
            let step = pacer.add()
            sent += step.resets
            #expect(step.asks == (number == ResetPacer.askedWith))
        }
        #expect(sent == ResetPacer.maximumUnconfirmed && pacer.isAsking)
        var steps = 0
        while sent < 60 {
            let step = pacer.confirm()
            sent += step.resets
            steps += 1
            #expect(steps < 10)
        }
        #expect(sent == 60)
    }

    @Test("of streams that end by themselves are no longer waited for, nor those of a server that is silent")
    func ends() {
        var pacer = ResetPacer()
        for _ in 0..<40 { _ = pacer.add() }
        let waiting = 40 - ResetPacer.maximumUnconfirmed
        for _ in 0..<waiting { pacer.drop() }
        #expect(pacer.confirm().resets == 0)
        for _ in 0..<40 { _ = pacer.add() }
        #expect(pacer.giveUp().resets > 0 && !pacer.isAsking)
        #expect(pacer.add() == .init(resets: 1))
    }

    @Test("leave the connection to others, although an honest server's frames come late", arguments: [20, 100])
    func lateFrames(count: Int) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let context = try ScriptedOrigin.context(try setting.leaf(), protocols: ["h2"])
        let streams = Lock(0)
        let (requests, requested) = AsyncStream.makeStream(of: UInt32.self)
        var script = ScriptedOrigin.Script(greeting: [HTTP2Octets.settings(streams: 200)])
        script.answer = { stream in
            requested.yield(stream)
            // The first are canceled, the last is answered.
            let isLast = streams.withLock { streams in
                streams += 1
                return streams > count
            }
            return isLast ? [HTTP2Octets.headers(stream)] : []
        }
        script.late = { [HTTP2Octets.headers($0, ends: false), HTTP2Octets.data($0, "late")] }
        script.mostResets = 60
        let played = script
        try await withScriptedOrigin(context, script: { _ in played }) { origin in
            try await setting.withClient { client in
                let callers = (0..<count).map { _ in Task { try await client.text(origin.url()) } }
                for await _ in requests.prefix(count) {}
                for caller in callers { caller.cancel() }
                for caller in callers {
                    let result = await caller.result
                    #expect(throws: (any Error).self) { try result.get() }
                }
                try await client.expectAnswer(origin.url(), "")
                #expect(origin.connections == 1)
            }
        }
    }
}

@Suite("Requests that nobody canceled", .timeLimit(.minutes(15)))
struct UncanceledRequestTests {
    @Test("do not say so when the server closes after the first request", arguments: ["h2", "http/1.1"])
    func closed(spoken: String) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        var options = TestOrigin.Options()
        options.protocols = [spoken]
        try await withOrigin(
            try setting.leaf(), options: options,
            answer: { _ in TestOrigin.Reply(headers: spoken == "h2" ? [:] : ["connection": "close"]) }
        ) { origin in
            for _ in 0..<5 {
                try await setting.withClient { client in
                    try await client.expectAnswer(origin.url())
                    let callers = (0..<60).map { _ in Task { try await client.text(origin.url()) } }
                    await origin.cutAll()
                    for caller in callers {
                        do {
                            _ = try await caller.value
                        } catch {
                            // Which error it is depends on how far the connection was.
                            #expect(error as? HTTPClientError != .cancelled)
                        }
                    }
                }
            }
        }
    }

    /// A connection of the client's, on whose thread a test can have everything wait.
    private final class ConnectionBox: Sendable {
        private let channel = Lock<(any Channel)?>(nil)

        func set(_ channel: any Channel) { self.channel.withLock { $0 = channel } }

        /// Closes the connection, and blocks its thread until so many callers have begun and have had time to be given
        /// the connection.
        func close(after callers: Int, counted begun: DispatchSemaphore) throws {
            let channel = try #require(channel.withLock { $0 })
            channel.eventLoop.execute {
                // Not before the peer has answered a goodbye, but now.
                channel.closeBelowTLS()
                let end = DispatchTime.now() + .seconds(60)
                for _ in 0..<callers { _ = begun.wait(timeout: end) }
                _ = begun.wait(timeout: .now() + .milliseconds(300))
            }
        }
    }

    @Test("do not say so if the connection that they were given has ended before it heard of them")
    func closedBefore() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        var options = TestOrigin.Options()
        options.protocols = ["h2"]
        let box = ConnectionBox()
        try await withOrigin(try setting.leaf(), options: options) { origin in
            try await setting.withClient({
                $0.http2ConnectionDebugInitializer = { channel in
                    box.set(channel)
                    return channel.eventLoop.makeSucceededVoidFuture()
                }
            }) { client in
                try await client.expectAnswer(origin.url())
                let begun = DispatchSemaphore(value: 0)
                try box.close(after: 20, counted: begun)
                let callers = (0..<20).map { _ in
                    Task {
                        begun.signal()
                        return try await client.text(origin.url())
                    }
                }
                for caller in callers {
                    do {
                        #expect(try await caller.value == "ok")
                    } catch {
                        #expect(error as? HTTPClientError == .remoteConnectionClosed, "\(error)")
                    }
                }
            }
        }
    }
}
