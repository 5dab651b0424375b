public import Foundation
import Holdfast
package import HoldfastTUF

/// The folder of a repository: `public`, which any web server serves as it is, and `draft`, which the keyholders pass
/// on to each other.
///
/// `public` contains `bundle.json`, and the folders `metadata` and `targets` as every TUF client knows them.
/// `replaced.json` lists what was served before, which ``uploadPlan(at:)`` needs. A caller that changes the folder must
/// make sure that nobody else changes it at the same time.
public struct TUFRepositoryFolder: Sendable {
    /// The folder.
    public let folder: URL

    /// Names a folder. It reads and creates nothing yet.
    public init(_ folder: URL) { self.folder = folder }

    /// The folder that a web server serves.
    public var published: URL { folder.appending(path: "public") }
    private var draft: URL { folder.appending(path: "draft") }

    /// The file in which clients find everything.
    static let bundleName = "bundle.json"
    private static let (rootDraft, targetsDraft, pinsDraft) = ("root.json", "targets.json", "pins.json")
    private static let maximumPinFile = TUFSettings().targetBytes
    static let maximumBundle = 64 << 20

    /// Whether a repository is published or prepared in the folder.
    public var isThere: Bool {
        [published.appending(path: "metadata/1.root.json"), draft.appending(path: Self.rootDraft)].contains {
            FileManager.default.fileExists(atPath: $0.path)
        }
    }

    // MARK: Reading

    /// The published repository, as clients find it that download file by file.
    package var source: some RepositorySource { TUFFolderSource(folder: published) }

    /// The published bundle; nil if there is none.
    /// - Throws: ``TUFRepositoryError`` `storage`.
    package func publishedBundle() throws(TUFRepositoryError) -> Data? {
        try read(published.appending(path: Self.bundleName), atMost: Self.maximumBundle)
    }

    /// Reads the state. It verifies the published repository as a client with the first root does, except that expired
    /// metadata is not an error.
    /// - Parameter includesDrafts: whether to read the drafts as well. Without them, a damaged draft keeps nobody from
    ///   renewing what is published.
    /// - Throws: ``TUFRepositoryError``.
    public func state(
        includingDrafts includesDrafts: Bool = true
    ) async throws(TUFRepositoryError) -> TUFRepositoryState {
        guard isThere else {
            throw TUFRepositoryError(
                .wrongPlace, expected: "a repository in \(folder.path)", found: "none",
                remedy: "Name the folder, or begin a repository there.")
        }
        var state = TUFRepositoryState(live: try await live())
        guard includesDrafts else { return state }
        state.draftRoot = try file(Self.rootDraft)
        state.draftTargets = try file(Self.targetsDraft)
        state.draftPins = try read(draft.appending(path: Self.pinsDraft), atMost: Self.maximumPinFile)
        // A publication that was killed halfway leaves drafts that are published already.
        if TUFRepositoryState.isPublished(state.draftRoot, as: state.live?.root) { state.draftRoot = nil }
        if TUFRepositoryState.isPublished(state.draftTargets, as: state.live?.targets) {
            (state.draftTargets, state.draftPins) = (nil, nil)
        }
        if state.draftTargets == nil { state.draftPins = nil }
        return state
    }

