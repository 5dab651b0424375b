package import Foundation
import Holdfast
import HoldfastTUF

/// Maximum number of earlier versions of the pins that are evaluated: more than people sign within a staleness.
private let mostEarlierVersions = 64

extension TUFRepositoryStorage {
    /// The pins that clients may still hold because they have not fetched since these were replaced. The repository
    /// keeps every version of targets with its pin file. That is all clients need, because it does not matter anymore
    /// which version was the newest.
    /// - Parameters:
    ///   - live: the published state.
    ///   - root: the root metadata that the clients were built with. Pins that it does not prove were never accepted.
    ///   - staleness: the maximum time since a client last fetched.
    ///   - lifetime: the lifetime of snapshots, which gives the times of publication.
    /// - Returns: the documents, the newest first. A version whose files are missing is a gap.
    package func earlierDocuments(
        than live: TUFRepositoryState.Live, provedFrom root: Data, staleness: Duration, at now: Date,
        snapshotsLasting lifetime: Duration = TUFRepositoryState.Lifetimes().snapshot
    ) async -> EarlierDocuments {
        let times = await publicationTimes(lifetime)
        let since = PublicationTiming(staleness: staleness).oldestReplacement(inUseAt: now)
        var earlier = EarlierDocuments()
        var version = live.targets.version
        // A snapshot with another lifetime may seem to be made later than it was, which errs on the safe side.
        var replaced = min(times[version] ?? now, now)
        var seen = [live.pins]
        while version > 1, replaced > since {
            version -= 1
            guard live.targets.version - version <= mostEarlierVersions else {
                earlier.gaps.append(
                    "clients may hold more versions of the pins than are judged (\(mostEarlierVersions))")
                break
            }
            let published = min(times[version] ?? .distantPast, replaced)
            switch await bundle(ofTargets: version, live.roots, from: root) {
            case .missing:
                earlier.gaps.append(
                    "clients may still hold the pins of targets \(version), replaced "
                        + "\(replaced.formatted(.iso8601)), and the folder does not have them anymore: name the bundle "
                        + "with them with --replaced")
            case .neverTheirs: break
            case .proved(let bundle, let pins):
                // The same pins, signed again, accept the same servers.
                guard !seen.contains(pins) else { break }
                seen.append(pins)
                earlier.documents.append(
                    .init(
                        "the pins of targets \(version)", kind: .repository(root: root), octets: bundle,
                        published: published, replaced: replaced))
            }
            replaced = min(replaced, times[version] ?? replaced)
        }
        return earlier
    }

    /// The published document, as held by clients that do not fetch again when it is replaced.
    /// - Parameters:
    ///   - live: the published state.
    ///   - root: the root metadata that the clients were built with.
    /// - Returns: the document; nil if clients with the root never accepted it, or its files are missing.
    package func publishedDocument(
        of live: TUFRepositoryState.Live, provedFrom root: Data
    ) async -> PublicationOutlook.Document? {
        guard case .proved(let bundle, _) = await bundle(ofTargets: live.targets.version, live.roots, from: root) else {
            return nil
        }
        return .init(
            "the published pins", kind: .repository(root: root), octets: bundle, published: .distantPast)
    }

    /// A version of the pins, as clients with the root have it.
    private func bundle(
        ofTargets version: Int64, _ roots: [TUFMetadataFile], from root: Data
    ) async -> EarlierVersion {
        let path = TUFStoragePath.served("metadata/\(version).targets.json")
        guard let targets = try? await read(path, atMost: TUFMetadataFile.maximumBytes),
            let pins = await publishedPins(ofTargets: version)
        else { return .missing }
        var bundle = RepositoryBundle()
        bundle.firstRoot = (roots.first?.version ?? 1) + 1
        (bundle.targets, bundle.pins) = (targets, pins)
        // A key that signed these pins may be gone from the newest root. Clients proved them with an earlier root.
        func proved(from root: Data) -> Data? {
            for count in stride(from: roots.count, through: 1, by: -1) {
                bundle.roots = roots[1..<count].map(\.data)
                let octets = bundle.json
                let pins = try? PinBundlePins(octets, root: root, issuedUpTo: .distantFuture, isReplaced: true)
                if pins != nil { return octets }
            }
            return nil
        }
        if let octets = proved(from: root) { return .proved(octets, pins) }
        // If clients with the first root did not accept it either, it is damaged.
        guard let first = roots.first?.data, first != root, proved(from: first) != nil else { return .missing }
        return .neverTheirs
    }
}

/// The result of looking up an earlier version of the pins.
private enum EarlierVersion {
    /// Its files no longer exist.
    case missing
    /// Clients with the root never accepted it.
    case neverTheirs
    /// Its bundle, without timestamp and snapshot, and its pin file.
    case proved(Data, Data)
}
