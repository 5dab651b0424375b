import Foundation
import Holdfast

/// The context that the steps of one update share: the source of files, the store, the limits, and the time at which
/// the update began.
struct UpdateContext: Sendable {
    let store: any MetadataStore
    let source: any RepositorySource
    let settings: TUFSettings
    let start: UpdateStart
    let meter: WorkMeter

    /// The stored file of a role. It is not trusted until it is verified again.
    func kept(_ name: StoredMetadataName, atMost limit: Int) throws(TUFError) -> Data? {
        do {
            return try store.data(of: name, atMost: limit)
        } catch {
            throw TUFError(
                .storage, of: name.path, expected: "metadata that can be read", found: ForeignErrorText.found(error))
        }
    }

    /// - Parameters:
    ///   - old: the content that ``kept(_:atMost:)`` returned.
    ///   - new: the new content; nil to remove the file.
    func keep(_ name: StoredMetadataName, _ old: Data?, _ new: Data?, atMost limit: Int) throws(TUFError) {
        let isDone: Bool
        do {
            isDone = try store.replace(name, old, with: new, atMost: limit)
        } catch {
            throw TUFError(
                .storage, of: name.path, expected: "metadata that can be replaced",
                found: (error as? FileLock.Failure)?.found ?? ForeignErrorText.found(error))
        }
        guard isDone else {
            throw TUFError(
                .changedMeanwhile, of: name.path, expected: "what was there when the update began",
                found: "something else")
        }
    }

    /// - Returns: nil if the repository has no such file.
    func fetch(_ file: RepositoryFile, of subject: String, atMost limit: Int) async throws(TUFError) -> Data? {
        meter.requested()
        let data: Data?
        do {
            data = try await source.data(of: file, atMost: limit)
        } catch let error as RemoteDataError {
            throw TUFError(
                error.code == .tooLarge ? .tooLarge : .unavailable, of: subject, expected: error.expected,
                found: error.found)
        } catch {
            throw TUFError(
                .unavailable, of: subject, expected: "a repository's answer", found: ForeignErrorText.found(error)
            )
        }
        if let data, data.count > limit {
            throw TUFError(.tooLarge, of: subject, expected: "at most \(limit) bytes", found: "\(data.count)")
        }
        return data
    }

    /// The metadata of a role.
    /// - Parameters:
    ///   - version: the version before the file's name, with consistent snapshots; nil otherwise.
    ///   - length: the length that trusted metadata states, or nil; longer files are refused.
    func fetch(
        _ role: RoleName, version: Int64?, length: Int?, atMost limit: Int
    ) async throws(TUFError) -> Data {
        if let length, length > limit {
            throw TUFError(.tooLarge, of: role.text, expected: "at most \(limit) bytes", found: "\(length)")
        }
        let file = RepositoryFile(kind: .metadata, path: role.remoteFile(version: version))
        guard let data = try await fetch(file, of: role.text, atMost: length ?? limit) else {
            throw TUFError(.unavailable, of: role.text, expected: "the file \(file.path)", found: "none")
        }
        return data
    }
}
