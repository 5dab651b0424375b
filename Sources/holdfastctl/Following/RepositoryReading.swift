import Foundation
import HoldfastOutput
import HoldfastPublishing

/// Reads the folder of a repository for commands.
enum RepositoryReading {
    /// Reads the repository.
    /// - Throws: ``CommandFailure`` with the remedy for what is in the folder instead.
    static func state(
        in folder: TUFRepositoryFolder, includingDrafts: Bool = true
    ) async throws(CommandFailure) -> TUFRepositoryState {
        do throws(TUFRepositoryError) {
            return try await folder.state(includingDrafts: includingDrafts)
        } catch {
            guard error.code == .wrongPlace else { throw CommandFailure(error) }
            throw noRepository(in: folder.folder)
        }
    }

    /// The error for a folder in which no repository begins, with the remedy for what is in it instead.
    private static func noRepository(in folder: URL) -> CommandFailure {
        func has(_ path: String) -> Bool {
            FileManager.default.fileExists(atPath: folder.appending(path: path).path)
        }
        let path = SafeText.shellWord(folder.path)
        if has("public/metadata") || has("public/bundle.json") {
            return CommandFailure(
                .invalidList,
                "damaged: expected the first root, \(folder.path)/public/metadata/1.root.json, found none. Put the file back "
                    + "from a copy, from the web server, or from the app that was built with it.")
        }
        if has("metadata/timestamp.json") || has("metadata/1.root.json") {
            return CommandFailure(
                .unreadableFile,
                "wrongPlace: expected the folder of a repository, found its folder public: \(folder.path). Name the folder that "
                    + "contains it: \(SafeText.shellWord(folder.deletingLastPathComponent().path))")
        }
        return CommandFailure(
            .unreadableFile,
            "wrongPlace: expected a repository in \(folder.path), found none. Name the folder of the repository; "
                + "`holdfastctl repository init \(path) --small --offline-key OFFLINE-KEY --online-key ONLINE-KEY` begins one."
        )
    }
}
