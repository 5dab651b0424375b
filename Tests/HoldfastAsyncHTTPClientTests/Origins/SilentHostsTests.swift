#if os(macOS) || os(Linux)
import Foundation
import HoldfastAsyncHTTPClient
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

/// In a process of its own with 90 descriptors, `grammar-runner`, beside those that it inherits from the tests that run at
/// this moment (`ls` has four itself). The servers are in this one.
@Suite("A thousand requests to hosts that say nothing", .timeLimit(.minutes(15)))
struct SilentHostsTests {
    @Test("keep no request to another host from its answer, and leave no connection behind")
    func requests() async throws {
        let setting = try HTTPSetting()
        let silentLeaf = try ScriptedOrigin.context(try setting.leaf("*.silent.example"), protocols: ["h2"])
        let silent = try await ScriptedOrigin.start(silentLeaf) { _ in ScriptedOrigin.Script() }
        let answering = try await ScriptedOrigin.start(
            try ScriptedOrigin.context(try setting.leaf(), protocols: ["h2"])
        ) { _ in ScriptedOrigin.Script(greeting: [HTTP2Octets.settings()], answer: { [HTTP2Octets.headers($0)] }) }
        let mute = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .bind(host: "127.0.0.1", port: 0).get()
        let process = try GuardedProcess(
            URL(filePath: "/bin/sh"),
            [
                "-c", "ulimit -n $((86 + $(ls /dev/fd | wc -l))) && SWIFT_BACKTRACE=enable=no exec \"$0\" \"$@\"",
                try #require(CommandRun.program("grammar-runner")).path, "silent", "--silent-port", "\(silent.port)",
                "--mute-port", "\(mute.localAddress?.port ?? 0)", "--answering-port", "\(answering.port)",
                "--root", Data(setting.root.root).base64EncodedString(),
            ], in: nil, limit: .seconds(600))
        let status = await process.waitForEnd()
        #expect(status == 0, "\(process.output.suffix(4_000))")
        #expect(process.output.contains(" 0 otherwise than expected"))
        // The process is gone; this one may learn of it later.
        try await waitUntil { silent.openConnections == 0 }
        // The first ones made room for others.
        #expect(silent.connections > PinnedHTTPClient.Limits().unansweredConnections)
        try await mute.close()
        await silent.shutdown()
        await answering.shutdown()
    }
}
#endif
