public import Foundation
import Holdfast
package import HoldfastTUF

/// Maximum numbers of bytes to read.
enum TUFRepositoryLimits {
    static let pins = TUFSettings().targetBytes
    static let bundle = 64 << 20
    /// The limit for any file.
    static let file = bundle
}

/// Reading a repository from any storage.
extension TUFRepositoryStorage {
    /// Whether a repository is published or prepared in the storage.
    /// - Throws: ``TUFRepositoryError`` `storage`.
    public func isThere() async throws(TUFRepositoryError) -> Bool {
        if try await has(TUFStoragePath.firstRoot) { return true }
        return try await has(TUFStoragePath.draftRoot)
    }

    private func has(_ path: String) async throws(TUFRepositoryError) -> Bool {
        try await read(path, atMost: TUFMetadataFile.maximumBytes) != nil
    }

    /// The published repository, for clients that download file by file.
    package var source: some RepositorySource { TUFStorageSource(storage: self) }

    /// The published bundle; nil if it does not exist.
    /// - Throws: ``TUFRepositoryError`` `storage`.
    package func publishedBundle() async throws(TUFRepositoryError) -> Data? {
        try await read(TUFStoragePath.bundle, atMost: TUFRepositoryLimits.bundle)
    }

    /// Reads the state. It verifies the published repository as a client with the first root does, except that expired
    /// metadata is not an error.
    /// - Parameter includesDrafts: whether to read the drafts as well. Without them, a damaged draft does not prevent a
    ///   renewal of the published files.
    /// - Throws: ``TUFRepositoryError``.
    public func state(
        includingDrafts includesDrafts: Bool = true
    ) async throws(TUFRepositoryError) -> TUFRepositoryState {
        guard try await isThere() else {
            throw TUFRepositoryError(
                .wrongPlace, expected: "a repository in \(name)", found: "none",
                remedy: "Name the folder, or begin a repository there.")
        }
        var state = TUFRepositoryState(live: try await live())
        guard includesDrafts else { return state }
        state.draftRoot = try await draft(TUFStoragePath.draftRoot)
        state.draftTargets = try await draft(TUFStoragePath.draftTargets)
        state.draftPins = try await read(TUFStoragePath.draftPins, atMost: TUFRepositoryLimits.pins)
        // An interrupted publication leaves drafts that are already published.
        if TUFRepositoryState.isPublished(state.draftRoot, as: state.live?.root) { state.draftRoot = nil }
        if TUFRepositoryState.isPublished(state.draftTargets, as: state.live?.targets) {
            (state.draftTargets, state.draftPins) = (nil, nil)
        }
        if state.draftTargets == nil { state.draftPins = nil }
        return state
    }

    /// The published state; nil before the first timestamp is published, because clients get nothing without one.
    private func live() async throws(TUFRepositoryError) -> TUFRepositoryState.Live? {
        guard try await has(TUFStoragePath.timestamp) else {
            // In the first publication, the root is written before the timestamp, and its draft is removed at the end.
            let isBegun = try await has(TUFStoragePath.firstRoot)
            let isDrafted = try await has(TUFStoragePath.draftRoot)
            guard !isBegun || isDrafted else {
                throw TUFRepositoryError(
                    .damaged, of: "timestamp.json", expected: "the timestamp in \(name)/public/metadata",
                    found: "none", remedy: "Put the folder back from a copy, or from what the web server serves.")
            }
            return nil
        }
        guard let first = try await read(TUFStoragePath.firstRoot, atMost: TUFSettings().rootBytes) else {
            throw TUFRepositoryError(
                .damaged, expected: "the first root in \(name)/public/metadata", found: "none")
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
            guard error.code != .unsupportedAlgorithm else {
                throw TUFRepositoryError(
                    .unsupportedAlgorithm, of: error.subject, expected: error.expected, found: error.found)
            }
            throw TUFRepositoryError(
                .damaged, of: error.subject, expected: error.expected,
                found: "\(error.found) (\(error.code.rawValue))")
        }
    }

    /// Runs an update of a client with the first root from the published repository, from `bundle.json` and file by
    /// file.
    /// - Parameter time: the current time.
    /// - Throws: ``TUFRepositoryError`` `refusedByClients`, `outOfStep`, `damaged` if the root is missing, `storage`.
    public func verify(at time: Date) async throws(TUFRepositoryError) {
        guard let root = try await read(TUFStoragePath.firstRoot, atMost: TUFSettings().rootBytes) else {
            throw TUFRepositoryError(.damaged, expected: "the first root in \(name)/public/metadata", found: "none")
        }
        let problem: String
        do {
            _ = try await TUFRehearsalClient(root: root).pins(from: source, at: time)
            guard let bundle = try await publishedBundle() else {
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
        let bundle = try RepositoryBundle([UInt8](data), maximumBytes: TUFRepositoryLimits.bundle)
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

    /// A pin file that was once published, by the version of the targets role; nil if it no longer exists. No signature
    /// is verified.
    public func publishedPins(ofTargets version: Int64) async -> Data? {
        let metadata = TUFStoragePath.served("metadata/\(version).targets.json")
        guard let data = try? await read(metadata, atMost: TUFMetadataFile.maximumBytes),
            let digest = (try? TUFMetadataFile(data))?.listedPins, HexText.octets(of: digest)?.count == 32
        else { return nil }
        let name = String(decoding: digest, as: UTF8.self)
        return try? await read(
            TUFStoragePath.served("targets/\(name).\(TUFContents.target)"), atMost: TUFRepositoryLimits.pins)
    }

    private func draft(_ path: String) async throws(TUFRepositoryError) -> TUFMetadataFile? {
        guard let data = try await read(path, atMost: TUFMetadataFile.maximumBytes) else { return nil }
        do throws(TUFError) {
            return try TUFMetadataFile(data)
        } catch {
            throw TUFRepositoryError(
                .damaged, of: path, expected: error.expected, found: error.found,
                remedy: "Delete the file and prepare the change again, or put it back from a copy.")
        }
    }
}
