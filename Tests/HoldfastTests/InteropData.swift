import Foundation

/// Real files of other systems, kept beside the project: `HOLDFAST_INTEROP_DATA`, or `../shared/data`.
enum InteropData {
    static let folder: URL? = {
        let environment = ProcessInfo.processInfo.environment
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let candidates = [
            environment["HOLDFAST_INTEROP_DATA"].map { URL(fileURLWithPath: $0) },
            package.deletingLastPathComponent().appending(path: "shared/data"),
        ]
        return candidates.compactMap(\.self).first { FileManager.default.fileExists(atPath: $0.path) }
    }()

    /// A file of the folder; nil where the folder or the file is not there.
    static func file(_ path: String) -> URL? {
        guard let url = folder?.appending(path: path), FileManager.default.fileExists(atPath: url.path) else {
            return nil
        }
        return url
    }

    /// Whether to run a test that needs a file: where foreign data is required, it runs and fails without it.
    static func isAvailable(_ path: String) -> Bool {
        file(path) != nil || ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN_PEERS"] == "1"
    }
}
