#if os(macOS) || os(Linux)
import Foundation
import HoldfastTestSupport
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@testable import HoldfastPublishing

/// SwiftNIO's sockets are not marked close-on-exec.
@Suite("Descriptors of programs that are started", .timeLimit(.minutes(5)))
struct InheritedDescriptorsTests {
    /// Prints which descriptors above standard error its shell has, up to the one that the test looks for.
    private static func script(upTo last: Int32) -> String {
        "i=3; while [ $i -le \(last) ]; do if [ -e /dev/fd/$i ]; then echo $i; fi; i=$((i + 1)); done; echo looked"
    }

    /// Runs a body while a socket of SwiftNIO listens, and gives it the highest descriptor that it may have.
    private static func whileListening(_ body: (Int32) async throws -> Void) async throws {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        // The lowest free number: the socket has a lower one, or one that was free before.
        let free = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        close(free)
        do {
            try await body(max(free, 64))
            try await listener.close().get()
        } catch {
            try? await listener.close().get()
            throw error
        }
    }

    @Test("A signer's program has no socket of this process")
    func signer() async throws {
        try await Self.whileListening { last in
            let process = try SignerProcess(["/bin/sh", "-c", Self.script(upTo: last)], input: [])
            guard case .printed(let octets) = process.finish(within: .seconds(100), atMost: 10_000) else {
                Issue.record("it printed nothing")
                return
            }
            #expect(String(decoding: octets, as: UTF8.self) == "looked\n")
        }
    }

    @Test("A program that a test starts has no socket of the test")
    func program() async throws {
        try await Self.whileListening { last in
            let child = try ChildProcess("/bin/sh", ["-c", Self.script(upTo: last)])
            var output = Data()
            while let more = child.octets(), !more.isEmpty { output += more }
            #expect(child.wait() == 0)
            #expect(String(decoding: output, as: UTF8.self) == "looked\n")
        }
    }
}
#endif
