#if os(macOS) || os(Linux)
package import Foundation
import Holdfast

/// A running program that cannot outlive its owner.
///
/// A shell beside the program reads a pipe whose other end is here. When that end is closed, by `end()`, by the time
/// limit or because this process ends in any way, the shell kills the program.
package final class GuardedProcess: Sendable {
    /// The program ended before it wrote the line that the caller was waiting for.
    package struct Failure: Error, CustomStringConvertible {
        package let output: String
        package var description: String { output.isEmpty ? "it ended without a word" : output }

        package init(output: String) {
            self.output = output
        }
    }

    /// The process that we start becomes the program, and its child keeps watch. The child closes its output, so that
    /// the output ends when the program ends. It relies only on SIGKILL, which cannot be blocked: a process that is
    /// started from a Dispatch thread inherits a mask that blocks almost all signals.
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
        // This needs its own thread: Dispatch has few, and a process may run for a long time.
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

    /// Has the program killed if it is still running, and returns at once.
    package func end() {
        let handle = input.withLock { input in
            defer { input = nil }
            return input
        }
        try? handle?.close()
    }

    /// Waits until the program is gone, and returns its exit status, or the number of the signal that ended it. If the
    /// task is canceled, as by the time limit of a test, the program is killed.
    @discardableResult
    package func waitUntilGone() async -> Int32 {
        await withTaskCancellationHandler {
            await transcript.waitUntilGone()
        } onCancel: {
            end()
        }
    }

    /// Waits until the program has ended by itself or by the time limit, and returns its exit status, or the number of
    /// the signal that ended it.
    package func waitForEnd() async -> Int32 {
        // Do not wait for the end of the output: a program may close it just before it exits, and would be killed in
        // between.
        let status = await waitUntilGone()
        end()
        return status
    }

    /// The first whole line that starts with `prefix`; throws `Failure` if the output ends without it. If the task is
    /// canceled, as by the time limit of a test, the program is killed.
    package func firstLine(startingWith prefix: String) async throws -> String {
        let line = await withTaskCancellationHandler {
            await transcript.firstLine { $0.hasPrefix(prefix) }
        } onCancel: {
            end()
        }
        guard let line else { throw Failure(output: output) }
        return line
    }
}

/// The output of a process, and the tasks that wait for it.
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
            // The text after the last line break may be only part of a line.
            String(decoding: bytes, as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .first(where: isWanted).map(String.init)
        }
    }

    private let values = Lock(Values())

    var text: String { String(decoding: values.withLock { $0.bytes }, as: UTF8.self) }

    /// Adds output; empty data means the end.
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

    /// Called after all output has arrived.
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
