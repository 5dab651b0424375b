import Foundation

/// Where programs of one user keep their data elsewhere than on Apple's platforms (XDG Base Directory Specification).
enum DataFolder {
    /// Holdfast's folder: `holdfast` under `XDG_DATA_HOME`, where a relative path counts as none, or `~/.local/share`.
    static func holdfast(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        home: URL = URL(fileURLWithPath: NSHomeDirectory())
    ) -> URL {
        let given = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
        return (given ?? home.appending(path: ".local/share")).appending(path: "holdfast")
    }
}
