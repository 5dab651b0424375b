package import Foundation
import Holdfast
package import HoldfastTUF

/// How far an app with a certain root can update from a repository: a client runs an update, and this records the
/// metadata that it trusted.
package struct TUFFollowing: Sendable {
    /// A role whose metadata the client trusts.
    package struct Role: Sendable {
        /// The metadata file.
        package let file: TUFMetadataFile
        /// The ids of its keys, according to the newest root that the client trusts.
        package let keys: [String]
        /// The number of keys that have to sign.
        package let threshold: Int
        /// The ids of the keys that have signed.
        package let signed: [String]
    }

    /// The version of the root that the app was built with.
    package let appRoot: Int64
    /// The version of the newest root that the app reaches.
    package let newestRoot: Int64
    /// The metadata that the client trusts, in the order of ``TUFRole``; without the roles that it could not reach.
    package let roles: [Role]
    /// The content of the pin file; nil if the client gets none.
    package let pins: Data?
    /// Why the client gets no pin file; nil if it gets one.
    package let problem: TUFError?

    /// Runs an update.
    /// - Parameters:
    ///   - source: provides the files of the repository.
    ///   - root: the root metadata that the app was built with.
    ///   - time: the current time.
    /// - Throws: `TUFError` if `root` is not root metadata. A failed update throws nothing: see ``problem``.
    package init(_ source: some RepositorySource, root: Data, at time: Date) async throws(TUFError) {
        let first = try TUFMetadataFile(root)
        // If it is the metadata of another role, this error states it.
        _ = try first.root()
        let trusted = TUFTrustedFiles()
        let client = TUFClient(
            store: trusted, source: source, trustedRoot: root, settings: TUFRehearsalClient.settings,
            clock: TUFFixedClock(now: time))
        do throws(TUFError) {
            let update = try await client.refresh()
            pins = try await update.data(of: update.target(TUFContents.target))
            problem = nil
        } catch {
            (pins, problem) = (nil, error)
        }
        let newest = trusted["root.json"].flatMap { try? TUFMetadataFile($0) } ?? first
        appRoot = first.version
        newestRoot = newest.version
        let judge = try newest.root()
        let others = ["targets.json", "snapshot.json", "timestamp.json"].compactMap { name in
            trusted[name].flatMap { try? TUFMetadataFile($0) }
        }
        roles = ([newest] + others).map { Role($0, by: judge) }
    }

    /// Whether the repository has more newer roots than an app with default settings downloads in one update.
    package var needsSeveralUpdates: Bool { newestRoot - appRoot > Int64(TUFSettings().rootRotations) }
}

extension TUFFollowing.Role {
    fileprivate init(_ file: TUFMetadataFile, by root: RootMetadata) {
        let delegator = root.delegator(file.role)
        self.file = file
        keys = delegator.keyIDs.map { String(decoding: $0, as: UTF8.self) }
        threshold = delegator.threshold
        signed = delegator.signers(of: file.file).map { String(decoding: $0, as: UTF8.self) }
    }
}
