import Foundation
import Synchronization
import Workloads

/// A running Python program that reads one command per line, and prints a line after each.
final class PythonProcess: Sendable {
    private struct Pipes {
        let process: Process
        let input: FileHandle
        let output: FileHandle
    }

    /// The first line that it prints, with its version.
    let version: String
    private let pipes: Mutex<Pipes>

    /// Nil if the program ends before it has printed a line, because Python or a package is missing.
    /// - Parameter python: the interpreter, found along the path.
    init?(_ script: URL, _ arguments: [String] = [], python: String = "python3") throws {
        let (input, output) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [python, script.path] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard let version = Self.line(output.fileHandleForReading) else { return nil }
        self.version = version
        pipes = Mutex(
            Pipes(
                process: process, input: input.fileHandleForWriting, output: output.fileHandleForReading))
    }

    /// Sends it a line and waits until it has done the work.
    func run(_ line: String) throws {
        try pipes.withLock { pipes in
            try pipes.input.write(contentsOf: Data("\(line)\n".utf8))
            guard Self.line(pipes.output) != nil else { throw WorkloadError("the Python program has ended") }
        }
    }

    func end() {
        pipes.withLock { pipes in
            try? pipes.input.close()
            pipes.process.waitUntilExit()
        }
    }

    private static func line(_ output: FileHandle) -> String? {
        var line = Data()
        while let octet = try? output.read(upToCount: 1), !octet.isEmpty {
            if octet == Data("\n".utf8) { return String(decoding: line, as: UTF8.self) }
            line += octet
        }
        return nil
    }
}
