import Foundation

/// Whether an argument is a file or a host.
enum PinSource {
    private static let fileEndings = ["pem", "der", "crt", "cer", "key", "csr"]

    /// A file has a slash, is there, or ends as such files do.
    static func isFile(_ source: String) -> Bool {
        guard !source.contains("://") else { return false }
        return source.contains("/") || FileManager.default.fileExists(atPath: source)
            || fileEndings.contains(URL(fileURLWithPath: source).pathExtension.lowercased())
    }
}
