import Foundation

@testable import ServerFoundation

/// Runs a test with a folder of its own, which is gone afterwards.
func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        .appending(path: "holdfast-server-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

/// Crypto has a protocol of this name; here the SHA-256 is meant.
typealias Digest = ServerFoundation.Digest
