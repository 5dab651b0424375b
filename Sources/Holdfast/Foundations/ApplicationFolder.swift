#if canImport(Security)
import Foundation

/// The folder of one application inside a folder that it may share: outside a sandbox, all applications of a user on
/// macOS have the same folder for data.
enum ApplicationFolder {
    /// The application's own folder.
    /// - Parameters:
    ///   - identifier: of the application's bundle; a program without one goes by its name.
    ///   - process: the program's name.
    static func own(
        in shared: URL, identifier: String? = Bundle.main.bundleIdentifier,
        process: String = ProcessInfo.processInfo.processName
    ) -> URL {
        let name = identifier.flatMap { $0.isEmpty ? nil : $0 } ?? process
        return shared.appending(path: name, directoryHint: .isDirectory)
    }
}
#endif
