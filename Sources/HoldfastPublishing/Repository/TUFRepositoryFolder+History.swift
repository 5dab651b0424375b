package import Foundation
import Holdfast
import HoldfastTUF

/// A pin file that was published.
package struct TUFPublishedPins: Sendable {
    /// The octets of the pin file.
    package let pins: Data
    /// When it was published.
    package let since: Date
}

extension TUFRepositoryFolder {
    /// How many versions, and how many snapshots, are examined at most.
    private static let longestHistory = 1_000

    /// The pin files that were published, the newest first, back to the one that was published at a time.
    /// - Parameters:
    ///   - version: the published version of targets.
    ///   - time: the time.
    ///   - lifetime: how long snapshots last.
    package func publishedPins(
        upTo version: Int64, backTo time: Date,
        snapshotsLasting lifetime: Duration = TUFRepositoryState.Lifetimes().snapshot
    ) -> [TUFPublishedPins] {
        let times = publicationTimes(lifetime)
        var all: [TUFPublishedPins] = []
        var since = Date.distantFuture
        while all.count < Self.longestHistory, let pins = publishedPins(ofTargets: version - Int64(all.count)) {
            // Without a snapshot of its own, it is at least as old as the next version.
            since = min(since, times[version - Int64(all.count)] ?? since)
            all.append(TUFPublishedPins(pins: pins, since: since))
            guard since > time else { break }
        }
        return all
    }

    /// When each version of targets was published. The first snapshot that lists it was made at that moment, by the
    /// machine that published; the pin file and the targets were made earlier, and by whoever prepared them.
    private func publicationTimes(_ lifetime: Duration) -> [Int64: Date] {
        let metadata = published.appending(path: "metadata")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: metadata.path)) ?? []
        let suffix = ".snapshot.json"
        let versions = names.filter { $0.hasSuffix(suffix) }.compactMap { Int64($0.dropLast(suffix.utf8.count)) }
        var times: [Int64: Date] = [:]
        for version in versions.sorted(by: >).prefix(Self.longestHistory) {
            guard
                let data = try? read(
                    metadata.appending(path: "\(version)\(suffix)"), atMost: TUFMetadataFile.maximumBytes),
                let snapshot = try? TUFMetadataFile(data), snapshot.role == .snapshot,
                case .integer(let targets)? = snapshot.signed["meta"]?["targets.json"]?["version"]
            else { continue }
            let made = snapshot.end.addingTimeInterval(-lifetime.inSeconds)
            times[targets] = min(times[targets] ?? made, made)
        }
        return times
    }
}
