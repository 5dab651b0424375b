import Foundation
import Holdfast
import HoldfastPublishing

/// The repository of an app as it is public in some places, judged by a server that was restored from a backup.
struct PublicRepository: Sendable {
    /// What was found.
    enum Sighting: Sendable {
        /// What the backup has, in some place.
        case known
        /// Nothing, or only what is older than the backup.
        case older
        /// Other files, all of which verify from the first root on. Only a timestamp or a snapshot may be newer, or there
        /// are other pins or another root, which nobody here has approved.
        case newer(isRenewed: Bool)
        /// What no app follows that ships with the first root, and why.
        case foreign(String)
    }

    let sighting: Sighting
    /// Newer files, by the paths of their documents.
    private(set) var files: [String: [UInt8]] = [:]
    /// When the newest timestamp ends, in seconds since 1970.
    private(set) var end: Int64 = 0
    /// The greatest version of the timestamp that verifies.
    private(set) var version: Int64 = 0

    /// Looks for the repository of an app in all places.
    /// - Parameter known: the repository as the backup has it.
    /// - Throws: ``ServerError`` `file` for a place that cannot be read; `constraint` where two places differ.
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
        // Everything that is in it was verified above; clients verify it once more.
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
