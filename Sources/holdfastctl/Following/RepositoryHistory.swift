import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// A repository in a folder on this machine, with its earlier publications.
struct RepositoryHistory {
    private let path: String
    private let folder: TUFRepositoryFolder
    private let live: TUFRepositoryState.Live

    /// Whether a text names a folder and is no URL.
    static func isFolder(_ text: String) -> Bool {
        guard !text.contains("://") else { return false }
        var isDirectory: ObjCBool = false
        let isThere = unsafe FileManager.default.fileExists(atPath: text, isDirectory: &isDirectory)
        return isThere && isDirectory.boolValue
    }

    /// Reads the folder.
    init(_ path: String) async throws(CommandFailure) {
        self.path = path
        folder = TUFRepositoryFolder(URL(fileURLWithPath: path))
        let state = try await RepositoryReading.state(in: folder, includingDrafts: false)
        guard let live = state.live else {
            throw CommandFailure(
                .unreadableFile, "nothing is published in \(path): publish its pins with holdfastctl repository publish"
            )
        }
        self.live = live
    }

    /// The pins of clients that were built with a root.
    func pins(root: Data, at now: Date) async throws(CommandFailure) -> PublishedPins {
        let bundle: Data?
        do throws(TUFRepositoryError) {
            bundle = try await folder.publishedBundle()
        } catch {
            throw CommandFailure(error)
        }
        guard let bundle else {
            throw CommandFailure(
                .unreadableFile,
                "\(path) has no public/bundle.json, which apps fetch. Write it again: "
                    + "`holdfastctl repository renew \(SafeText.shellWord(path)) --key ONLINE-KEY`")
        }
        do throws(PublishingError) {
            return try PublishedPins(bundle: bundle, root: root, named: "the repository \(path)", at: now)
        } catch {
            guard !live.roots.contains(where: { $0.data == root }) else { throw CommandFailure(error) }
            throw CommandFailure(
                .invalidList,
                "--app-root: expected a root of the repository \(path), found that of another one. Give the root.json that "
                    + "the app was built with; the first one of this repository is "
                    + "\(SafeText.shellWord(path))/public/metadata/1.root.json.")
        }
    }

    /// The documents of clients that have not updated since other pins were published.
    func earlier(provedFrom root: Data, staleness: Duration, at now: Date) async -> EarlierDocuments {
        await folder.earlierDocuments(than: live, provedFrom: root, staleness: staleness, at: now)
    }
}