    /// What clients get; nil before the first timestamp is published, because without one clients get nothing.
    private func live() async throws(TUFRepositoryError) -> TUFRepositoryState.Live? {
        let source = TUFFolderSource(folder: published)
        guard FileManager.default.fileExists(atPath: published.appending(path: "metadata/timestamp.json").path) else {
            // In the first publication, the root is written before the timestamp, and its draft is removed at the end.
            let isBegun = FileManager.default.fileExists(atPath: published.appending(path: "metadata/1.root.json").path)
            guard !isBegun || FileManager.default.fileExists(atPath: draft.appending(path: Self.rootDraft).path) else {
                throw TUFRepositoryError(
                    .damaged, of: "timestamp.json", expected: "the timestamp in \(published.path)/metadata",
                    found: "none", remedy: "Put the folder back from a copy, or from what the web server serves.")
            }
            return nil
        }
        guard let first = try read(published.appending(path: "metadata/1.root.json"), atMost: TUFSettings().rootBytes)
        else {
            throw TUFRepositoryError(
                .damaged, expected: "the first root in \(published.path)/metadata", found: "none")
        }
        do throws(TUFError) {
            let trusted = TUFTrustedFiles()
            let client = TUFClient(
                store: trusted, source: source, trustedRoot: first, settings: TUFRehearsalClient.settings,
                clock: TUFFixedClock.beforeEverything)
            let update = try await client.refresh()
            let pins = try await update.data(of: update.target(TUFContents.target))
            var roots = [try TUFMetadataFile(first)]
            while let next = trusted["root_history/\(roots.count + 1).root.json"] {
                roots.append(try TUFMetadataFile(next))
            }
            func file(_ name: String) throws(TUFError) -> TUFMetadataFile {
                try TUFMetadataFile(trusted[name] ?? Data())
            }
            return TUFRepositoryState.Live(
                roots: roots, timestamp: try file("timestamp.json"), snapshot: try file("snapshot.json"),
                targets: try file("targets.json"), pins: pins)
        } catch {
            throw TUFRepositoryError(
                .damaged, of: error.subject, expected: error.expected,
                found: "\(error.found) (\(error.code.rawValue))")
        }
    }

    /// Has a client with the first root update from the published repository, from `bundle.json` and file by file.
    /// - Parameter time: the current time.
    /// - Throws: ``TUFRepositoryError`` `refusedByClients`, `outOfStep`, `damaged` if there is no root, `storage`.
    public func verify(at time: Date) async throws(TUFRepositoryError) {
        guard let root = try read(published.appending(path: "metadata/1.root.json"), atMost: TUFSettings().rootBytes)
        else {
            throw TUFRepositoryError(.damaged, expected: "the first root in \(published.path)/metadata", found: "none")
        }
        let problem: String
        do {
            let source = TUFFolderSource(folder: published)
            _ = try await TUFRehearsalClient(root: root).pins(from: source, at: time)
            guard let bundle = try publishedBundle() else {
                throw TUFRepositoryError(.refusedByClients, expected: "bundle.json", found: "no bundle.json")
            }
            _ = try PinBundle.proved(bundle, root: root, clock: TUFFixedClock(now: time))
            if let live = try await live() { try Self.requireSame(bundle, live) }
            return
        } catch let error as TUFRepositoryError {
            throw error
        } catch let error as TUFError {
            problem = error.description
        } catch {
            problem = (error as? StoreError).map { "bundle.json: \($0.found)" } ?? ForeignErrorText.found(error)
        }
        throw TUFRepositoryError(.refusedByClients, expected: "a repository that clients accept", found: problem)
    }

    /// Compares the bundle with the files. They are written and verified separately, and an old bundle verifies too.
    private static func requireSame(_ data: Data, _ live: TUFRepositoryState.Live) throws {
        let bundle = try RepositoryBundle([UInt8](data), maximumBytes: maximumBundle)
        func require(_ role: TUFRole, _ bundled: Int64?, _ file: Int64, isSame: Bool) throws(TUFRepositoryError) {
            guard !isSame else { return }
            let version = bundled.map { "\($0)\($0 == file ? " of another content" : "")" } ?? "that cannot be read"
            throw TUFRepositoryError(
                .outOfStep, of: "bundle.json", expected: "\(role.rawValue) \(file)",
                found: "\(role.rawValue) \(version)")
        }
        if let root = live.root {
            let newest = bundle.firstRoot - 1 + Int64(bundle.roots.count)
            try require(.root, newest, root.version, isSame: newest == root.version)
        }
        for (bundled, file) in [
            (bundle.targets, live.targets), (bundle.snapshot, live.snapshot), (bundle.timestamp, live.timestamp),
        ] {
            let version = bundled.flatMap { try? TUFMetadataFile($0).version }
            try require(file.role, version, file.version, isSame: bundled == file.data)
        }
    }

