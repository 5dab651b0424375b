import Foundation

/// A program that the machine may have, and that shares no code with this one.
struct DemoProgram: Sendable {
    private let url: URL

    /// Finds it; nil if it is not installed.
    init?(_ name: String) {
        let places = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/bin"]
            .map { URL(filePath: $0).appending(path: name) }
        guard let found = places.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            return nil
        }
        url = found
    }

    /// Runs it to its end, without keeping a thread waiting.
    /// - Returns: whether it was content.
    func succeeds(with arguments: [String]) async throws -> Bool {
        let process = Process()
        process.executableURL = url
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return try await withCheckedThrowingContinuation { end in
            process.terminationHandler = { end.resume(returning: $0.terminationStatus == 0) }
            do { try process.run() } catch { end.resume(throwing: error) }
        }
    }
}
