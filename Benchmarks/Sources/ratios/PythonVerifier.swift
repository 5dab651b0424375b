import Foundation
import Synchronization
import Workloads

/// Python cryptography's verifier in a process of its own, which is told how often to verify and says when it is done.
final class PythonVerifier: Sendable {
    private struct Pipes {
        let process: Process
        let input: FileHandle
        let output: FileHandle
    }

    let version: String
    private let pipes: Mutex<Pipes>

    /// Nil where there is no Python, or none with the package.
    init?(_ chain: ChainMaterial, in folder: URL) throws {
        var files: [String] = []
        for (index, der) in ([chain.root] + chain.presented).enumerated() {
            let file = folder.appending(path: "\(index).der")
            try Data(der).write(to: file)
            files.append(file.path)
        }
        let script = folder.appending(path: "cryptography_verifier.py")
        try Data(PackageResources.cryptography_verifier_py).write(to: script)
        let (input, output) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script.path] + files + [chain.host.name, String(chain.unixTime)]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard let version = Self.line(output.fileHandleForReading) else { return nil }
        self.version = version
        pipes = Mutex(
            Pipes(
                process: process, input: input.fileHandleForWriting, output: output.fileHandleForReading))
    }

    var workload: Workload {
        Workload("Python cryptography verifier", clock: .wall) { times in
            try self.pipes.withLock { pipes in
                try pipes.input.write(contentsOf: Data("\(times)\n".utf8))
                guard Self.line(pipes.output) != nil else { throw WorkloadError("Python's verifier has ended") }
            }
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
