import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// The folder of a repository, for every verb.
struct RepositoryPlace: ParsableArguments {
    @Argument(help: ArgumentHelp("The folder of the repository.", valueName: "folder"), completion: .directory)
    var path: String

    var folder: TUFRepositoryFolder { Self.folder(path) }

    /// The folder as a word of the next shell command.
    var shellWord: String { SafeText.shellWord(path) }

    func validate() throws {
        // A script's variable that is not set would name the current folder.
        guard !path.isEmpty else { throw ValidationError("The folder of the repository has no name.") }
    }

    static func folder(_ path: String) -> TUFRepositoryFolder { TUFRepositoryFolder(URL(fileURLWithPath: path)) }

    /// Prevents other commands from changing the folder at the same time.
    func lock() throws(CommandFailure) -> FileLock {
        // The lock is next to the folder.
        let parent = folder.folder.resolvingSymlinksInPath().deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: parent.path) else {
            throw CommandFailure(
                .unwritableFile, "\(path) cannot be made: there is no folder \(parent.path); make it first")
        }
        return try ChangeLock.on(folder.folder, for: path)
    }

    /// Whether there is a repository in the folder.
    var isThere: Bool {
        get async throws(CommandFailure) {
            do throws(TUFRepositoryError) {
                return try await folder.isThere()
            } catch {
                throw CommandFailure(error)
            }
        }
    }

    func state(includingDrafts: Bool = true) async throws(CommandFailure) -> TUFRepositoryState {
        try await RepositoryReading.state(in: folder, includingDrafts: includingDrafts)
    }

    /// The pins of clients that were built with the first root; nil if nothing is published.
    static func published(
        _ live: TUFRepositoryState.Live, in folder: TUFRepositoryFolder, at now: Date
    ) async throws(CommandFailure) -> PublishedPins? {
        let bundle: Data?
        do throws(TUFRepositoryError) {
            bundle = try await folder.publishedBundle()
        } catch {
            throw CommandFailure(error)
        }
        guard let bundle, let root = live.roots.first?.data else { return nil }
        return try CommandFailure.rethrowing { () throws(PublishingError) in
            try PublishedPins(bundle: bundle, root: root, named: "the published pins", at: now)
        }
    }

    /// The documents of clients that have not updated since: from the folder, and from options.
    /// - Parameters:
    ///   - all: the roots with which apps were built; duplicates are allowed.
    ///   - held: the options.
    static func earlier(
        than live: TUFRepositoryState.Live, in folder: TUFRepositoryFolder, provedFrom all: [Data],
        _ held: HeldDocumentOptions, at now: Date
    ) async throws(CommandFailure) -> EarlierDocuments {
        var roots: [Data] = []
        for root in all where !roots.contains(root) { roots.append(root) }
        var earlier = EarlierDocuments()
        for root in roots {
            earlier.add(
                await folder.earlierDocuments(
                    than: live, provedFrom: root, staleness: .seconds(held.staleness.seconds), at: now))
        }
        earlier.name(try held.earlier.bundles(provedFrom: roots))
        return earlier
    }

    /// The error for verbs that need a published repository.
    var unpublished: CommandFailure {
        CommandFailure(
            .notSigned,
            "nothing is published in \(path): publish first, with `holdfastctl repository publish \(shellWord) --key "
                + "ONLINE-KEY`")
    }

    func write(_ state: TUFRepositoryState) async throws(CommandFailure) {
        do throws(TUFRepositoryError) {
            try await folder.writeDrafts(state)
        } catch {
            throw CommandFailure(error)
        }
    }
}
