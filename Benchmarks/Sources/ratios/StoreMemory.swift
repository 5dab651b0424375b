import Foundation
import Workloads

/// What a process grows by when it takes in a store, measured in one that has done nothing else.
enum StoreMemory {
    /// Runs this program again to measure it there.
    static func measureInChild(entries: Int) throws -> Int {
        let text = try ChildProcess.output(["memory-of", "\(entries)"])
        guard let bytes = Int(text) else { throw WorkloadError("no figure but \(text)") }
        return bytes
    }

    /// Bytes that stay resident for a store of so many entries.
    static func measure(entries: Int) throws -> Int {
        let file = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString).json")
        try StoreWorkloads.document(entries: 10).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        // A small store first, so that what every store needs once is not counted.
        let small = try StoreWorkloads.store(try Data(contentsOf: file))
        try StoreWorkloads.document(entries: entries).write(to: file)
        let before = try residentBytes()
        let store = try StoreWorkloads.store(try Data(contentsOf: file))
        let after = try residentBytes()
        guard store.entryCount == entries, small.entryCount == 10 else { throw WorkloadError("entries are missing") }
        return after - before
    }

    private static func residentBytes() throws -> Int {
        let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        guard words.count > 1, let pages = Int(words[1]) else { throw WorkloadError("/proc/self/statm cannot be read") }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}

/// This program again, with other arguments.
enum ChildProcess {
    static func output(_ arguments: [String], onOneCore: Bool = false) throws -> String {
        let process = Process()
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).path
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = (onOneCore ? ["taskset", "-c", "0"] : []) + [program] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw WorkloadError("\(arguments) ended with an error") }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