    /// A pin file that was once published, by the version of the targets role; nil if it is no longer there. No
    /// signature is verified.
    public func publishedPins(ofTargets version: Int64) -> Data? {
        let metadata = published.appending(path: "metadata/\(version).targets.json")
        guard let data = try? read(metadata, atMost: TUFMetadataFile.maximumBytes),
            let digest = (try? TUFMetadataFile(data))?.listedPins, HexText.octets(of: digest)?.count == 32
        else { return nil }
        let name = String(decoding: digest, as: UTF8.self)
        return try? read(
            published.appending(path: "targets/\(name).\(TUFContents.target)"), atMost: Self.maximumPinFile)
    }

    private func file(_ name: String) throws(TUFRepositoryError) -> TUFMetadataFile? {
        guard let data = try read(draft.appending(path: name), atMost: TUFMetadataFile.maximumBytes) else { return nil }
        do throws(TUFError) {
            return try TUFMetadataFile(data)
        } catch {
            throw TUFRepositoryError(
                .damaged, of: "draft/\(name)", expected: error.expected, found: error.found,
                remedy: "Delete the file and prepare the change again, or put it back from a copy.")
        }
    }

    func read(_ url: URL, atMost limit: Int) throws(TUFRepositoryError) -> Data? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        do {
            return try AtomicFile.read(url, maximumBytes: limit, isOwn: true)
        } catch {
            throw TUFRepositoryError(
                .storage, of: url.lastPathComponent, expected: "a file of at most \(limit) bytes that can be read",
                found: AtomicFile.reason(error, at: url.path))
        }
    }

    // MARK: Writing

    /// Writes the drafts of a state, and removes drafts that it no longer has.
    /// - Throws: ``TUFRepositoryError`` `storage`.
    public func writeDrafts(_ state: TUFRepositoryState) throws(TUFRepositoryError) {
        // Write the pin file first: targets that do not list the pin file beside them are refused.
        for (name, data) in [
            (Self.pinsDraft, state.draftPins), (Self.targetsDraft, state.draftTargets?.data),
            (Self.rootDraft, state.draftRoot?.data),
        ] {
            let file = draft.appending(path: name)
            if let data {
                try write(data, to: file)
            } else if FileManager.default.fileExists(atPath: file.path) {
                do {
                    try FileManager.default.removeItem(at: file)
                } catch {
                    throw Self.failure(error, file)
                }
            }
        }
    }

    /// Writes a publication. Each object is written in one step and in its order, so that clients find a repository
    /// that verifies at every moment. If the process is killed halfway, publish again: the next publication starts from
    /// what clients get then.
    /// - Throws: ``TUFRepositoryError`` `storage`.
    public func write(_ publication: TUFPublication) throws(TUFRepositoryError) {
        try writeReplaced(by: publication)
        for object in publication.objects { try write(object) }
        if publication.includesDrafts { try writeDrafts(publication.state) }
    }

    package func write(_ object: TUFPublication.Object) throws(TUFRepositoryError) {
        try write(object.data, to: published.appending(path: object.path))
    }

    /// Writes a file that everybody can read: it contains no secret, and the web server runs as another user.
    func write(_ data: Data, to file: URL) throws(TUFRepositoryError) {
        do {
            let parent = file.deletingLastPathComponent()
            let isServed = parent.path.utf8.starts(with: published.path.utf8)
            for folder in isServed ? [published, parent] : [parent] {
                guard !FileManager.default.fileExists(atPath: folder.path) else { continue }
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                // Regardless of the umask: nobody can read a file in a folder that they may not enter.
                guard isServed else { continue }
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
            }
            try AtomicFile.replace(
                file, with: data, temporaryName: ".\(file.lastPathComponent).new", permissions: 0o644)
        } catch {
            throw Self.failure(error, file)
        }
    }

    static func failure(_ error: any Error, _ file: URL) -> TUFRepositoryError {
        TUFRepositoryError(
            .storage, of: file.lastPathComponent, expected: "a file that can be replaced",
            found: AtomicFile.reason(error, at: file.path))
    }
}
