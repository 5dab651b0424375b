import Foundation

/// Who runs on which processor: what answers has one to itself, and what asks has another. Otherwise a figure says how the
/// kernel happened to divide both between the two.
enum Cores {
    /// The first, for whatever answers.
    private static let answering = "0"
    /// The last, for whatever asks.
    static var asking: String { "\(ProcessInfo.processInfo.processorCount - 1)" }

    /// Runs a closure while this process, with all its threads and what it starts, has one processor.
    static func apart(in folder: URL, _ body: () async throws -> Void) async throws {
        try await keep(on: answering, in: folder)
        try await body()
        try await keep(on: "0-\(asking)", in: folder)
    }

    private static func keep(on cores: String, in folder: URL) async throws {
        _ = try await ForeignProgram.run("taskset", ["-a", "-c", "-p", cores, "\(getpid())"], in: folder)
    }
}
