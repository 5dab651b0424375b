import Foundation
import HoldfastTestSupport

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
}

#if os(macOS) || os(Linux)
extension ForeignProgram {
    /// Files of the folder, as a test needs them.
    static func interopData(_ path: String) -> ForeignProgram {
        ForeignProgram(
            "\(path) of the conformance data", .setting("HOLDFAST_INTEROP_DATA"),
            canRun: InteropData.file(path) != nil)
    }
}
#endif
