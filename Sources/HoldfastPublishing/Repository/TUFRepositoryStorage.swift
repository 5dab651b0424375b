import Foundation
import Holdfast

/// A storage with a repository of The Update Framework in it.
///
/// Files that are served have paths that begin with `public/`, drafts that keyholders pass on to each other `draft/`, and
/// `replaced.json` lists what was served before. ``TUFRepositoryFolder`` keeps a repository in a folder.
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

    /// The file that says what is the newest, relative to what is served.
    static let timestampName = "metadata/timestamp.json"
    /// The file in which clients find everything.
    static let bundleName = "bundle.json"

    /// The path of a file that is served.
    static func served(_ path: String) -> String { "public/\(path)" }
}

extension TUFRepositoryStorage {
    /// Reads a file, and makes one kind of error of all.
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
    /// - Throws: ``TUFRepositoryError`` `changedMeanwhile` if something other than `old` or `new` is there; `storage`.
    func write(_ new: Data?, to path: String, insteadOf old: Data?) async throws(TUFRepositoryError) {
        do {
            if try await replace(path, old, with: new) { return }
            // Somebody who publishes the same again after a crash finds what was written then.
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

    /// Replaces a file, whatever is there.
    func write(_ new: Data?, to path: String) async throws(TUFRepositoryError) {
        let old = try await read(path, atMost: TUFRepositoryLimits.file)
        guard old != nil || new != nil else { return }
        try await write(new, to: path, insteadOf: old)
    }
}
