import Foundation
import Holdfast

/// A storage with a repository of The Update Framework.
///
/// Served files have paths that begin with `public/`, drafts that keyholders pass to each other `draft/`, and
/// `replaced.json` lists the files that were served before. ``TUFRepositoryFolder`` keeps a repository in a folder.
public protocol TUFRepositoryStorage: PublicationStorage {}

/// The paths in a storage.
enum TUFStoragePath {
    static let firstRoot = "public/metadata/1.root.json"
    static let timestamp = "public/\(timestampName)"
    static let bundle = "public/\(bundleName)"
    static let draftRoot = "draft/root.json"
    static let draftTargets = "draft/targets.json"
    static let draftPins = "draft/pins.json"
    static let replaced = "replaced.json"

    /// The file that states which version is the newest, relative to the served folder.
    static let timestampName = "metadata/timestamp.json"
    /// The file that contains everything for clients.
    static let bundleName = "bundle.json"

    /// The path of a served file.
    static func served(_ path: String) -> String { "public/\(path)" }
}

extension TUFRepositoryStorage {
    /// Reads a file, and converts errors to repository errors.
    func read(_ path: String, atMost limit: Int) async throws(TUFRepositoryError) -> Data? {
        do {
            return try await data(at: path, atMost: limit)
        } catch let error as TUFRepositoryError {
            throw error
        } catch {
            throw TUFRepositoryError(
                .storage, of: path, expected: "a file of at most \(limit) bytes that can be read",
                found: ForeignErrorText.found(error))
        }
    }

    /// Replaces a file.
    /// - Throws: ``TUFRepositoryError`` `changedMeanwhile` if something other than `old` or `new` is stored; `storage`.
    func write(_ new: Data?, to path: String, insteadOf old: Data?) async throws(TUFRepositoryError) {
        do {
            if try await replace(path, old, with: new) { return }
            // If the same publication is repeated after a crash, the file may already have the new content.
            if let new, try await replace(path, new, with: new) { return }
        } catch let error as TUFRepositoryError {
            throw error
        } catch {
            throw TUFRepositoryError(
                .storage, of: path, expected: "a file that can be replaced", found: ForeignErrorText.found(error))
        }
        throw TUFRepositoryError(
            .changedMeanwhile, of: path, expected: "what was read before", found: "that somebody else has changed it")
    }

    /// Replaces a file, regardless of its current content.
    func write(_ new: Data?, to path: String) async throws(TUFRepositoryError) {
        let old = try await read(path, atMost: TUFRepositoryLimits.file)
        guard old != nil || new != nil else { return }
        try await write(new, to: path, insteadOf: old)
    }
}
