#if os(macOS) || os(Linux)
package import Foundation
import Synchronization

/// A running program that cannot outlive its owner.
///
/// The program is started beside a shell that reads a pipe whose other end is here. When that end is closed, by
/// `end()`, by the time limit or by the death of this process, however it dies, the shell kills the program.
package final class GuardedProcess: Sendable {
    /// The program ended before it had said what was waited for.
    package struct Failure: Error, CustomStringConvertible {
        package let output: String
        package var description: String { output.isEmpty ? "it ended without a word" : output }

        package init(output: String) {
            self.output = output
        }
    }

    /// The process that we start becomes the program; its child keeps watch. The watch lets go of the output, so that
    /// the end of the program is the end of the output. Neither relies on a signal being delivered but the one that
    /// cannot be blocked: a process started from a thread of Dispatch inherits a mask that blocks almost all.
    private static let watch = """
        program=$$
        exec 3<&0
        { while read -r line <&3; do :; done; kill -9 "$program"; } >/dev/null 2>&1 &
        exec "$@" </dev/null 3<&-
        """

    private let transcript = Transcript()
    private let input: Mutex<FileHandle?>
    private let process = Process()

    package init(_ program: URL, _ arguments: [String], in folder: URL?, limit: Duration) throws {
        let (standardInput, standardOutput) = (Pipe(), Pipe())
        input = Mutex(standardInput.fileHandleForWriting)
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", Self.watch, "watch", program.path] + arguments
        process.currentDirectoryURL = folder
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        process.standardError = standardOutput
        // Not `waitUntilExit()`: on Linux its thread takes a whole core for as long as it waits.
        process.terminationHandler = { [transcript] _ in transcript.processHasTerminated() }
        try process.run()
        // A thread of its own: those of Dispatch are few, and a process may last long.
        let reader = standardOutput.fileHandleForReading
        Thread.detachNewThread { [transcript] in
            while let data = Self.octets(from: reader) { transcript.append(data) }
            transcript.append(Data())
        }
        let (seconds, attoseconds) = limit.components
        DispatchQueue.global().asyncAfter(deadline: .now() + Double(seconds) + Double(attoseconds) * 1e-18) {
            [weak self] in self?.end()
        }
    }

    deinit { end() }

    /// What the program wrote since, waiting for something; nil at the end. Not `availableData`: when a signal interrupts
    /// it, it ends the process of the tests.
    private static func octets(from reader: FileHandle) -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe read(reader.fileDescriptor, $0.baseAddress, $0.count)
            }
            if count > 0 { return Data(buffer[..<count]) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    /// Everything that the program has written so far.
    package var output: String { transcript.text }

    /// Has the program killed, if it still runs; returns at once.
    package func end() {
        let handle = input.withLock { input in
            defer { input = nil }
            return input
        }
        try? handle?.close()
    }

    /// Returns when the program is gone: its exit status, or the number of the signal that ended it.
    @discardableResult
    package func waitUntilGone() async -> Int32 {
        await transcript.waitUntilGone()
        return process.terminationStatus
    }

    /// Returns when the program has ended by itself or by the time limit, with its exit status.
    package func waitForEnd() async -> Int32 {
        // No line will do: it waits for the end of the output.
        _ = await transcript.firstLine { _ in false }
        end()
        return await waitUntilGone()
    }

    /// The first whole line that starts with `prefix`; throws `Failure` if the output ends without it.
    package func firstLine(startingWith prefix: String) async throws -> String {
        let line = await transcript.firstLine { $0.hasPrefix(prefix) }
        guard let line else { throw Failure(output: output) }
        return line
    }
}

/// What a process writes, and those who wait for it.
private final class Transcript: Sendable {
    private struct Reader {
        let isWanted: @Sendable (Substring) -> Bool
        let continuation: CheckedContinuation<String?, Never>
    }

    private struct Values {
        var bytes = Data()
        var hasEnded = false
        var hasTerminated = false
        var readers: [Reader] = []
        var mourners: [CheckedContinuation<Void, Never>] = []

        /// Gone is a process that is no more and all of whose output is here.
        var isGone: Bool { hasEnded && hasTerminated }

        /// Those who need wait no longer.
        mutating func takeMourners() -> [CheckedContinuation<Void, Never>] {
            guard isGone else { return [] }
            defer { mourners = [] }
            return mourners
        }

        func line(where isWanted: (Substring) -> Bool) -> String? {
            // What follows the last line break may be the half of a line.
            String(decoding: bytes, as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .first(where: isWanted).map(String.init)
        }
    }

    private let values = Mutex(Values())

    var text: String { String(decoding: values.withLock { $0.bytes }, as: UTF8.self) }

    /// Takes in what was read; nothing means the end.
    func append(_ data: Data) {
        let (answers, mourners) = values.withLock { values in
            values.bytes += data
            if data.isEmpty { values.hasEnded = true }
            var answers: [(CheckedContinuation<String?, Never>, String?)] = []
            var waiting: [Reader] = []
            for reader in values.readers {
                let line = values.line(where: reader.isWanted)
                if line != nil || values.hasEnded {
                    answers.append((reader.continuation, line))
                } else {
                    waiting.append(reader)
                }
            }
            values.readers = waiting
            return (answers, values.takeMourners())
        }
        for (continuation, line) in answers { continuation.resume(returning: line) }
        for mourner in mourners { mourner.resume() }
    }

    func processHasTerminated() {
        let mourners = values.withLock { values in
            values.hasTerminated = true
            return values.takeMourners()
        }
        for mourner in mourners { mourner.resume() }
    }

    func firstLine(where isWanted: @escaping @Sendable (Substring) -> Bool) async -> String? {
        await withCheckedContinuation { continuation in
            let (isKnown, line) = values.withLock { values in
                let line = values.line(where: isWanted)
                guard line == nil, !values.hasEnded else { return (true, line) }
                values.readers.append(Reader(isWanted: isWanted, continuation: continuation))
                return (false, nil)
            }
            if isKnown { continuation.resume(returning: line) }
        }
    }

    func waitUntilGone() async {
        await withCheckedContinuation { continuation in
            let isGone = values.withLock { values in
                if !values.isGone { values.mourners.append(continuation) }
                return values.isGone
            }
            if isGone { continuation.resume() }
        }
    }
}
#endif
