package import Foundation

/// Where the programs of a user keep their data on platforms other than Apple's (XDG Base Directory Specification).
package enum DataFolder {
    /// Holdfast's folder: `holdfast` under `XDG_DATA_HOME`, where a relative path is ignored, or `~/.local/share`.
    package static func holdfast(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        home: URL = URL(fileURLWithPath: NSHomeDirectory())
    ) -> URL {
        let given = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
        return (given ?? home.appending(path: ".local/share")).appending(path: "holdfast")
    }
}

#if canImport(Security)
/// The folder of one application inside a folder that it may share: outside a sandbox, all applications of a user on
/// macOS have the same folder for data.
enum ApplicationFolder {
    /// The application's own folder.
    /// - Parameters:
    ///   - identifier: the identifier of the application's bundle; a program without a bundle uses its name.
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
