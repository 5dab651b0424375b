import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTUF

/// The root that an app was built with, from the file of `--app-root`.
enum AppRoot {
    /// Reads the file, so that a file of another kind is not taken for a damaged repository.
    static func content(of path: String) throws(CommandFailure) -> Data {
        let data = try InputFile.content(of: path, maximumBytes: TUFSettings().rootBytes)
        let (expected, found): (String, String)
        do throws(TUFError) {
            let role = try TUFMetadataFile(data).role
            guard role != .root else { return data }
            (expected, found) = ("the root metadata", "that of the role \(role.rawValue)")
        } catch {
            (expected, found) = (error.expected, error.found)
        }
        throw CommandFailure(
            .unreadableFile,
            "--app-root \(path): expected \(expected), found \(found). Give the root.json that the app was built with, "
                + "such as public/metadata/1.root.json in the repository's folder.")
    }
}
