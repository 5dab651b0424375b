#if os(macOS) || os(Linux)
import Foundation

/// The program `grammar-runner`, which is built beside the tests.
enum GrammarRunnerProgram {
    static let url: URL? = {
        let places = [Bundle.main] + Bundle.allBundles
        return places.flatMap { [$0.bundleURL, $0.bundleURL.deletingLastPathComponent()] }
            .map { $0.appending(path: "grammar-runner") }
            .first { url in
                let isFolder = try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory
                return isFolder == false && FileManager.default.isExecutableFile(atPath: url.path)
            }
    }()
}
#endif
