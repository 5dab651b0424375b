import Foundation
import Workloads

/// The growth of a process that loads a store, measured in one that has done nothing else.
enum StoreMemory {
    /// Runs this program again: once to write the list, once to read it and to measure there.
    static func measureInChildren(entries: Int, in folder: URL) throws -> Int {
        _ = try ChildProcess.output(["write-list", "\(entries)", folder.path])
        let text = try ChildProcess.output(["read-list", "\(entries)", folder.path])
        guard let bytes = Int(text) else { throw WorkloadError("no figure but \(text)") }
        return bytes
    }

    /// Bytes that stay resident for a store of this number of entries.
    static func measure(entries: Int, in folder: URL) async throws -> Int {
        // Load a small store first, so that the one-time cost of every store is not counted.
        let small = StoredList(entries: 10, in: folder.appending(path: "small"))
        try await small.write()
        let other = try small.read()
        let before = try residentBytes()
        let store = try StoredList(entries: entries, in: folder).read()
        let after = try residentBytes()
        return withExtendedLifetime((other, store)) { after - before }
    }

    /// Bytes that stay resident for a revocation list of this number of entries, in addition to its DER.
    static func measureRevocationList(entries: Int) throws -> Int {
        let small = try RevocationListWorkloads(entries: 10).read()
        let workloads = try RevocationListWorkloads(entries: entries)
        let before = try residentBytes()
        let list = try workloads.read()
        let after = try residentBytes()
        return withExtendedLifetime((small, list)) { after - before }
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
