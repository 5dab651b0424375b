import Foundation
import Holdfast
import HoldfastPublishing
import PinChanges
import PinPublication
import ServerFoundation
import ServerModel

/// The public repository of an app, evaluated by a server that was restored from a backup.
struct PublicRepository: Sendable {
    /// The result of the comparison with the backup.
    enum Sighting: Sendable {
        /// Some destination has the files of the backup.
        case known
        /// Every destination is empty, or has only older files than the backup.
        case older
        /// Other files, all of which verify from the first root on. Either only the timestamp or the snapshot is newer,
        /// or there are other pins or another root, which this server has no approvals for.
        case newer(isRenewed: Bool)
        /// Files that no app with the first root follows, and the reason.
        case foreign(String)
    }

    let sighting: Sighting
    /// Newer files, by the paths of their documents.
    private(set) var files: [String: [UInt8]] = [:]
    /// The last second of the newest timestamp, in seconds since 1970.
    private(set) var end: Int64 = 0
    /// The maximum version of a timestamp that verifies.
    private(set) var version: Int64 = 0

    /// Looks for the repository of an app in all destinations.
    /// - Parameter known: the repository in the backup.
    /// - Throws: ``ServerError`` `file` for a destination that cannot be read; `constraint` if two destinations differ.
    init(of app: AppName, _ known: RepositoryFiles, in places: [PublicPlace]) async throws(ServerError) {
        let own = try await Self.live(known)
        var newest: (live: TUFRepositoryState.Live, place: PublicRepositoryPlace)?
        var isKnown = false
        for place in places.map({ PublicRepositoryPlace(place: $0, app: app) }) {
            let live: TUFRepositoryState.Live?
            do throws(ServerError) {
                live = try await Self.live(place)
            } catch {
                guard error.code != .file else { throw error }
                sighting = .foreign("\(place.name): \(error.found)")
                return
            }
            guard let live else { continue }
            guard own.map({ $0.roots.first?.data == live.roots.first?.data }) ?? false else {
                sighting = .foreign("\(place.name): another first root")
                return
            }
            let (held, best) = (own?.timestamp, newest?.live.timestamp ?? own?.timestamp)
            if live.timestamp.data == held?.data { isKnown = true }
            guard let best, live.timestamp.version >= best.version, live.timestamp.data != best.data else { continue }
            guard live.timestamp.version > best.version else {
                throw ServerError(
                    .constraint, of: "\(known.name) in \(place.name)", expected: "one timestamp \(best.version)",
                    found: "another",
                    remedy: "Put the right one into all places, or leave the others out, and run restore again.")
            }
            newest = (live, place)
        }
        version = max(own?.timestamp.version ?? 0, newest?.live.timestamp.version ?? 0)
        guard let newest else {
            sighting = isKnown ? .known : .older
            return
        }
        let live = newest.live
        sighting = .newer(
            isRenewed: live.targets.data == own?.targets.data && live.roots.count == own?.roots.count)
        end = Int64(live.timestamp.end.timeIntervalSince1970) - 1
        let prefix = RepositoryPath.prefix(of: app)
        for root in live.roots { files["\(prefix)metadata/\(root.version).root.json"] = Array(root.data) }
        files["\(prefix)metadata/\(live.targets.version).targets.json"] = Array(live.targets.data)
        files["\(prefix)metadata/\(live.snapshot.version).snapshot.json"] = Array(live.snapshot.data)
        files["\(prefix)\(RepositoryPath.timestamp)"] = Array(live.timestamp.data)
        let digest = Digest(of: live.pins)
        files["\(prefix)targets/\(digest).pins.json"] = Array(live.pins)
        // The files in the bundle were verified above. Clients verify them once more.
        let bundle = "\(prefix)\(RepositoryPath.bundle)"
        if let bytes = try await newest.place.place.read(bundle) { files[bundle] = bytes }
    }

    private static func live(
        _ storage: some TUFRepositoryStorage
    ) async throws(ServerError) -> TUFRepositoryState.Live? {
        do throws(TUFRepositoryError) {
            guard try await storage.isThere() else { return nil }
            return try await storage.state(includingDrafts: false).live
        } catch {
            throw ServerError(
                error.code == .storage ? .file : .invalidSignature.unlessUnsupported(error), of: storage.name,
                expected: error.expected, found: error.found)
        }
    }
}
