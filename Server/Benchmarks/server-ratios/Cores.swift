import Foundation

/// Assigns processors: the answering process has one to itself, and the asking process has another. Otherwise a figure
/// depends on how the kernel divides both between the two.
enum Cores {
    /// The first, for answering processes.
    private static let answering = "0"
    /// The last, for asking processes.
    static var asking: String { "\(ProcessInfo.processInfo.processorCount - 1)" }

    /// Runs a closure while this process, with all its threads and child processes, has one processor.
    static func apart(in folder: URL, _ body: () async throws -> Void) async throws {
        try await keep(on: answering, in: folder)
        try await body()
        try await keep(on: "0-\(asking)", in: folder)
    }

    private static func keep(on cores: String, in folder: URL) async throws {
        _ = try await ForeignProgram.run("taskset", ["-a", "-c", "-p", cores, "\(getpid())"], in: folder)
    }
}
