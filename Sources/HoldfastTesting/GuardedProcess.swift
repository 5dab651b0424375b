#if os(macOS) || os(Linux)
package import Foundation
import Holdfast

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
        cd "$1" || exit 126
        shift
        program=$$
        exec 3<&0
        { while read -r line <&3; do :; done; kill -9 "$program"; } >/dev/null 2>&1 &
        exec "$@" </dev/null 3<&-
        """

    private let transcript = Transcript()
    private let input: Lock<FileHandle?>

    package init(_ program: URL, _ arguments: [String], in folder: URL?, limit: Duration) throws {
        let child = try ChildProcess(
            "/bin/sh", ["-c", Self.watch, "watch", folder?.path ?? ".", program.path] + arguments)
        input = Lock(child.input)
        // A thread of its own: those of Dispatch are few, and a process may last long.
        Thread.detachNewThread { [transcript] in
            while let data = child.octets() { transcript.append(data) }
            transcript.append(Data())
            transcript.processHasTerminated(status: child.wait())
        }
        let (seconds, attoseconds) = limit.components
        DispatchQueue.global().asyncAfter(deadline: .now() + Double(seconds) + Double(attoseconds) * 1e-18) {
            [weak self] in self?.end()
        }
    }

    deinit { end() }

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
    }

    /// Returns when the program has ended by itself or by the time limit, with its exit status.
    package func waitForEnd() async -> Int32 {
        // Not at the end of the output: a program may close that just before it exits, and would be killed in between.
        let status = await waitUntilGone()
        end()
        return status
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
        /// The exit status, or the number of the signal that ended it; nil while it runs.
        var status: Int32?
        var readers: [Reader] = []
        var mourners: [CheckedContinuation<Int32, Never>] = []

        func line(where isWanted: (Substring) -> Bool) -> String? {
            // What follows the last line break may be the half of a line.
            String(decoding: bytes, as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .first(where: isWanted).map(String.init)
        }
    }

    private let values = Lock(Values())

    var text: String { String(decoding: values.withLock { $0.bytes }, as: UTF8.self) }

    /// Takes in what was read; nothing means the end.
    func append(_ data: Data) {
        let answers = values.withLock { values in
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
            return answers
        }
        for (continuation, line) in answers { continuation.resume(returning: line) }
    }

    /// Called once all of its output is here.
    func processHasTerminated(status: Int32) {
        let mourners = values.withLock { values in
            values.status = status
            defer { values.mourners = [] }
            return values.mourners
        }
        for mourner in mourners { mourner.resume(returning: status) }
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

    func waitUntilGone() async -> Int32 {
        await withCheckedContinuation { continuation in
            let status = values.withLock { values in
                if values.status == nil { values.mourners.append(continuation) }
                return values.status
            }
            if let status { continuation.resume(returning: status) }
        }
    }
}
#endif
