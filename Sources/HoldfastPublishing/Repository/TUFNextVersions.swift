import Foundation
import Holdfast
import HoldfastTUF

/// Determines the next versions of timestamp and snapshot.
///
/// Versions increase by one. A thief of the online key can drive them up to the maximum, so that no next version is
/// left. If the next root removes that key, clients forget both roles (section 5.3.11), and such a version starts
/// again.
struct TUFNextVersions {
    /// Whether clients that know the published versions refuse the new ones until they find the next root.
    let beginAgain: Bool
    private let live: TUFRepositoryState.Live?
    private let least: Int64
    private let storage: any TUFRepositoryStorage

    /// The greatest integer that every JSON reader represents exactly (RFC 8259 6).
    private static let greatest: Int64 = 1 << 53 - 1
    /// No legitimate publisher reaches this version. The remaining versions last for one per second for a thousand
    /// years.
    private static let highest = greatest - 1 << 35

    /// - Parameters:
    ///   - newRoot: the root in the same publication, if there is one.
    ///   - least: a version that the next ones must exceed.
    init(
        after live: TUFRepositoryState.Live?, with newRoot: TUFMetadataFile?, above least: Int64,
        in storage: any TUFRepositoryStorage
    ) throws(TUFRepositoryError) {
        (self.live, self.least, self.storage) = (live, least, storage)
        guard let live, let root = live.root, let newRoot,
            Self.isDrivenUp(live.timestamp) || Self.isDrivenUp(live.snapshot)
        else {
            beginAgain = false
            return
        }
        do throws(TUFError) {
            beginAgain = try newRoot.root().rotatesOnlineRoles(of: try root.root())
        } catch {
            throw TUFRepositoryError(.damaged, of: "root", expected: error.expected, found: error.found)
        }
    }

    private static func isDrivenUp(_ file: TUFMetadataFile) -> Bool { file.version > highest }

    /// Whether the published snapshot has to be replaced because of its version.
    var needSnapshot: Bool {
        live.map { $0.snapshot.version <= least || beginAgain && Self.isDrivenUp($0.snapshot) } ?? true
    }

    func timestamp() throws(TUFRepositoryError) -> Int64 {
        if beginAgain, let live, Self.isDrivenUp(live.timestamp) { return least + 1 }
        return try next(live?.timestamp, of: .timestamp)
    }

    /// A version that was never served, because clients and caches must never see different content under the same
    /// name. An earlier publication may have written a file without publishing it, or another one may be in progress.
    func snapshot() async throws(TUFRepositoryError) -> Int64 {
        var version = least + 1
        if !beginAgain || !(live.map { Self.isDrivenUp($0.snapshot) } ?? false) {
            version = try next(live?.snapshot, of: .snapshot)
        }
        while version < Self.greatest,
            try await storage.read(
                TUFStoragePath.served("metadata/\(version).snapshot.json"), atMost: TUFMetadataFile.maximumBytes) != nil
        { version += 1 }
        return version
    }

    private func next(_ file: TUFMetadataFile?, of role: TUFRole) throws(TUFRepositoryError) -> Int64 {
        let last = max(file?.version ?? 0, least)
        guard last < Self.greatest else {
            throw TUFRepositoryError(
                .wrongVersion, of: role.rawValue, expected: "a version after which another can follow",
                found: "\(last), the last one",
                remedy: "Only a thief of the online key gets there: replace the key (repository rotate --role online). "
                    + "Then versions begin again.")
        }
        return last + 1
    }
}
