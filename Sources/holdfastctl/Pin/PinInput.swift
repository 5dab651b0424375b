import Foundation
import HoldfastOutput

/// Distinguishes whether an argument is a file or a host.
enum PinInput {
    private static let fileEndings = ["pem", "der", "crt", "cer", "key", "csr"]

    static let explanation = """
        An argument is a file if a file with that name exists, if it has a slash in it, or if it ends in .pem, .der, \
        .crt, .cer, .key or .csr; - is standard input. Everything else is a host.
        """

    /// The error of a host that was not found. Its name may be that of a missing file.
    static func noFile(_ failure: CommandFailure, _ host: String) -> CommandFailure {
        guard failure.code == .resolveFailed else { return failure }
        return CommandFailure(.resolveFailed, "\(failure.message), and there is no file \(SafeText.escapedLine(host))")
    }

    /// A file has a slash in its name, exists, or has the ending of such files. A folder does not count if its name is
    /// that of a host, because folders of websites are often named like that.
    static func isFile(_ source: String) -> Bool {
        guard source != InputFile.standard else { return true }
        guard !source.contains("://") else { return false }
        if source.contains("/") || fileEndings.contains(URL(fileURLWithPath: source).pathExtension.lowercased()) {
            return true
        }
        guard FileManager.default.fileExists(atPath: source) else { return false }
        return !KeyFile.isFolder(source) || (try? ServerAddress.hostWithOptionalPort(source)) == nil
    }
}
