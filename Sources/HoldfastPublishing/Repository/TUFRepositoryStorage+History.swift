package import Foundation
import Holdfast
import HoldfastTUF

/// A pin file that was published.
package struct TUFPublishedPins: Sendable {
    /// The content of the pin file.
    package let pins: Data
    /// When it was published.
    package let since: Date
}

/// Maximum number of versions, and of snapshots, that are examined.
private let longestHistory = 1_000

extension TUFRepositoryStorage {
    /// The published pin files, the newest first, back to the one that was published at a time.
    /// - Parameters:
    ///   - version: the published version of targets.
    ///   - time: the time.
    ///   - lifetime: how long snapshots last.
    package func publishedPins(
        upTo version: Int64, backTo time: Date,
        snapshotsLasting lifetime: Duration = TUFRepositoryState.Lifetimes().snapshot
    ) async -> [TUFPublishedPins] {
        let times = await publicationTimes(lifetime)
        var all: [TUFPublishedPins] = []
        var since = Date.distantFuture
        while all.count < longestHistory, let pins = await publishedPins(ofTargets: version - Int64(all.count)) {
            // Without an own snapshot, it is at least as old as the next version.
            since = min(since, times[version - Int64(all.count)] ?? since)
            all.append(TUFPublishedPins(pins: pins, since: since))
            guard since > time else { break }
        }
        return all
    }

    /// When each version of targets was published. The publishing machine made the first snapshot that lists the
    /// version at that moment. The pin file and the targets were prepared earlier, possibly by other people.
    func publicationTimes(_ lifetime: Duration) async -> [Int64: Date] {
        let metadata = TUFStoragePath.served("metadata")
        let names = (try? await names(in: metadata)) ?? []
        let suffix = ".snapshot.json"
        let versions = names.filter { $0.hasSuffix(suffix) }.compactMap { Int64($0.dropLast(suffix.utf8.count)) }
        var times: [Int64: Date] = [:]
        for version in versions.sorted(by: >).prefix(longestHistory) {
            guard
                let data = try? await read(
                    "\(metadata)/\(version)\(suffix)", atMost: TUFMetadataFile.maximumBytes),
                let snapshot = try? TUFMetadataFile(data), snapshot.role == .snapshot,
                case .integer(let targets)? = snapshot.signed["meta"]?["targets.json"]?["version"]
            else { continue }
            let made = snapshot.end.addingTimeInterval(-lifetime.inSeconds)
            times[targets] = min(times[targets] ?? made, made)
        }
        return times
    }
}
