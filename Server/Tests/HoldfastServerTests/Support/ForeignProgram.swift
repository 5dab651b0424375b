import Foundation
import Synchronization

/// A program of the system that tests run.
enum ForeignProgram {
    static let areRequired = ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN_PEERS"] == "1"

    /// Where a program is; nil if it is not installed.
    static func find(_ name: String) -> URL? {
        ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin", "/bin"]
            .map { URL(filePath: $0).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Whether a test with it runs: where foreign programs are required, it runs and fails without it.
    static func isTested(_ name: String) -> Bool { areRequired || find(name) != nil }

    /// Where a program is.
    /// - Throws: if it is not installed.
    static func required(_ name: String) throws -> URL {
        guard let program = find(name) else { throw CocoaError(.fileNoSuchFile) }
        return program
    }

    /// Runs it to its end.
    /// - Returns: its status and standard output.
    static func run(_ name: String, _ arguments: [String], in folder: URL) async throws -> (status: Int32, output: Data)
    {
        try await run(required(name), arguments, in: folder, withErrors: false)
    }

    /// Runs it to its end.
    ///
    /// Swift's pool has as many threads as the machine has cores. None of them waits here: two tests that did would
    /// stop every other test of a machine with two.
    /// - Parameters:
    ///   - withErrors: whether standard error is kept as well, where it was written.
    ///   - environment: variables beside those of the tests.
    ///   - input: the file that it reads as standard input; nil for none.
    static func run(
        _ program: URL, _ arguments: [String], in folder: URL, withErrors: Bool, environment: [String: String] = [:],
        input: URL? = nil
    ) async throws -> (status: Int32, output: Data) {
        let file = FileManager.default.temporaryDirectory.appending(path: "holdfast-output-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = try FileHandle(forWritingTo: file)
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = try input.map { try FileHandle(forReadingFrom: $0) } ?? FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = withErrors ? output : FileHandle.nullDevice
        // A program that serves instead of ending would block forever. Killed, it has a status that no test expects.
        let watchdog = DispatchWorkItem { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(300), execute: watchdog)
        let waiting = Mutex<CheckedContinuation<Int32, any Error>?>(nil)
        @Sendable func end(_ result: Result<Int32, any Error>) { waiting.withLock { $0.take() }?.resume(with: result) }
        // As with `ServingProcess`, its end may go unseen.
        let last = DispatchWorkItem { end(.success(ServingProcess.unknown)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(320), execute: last)
        defer {
            watchdog.cancel()
            last.cancel()
        }
        let status = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Int32, any Error>) in
            waiting.withLock { $0 = continuation }
            process.terminationHandler = { end(.success($0.terminationStatus)) }
            do { try process.run() } catch { end(.failure(error)) }
        }
        return (status, try Data(contentsOf: file))
    }
}
