#if os(macOS) || os(Linux)
import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("A guarded process", .timeLimit(.minutes(15)))
struct GuardedProcessTests {
    private let shell = URL(filePath: "/bin/sh")

    @Test("The output and the status of a program that ends by itself are returned")
    func end() async throws {
        let process = try GuardedProcess(
            shell, ["-c", "echo one; echo two >&2; exit 3"], in: nil, limit: .seconds(60))
        #expect(try await process.firstLine(startingWith: "tw") == "two")
        #expect(await process.waitForEnd() == 3)
        #expect(process.output == "one\ntwo\n")
    }

    @Test("A program that does not end is killed when its time is up")
    func limit() async throws {
        let process = try GuardedProcess(shell, ["-c", "exec sleep 1000"], in: nil, limit: .milliseconds(20))
        #expect(await process.waitForEnd() == 9)
    }

    @Test("A program that its owner ends is killed, and a line that it never writes is an error")
    func ended() async throws {
        let process = try GuardedProcess(
            shell, ["-c", "echo ready; exec sleep 1000"], in: nil, limit: .seconds(100))
        _ = try await process.firstLine(startingWith: "ready")
        process.end()
        await #expect(throws: GuardedProcess.Failure.self) { try await process.firstLine(startingWith: "never") }
        #expect(await process.waitUntilGone() == 9)
    }

    @Test("A program goes with its owner")
    func owner() async throws {
        try await withTemporaryFolder { folder in
            let pipe = folder.appending(path: "pipe").path
            let maker = try GuardedProcess(shell, ["-c", "mkfifo \(pipe)"], in: nil, limit: .seconds(60))
            try #require(await maker.waitForEnd() == 0)
            // The reader ends when the last writer of the pipe does, and that is the program without an owner.
            let reader = try GuardedProcess(shell, ["-c", "cat <\(pipe)"], in: nil, limit: .seconds(60))
            do {
                let writer = try GuardedProcess(
                    shell, ["-c", "exec 4>\(pipe); echo ready; echo begun >&4; exec sleep 1000"], in: nil,
                    limit: .seconds(100))
                _ = try await writer.firstLine(startingWith: "ready")
            }
            #expect(await reader.waitForEnd() == 0)
            #expect(reader.output == "begun\n")
        }
    }
}
#endif
