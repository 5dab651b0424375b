import Foundation
import Synchronization

/// A program of the system.
enum ForeignProgram {
    static func find(_ name: String) throws -> URL {
        let found = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/bin"].map { URL(filePath: $0).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        guard let found else { throw BenchmarkError("\(name) is not installed") }
        return found
    }

    /// Runs it to its end, and returns its output.
    static func run(_ name: String, _ arguments: [String], in folder: URL) async throws -> String {
        let file = folder.appending(path: "output-\(UUID().uuidString)")
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        let process = Process()
        process.executableURL = name.hasPrefix("/") ? URL(filePath: name) : try find(name)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        let status = try await withCheckedThrowingContinuation { (end: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { end.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { end.resume(throwing: error) }
        }
        let text = try String(contentsOf: file, encoding: .utf8)
        guard status == 0 else { throw BenchmarkError("\(name) \(arguments.joined(separator: " ")): \(text)") }
        return text
    }
}

/// A process that runs concurrently with this one, until it is ended.
final class RunningProcess: Sendable {
    private let process: Mutex<Process>
    let id: Int32

    init(_ program: URL, _ arguments: [String], in folder: URL) throws {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        id = process.processIdentifier
        self.process = Mutex(process)
    }

    var isRunning: Bool { process.withLock { $0.isRunning } }

    func end() { if isRunning { kill(id, SIGKILL) } }
}
