package import Foundation
import Holdfast
package import HoldfastTUF

/// How far an app gets that was built with some root: a client goes through an update, and what it came to trust on the
/// way is looked at afterwards.
package struct TUFFollowing: Sendable {
    /// A role, as the client trusts it.
    package struct Role: Sendable {
        /// The file.
        package let file: TUFMetadataFile
        /// The ids of its keys, by the newest root that the client trusts.
        package let keys: [String]
        /// How many of them have to sign.
        package let threshold: Int
        /// The ids of those that have.
        package let signed: [String]
    }

    /// The version of the root that the app was built with.
    package let appRoot: Int64
    /// The version of the newest root to which it gets.
    package let newestRoot: Int64
    /// What it trusts, in the order of ``TUFRole``; without what it could not get to.
    package let roles: [Role]
    /// The octets of the pin file; nil where it gets none.
    package let pins: Data?
    /// Why it gets none.
    package let problem: TUFError?

    /// Goes through an update.
    /// - Parameters:
    ///   - source: where the files of the repository are.
    ///   - root: what the app was built with.
    ///   - time: the current time.
    /// - Throws: `TUFError` for what is no root.
    package init(_ source: some RepositorySource, root: Data, at time: Date) async throws(TUFError) {
        let first = try TUFMetadataFile(root)
        // Says what it is instead.
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

    /// More roots than an app takes in one update: it needs several.
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
