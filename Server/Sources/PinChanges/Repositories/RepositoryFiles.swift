package import Foundation
import HoldfastPublishing
package import ServerFoundation
import ServerModel
package import ServerStore
import Synchronization

/// The files of a repository, for HoldfastPublishing: a snapshot of the audit, overlaid with later writes. Writes stay
/// in memory until the catalog stores all of them.
package final class RepositoryFiles: TUFRepositoryStorage {
    /// The state in the audit.
    package struct Base: Sendable, Hashable {
        /// The versions of the served files, by their paths.
        package var documents: [String: Ledger.Version] = [:]
        /// The digest of the draft; nil before the first.
        package var draft: Digest?
        /// The latest version of the timestamp that clients may have seen. The next one must exceed it.
        package var latest: Int64 = 0

        package init(documents: [String: Ledger.Version] = [:], draft: Digest? = nil, latest: Int64 = 0) {
            self.documents = documents
            self.draft = draft
            self.latest = latest
        }
    }

    package let name: String
    /// The state that the audit had.
    package let base: Base
    private let origin: (catalog: Catalog, app: AppName)?
    private let written = Mutex<[String: Data?]>([:])
    /// The draft, once it was read.
    private let read = Mutex<RepositoryDraft?>(nil)

    /// A repository that is not served.
    package init(named name: String) {
        self.name = name
        base = Base()
        origin = nil
    }

    /// The repository of an app.
    package init(of app: AppName, _ base: Base, in catalog: Catalog) {
        name = "repo/\(app)"
        self.base = base
        origin = (catalog, app)
    }

    package func data(at path: String, atMost limit: Int) async throws -> Data? {
        let data: Data? = if let change = written.withLock({ $0[path] }) { change } else { try await original(path) }
        guard let data else { return nil }
        guard data.count <= limit else {
            throw ServerError(.file, of: path, expected: "at most \(limit) bytes", found: "\(data.count)")
        }
        return data
    }

    package func names(in folder: String) async throws -> [String] {
        var paths = Set(
            origin.map { origin in
                base.documents.keys.map { path in
                    RepositoryPath.served + path.dropFirst(RepositoryPath.prefix(of: origin.app).count)
                }
            } ?? [])
        for path in try await taken().keys { paths.insert(RepositoryPath.served + path) }
        for (path, data) in written.withLock({ $0 }) {
            if data == nil { paths.remove(path) } else { paths.insert(path) }
        }
        return paths.compactMap { path in
            guard path.utf8.starts(with: "\(folder)/".utf8) else { return nil }
            let name = path.dropFirst(folder.count + 1)
            return name.utf8.contains(UInt8(ascii: "/")) ? nil : String(name)
        }
    }

    package func replace(_ path: String, _ old: Data?, with new: Data?) async throws -> Bool {
        let original = try await original(path)
        return written.withLock { written in
            let current: Data? = if let change = written[path] { change } else { original }
            guard current == old else { return false }
            written.updateValue(new, forKey: path)
            return true
        }
    }

    /// Replaces the draft.
    package func set(_ draft: RepositoryDraft) {
        let files = draft.files
        written.withLock { written in
            for path in [RepositoryPath.draftRoot, RepositoryPath.draftTargets, RepositoryPath.draftPins] {
                written.updateValue(files[path], forKey: path)
            }
        }
    }

    /// Stores the files of another publisher under the served paths.
    package func lay(taken files: [String: [UInt8]]) {
        written.withLock { written in
            for (path, bytes) in files { written.updateValue(Data(bytes), forKey: RepositoryPath.served + path) }
        }
    }

    /// The files that are served, or will be with the first publication, by paths below `repo/APP/`, sorted.
    package func served() async throws(ServerError) -> [(path: String, bytes: [UInt8])] {
        guard let origin else { return [] }
        var files = try await taken().map { (path: $0.key, bytes: $0.value) }
        for (path, version) in base.documents {
            let name = String(path.dropFirst(RepositoryPath.prefix(of: origin.app).utf8.count))
            files.append((path: name, bytes: try await origin.catalog.bytes(of: path, version, of: origin.app)))
        }
        return files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// The draft in the audit.
    package func draft() async throws(ServerError) -> RepositoryDraft {
        guard let origin, let digest = base.draft else { return .empty }
        if let known = read.withLock({ $0 }) { return known }
        let draft = try await origin.catalog.repositoryDraft(of: origin.app, digest)
        read.withLock { $0 = draft }
        return draft
    }

    /// The files that another publisher served. Empty after the first publication, so that a damaged draft cannot block
    /// renewing then.
    package func taken() async throws(ServerError) -> [String: [UInt8]] {
        base.documents.isEmpty ? try await draft().taken : [:]
    }

    private func original(_ path: String) async throws(ServerError) -> Data? {
        guard let origin else { return nil }
        if path.utf8.starts(with: RepositoryPath.served.utf8) {
            let name = RepositoryPath.prefix(of: origin.app) + path.dropFirst(RepositoryPath.served.count)
            if let version = base.documents[name] {
                return Data(try await origin.catalog.bytes(of: name, version, of: origin.app))
            }
            return try await taken()[String(path.dropFirst(RepositoryPath.served.count))].map { Data($0) }
        }
        guard path.utf8.starts(with: "draft/".utf8) else { return nil }
        return try await draft().files[path]
    }
}
