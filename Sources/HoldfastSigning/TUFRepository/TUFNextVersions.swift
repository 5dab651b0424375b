import Foundation
import Holdfast
import HoldfastTUF

/// The versions that timestamp and snapshot get next.
///
/// They grow by one. A thief of the online key can drive them up to the last one, so that none is left: where a next
/// root takes that key away, clients forget both roles (section 5.3.11), and what was driven up begins again.
struct TUFNextVersions {
    /// Whether clients that know what is published are refused until they find the next root.
    let beginAgain: Bool
    private let live: TUFRepositoryState.Live?
    private let least: Int64
    private let folder: TUFRepositoryFolder

    /// JSON's integers have 53 bits.
    private static let greatest: Int64 = 1 << 53 - 1
    /// Nobody counts that far: a version a second for a thousand years is less than what is left then.
    private static let highest = greatest - 1 << 35

    /// - Parameters:
    ///   - newRoot: that is published with them.
    ///   - least: they are greater.
    init(
        after live: TUFRepositoryState.Live?, with newRoot: TUFMetadataFile?, above least: Int64,
        in folder: TUFRepositoryFolder
    ) throws(TUFRepositoryError) {
        (self.live, self.least, self.folder) = (live, least, folder)
        guard let live, let root = live.root, let newRoot,
            Self.isDrivenUp(live.timestamp) || Self.isDrivenUp(live.snapshot)
        else {
            beginAgain = false
            return
        }
        do throws(TUFError) {
            beginAgain = try newRoot.root().rotatesFreshness(of: try root.root())
        } catch {
            throw TUFRepositoryError(.damaged, of: "root", expected: error.expected, found: error.found)
        }
    }

    private static func isDrivenUp(_ file: TUFMetadataFile) -> Bool { file.version > highest }

    /// Whether a snapshot cannot stay, whatever it says.
    var needSnapshot: Bool {
        live.map { $0.snapshot.version <= least || beginAgain && Self.isDrivenUp($0.snapshot) } ?? true
    }

    func timestamp() throws(TUFRepositoryError) -> Int64 {
        if beginAgain, let live, Self.isDrivenUp(live.timestamp) { return least + 1 }
        return try next(live?.timestamp, of: .timestamp)
    }

    /// A version under which nothing was served yet: such names are never served with another content.
    func snapshot() throws(TUFRepositoryError) -> Int64 {
        guard beginAgain, let live, Self.isDrivenUp(live.snapshot) else {
            return try next(live?.snapshot, of: .snapshot)
        }
        var version = least + 1
        while FileManager.default.fileExists(
            atPath: folder.published.appending(path: "metadata/\(version).snapshot.json").path)
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
