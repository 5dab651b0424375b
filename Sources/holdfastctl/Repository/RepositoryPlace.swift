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
        try await Self.state(in: folder, includingDrafts: includingDrafts)
    }

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
