public import Foundation
public import Holdfast
public import HoldfastSigning
import HoldfastTUF

/// A repository of pins as its keyholders see it: the published state and the drafts.
///
/// A ``TUFRepositoryStorage`` reads and writes it.
public struct TUFRepositoryState: Sendable {
    /// The published state.
    public struct Live: Sendable {
        /// All roots, beginning with the first.
        public let roots: [TUFMetadataFile]
        /// The timestamp file.
        public let timestamp: TUFMetadataFile
        /// The snapshot file.
        public let snapshot: TUFMetadataFile
        /// The targets file.
        public let targets: TUFMetadataFile
        /// The content of the pin file.
        public let pins: Data

        /// The newest root.
        public var root: TUFMetadataFile? { roots.last }
    }

    /// How long metadata lasts.
    public struct Lifetimes: Sendable, Hashable {
        /// The lifetime of a root; 365 days by default. After that, clients accept nothing new until the next root.
        public var root: Duration
        /// The lifetime of targets; 365 days by default.
        public var targets: Duration
        /// The lifetime of a snapshot; 90 days by default. It is renewed if it would expire before the timestamp.
        public var snapshot: Duration
        /// The lifetime of a timestamp; 14 days by default. An attacker who serves old files can hide a newer
        /// publication from clients for at most this time.
        public var timestamp: Duration

        /// Sets the lifetimes. The defaults suit keyholders who meet once a year, and a machine that renews every day.
        public init(
            root: Duration = .seconds(365 * 86_400), targets: Duration = .seconds(365 * 86_400),
            snapshot: Duration = .seconds(90 * 86_400), timestamp: Duration = .seconds(14 * 86_400)
        ) {
            self.root = root
            self.targets = targets
            self.snapshot = snapshot
            self.timestamp = timestamp
        }

        /// The minimum lifetime of a timestamp: enough time to repair a publisher that stopped on a Friday.
        public static let shortestTimestamp = Duration.seconds(7 * 86_400)
    }

    /// The published state; nil before the first publication.
    public internal(set) var live: Live?
    /// The next root, if one is being prepared.
    public internal(set) var draftRoot: TUFMetadataFile?
    /// The next targets file, if one is being prepared.
    public internal(set) var draftTargets: TUFMetadataFile?
    /// The content of the pin file that the next targets list.
    public internal(set) var draftPins: Data?

    /// A draft that was prepared in this value.
    private struct Preparation {
        /// The draft that it continues, which another person may have written; nil if it continues the published state.
        let base: TUFMetadataFile?
    }

    private var preparations: [TUFRole: Preparation] = [:]

    init(live: Live? = nil) { self.live = live }

    /// Whether there are no drafts.
    public var hasNoDraft: Bool { draftRoot == nil && draftTargets == nil }

    /// The newest root, published or not.
    public var newestRoot: TUFMetadataFile? { draftRoot ?? live?.root }

    /// The roots whose keys must sign the next publication, because a client may have either of them.
    var judges: [TUFMetadataFile] { [live?.root, draftRoot].compactMap(\.self) }

    /// The roles whose drafts can no longer be published, because something else has been published since. The next
    /// draft replaces them.
    public var staleDrafts: [TUFRole] {
        [(draftRoot, live?.root), (draftTargets, live?.targets)].compactMap { draft, live in
            draft.flatMap { $0.version == (live?.version ?? 0) + 1 ? nil : $0.role }
        }
    }

    /// Discards the drafts that can no longer be published.
    public mutating func discardStaleDrafts() {
        let stale = staleDrafts
        if stale.contains(.root) { draftRoot = nil }
        if stale.contains(.targets) { (draftTargets, draftPins) = (nil, nil) }
    }

    /// Whether the holder of a key knows the whole draft: either it was prepared here and continues only drafts that
    /// the key has signed, or the key has signed it.
    func isKnown(_ draft: TUFMetadataFile, to key: TUFPublicKey) -> Bool {
        guard let preparation = preparations[draft.role] else { return draft.isSigned(by: key) }
        return preparation.base?.isSigned(by: key) ?? true
    }

    /// Whether a draft is already published, because a publication was interrupted after it had written this file.
    static func isPublished(_ draft: TUFMetadataFile?, as live: TUFMetadataFile?) -> Bool {
        draft.map { $0.saysTheSame(as: live) } ?? false
    }
}

// MARK: Preparing

extension TUFRepositoryState {
    /// Begins a repository, with a first root that is not signed yet.
    /// - Parameters:
    ///   - roles: the keys and the threshold of each of the four roles.
    ///   - lifetimes: how long the root lasts.
    ///   - time: the current time.
    /// - Throws: ``TUFRepositoryError`` `invalidRoles`.
    public init(
        roles: [TUFRole: TUFRoleKeys], lifetimes: Lifetimes = Lifetimes(), at time: Date
    ) throws(TUFRepositoryError) {
        var contents = TUFRootContents(version: 1, expires: time.addingTimeInterval(lifetimes.root.inSeconds))
        for (role, entry) in roles {
            contents.set(
                role,
                .init(keyIDs: entry.keys.map { Array($0.id.utf8) }, threshold: Int64(entry.threshold)),
                adding: entry.keys)
        }
        try contents.check(after: nil)
        draftRoot = try contents.file()
        preparations[.root] = Preparation(base: nil)
    }

    /// Prepares new pins: the next version of the targets role, not signed yet. It replaces an earlier draft of
    /// targets.
    /// - Parameters:
    ///   - pins: the content of a pin file that meets the requirements for signed ones.
    ///   - lifetimes: how long the metadata lasts.
    ///   - time: the current time.
    /// - Returns: the pin file that was read.
    /// - Throws: ``TUFRepositoryError`` `invalidPins`.
    @discardableResult
    public mutating func prepare(
        pins: Data, lifetimes: Lifetimes = Lifetimes(), at time: Date
    ) throws(TUFRepositoryError) -> PinFile {
        let file = try Self.pinFile(pins)
        try Self.requireIssued(file, at: time)
        guard let end = file.end, end > time else {
            throw TUFRepositoryError(
                .invalidPins, expected: "pins that have not run out", found: "a notAfter and a grace in the past")
        }
        discardStaleDrafts()
        draftTargets = try TUFContents.targets(
            version: (live?.targets.version ?? 0) + 1, expires: time.addingTimeInterval(lifetimes.targets.inSeconds),
            pins: pins)
        draftPins = pins
        preparations[.targets] = Preparation(base: nil)
        return file
    }

    /// Prepares a new root in which a role has other keys. If a root is being prepared already, the change is added to
    /// it, and its signatures are removed. If the keys of targets change, new targets with the same pins are prepared
    /// as well.
    /// - Parameters:
    ///   - role: the role whose keys change.
    ///   - new: the keys to add.
    ///   - old: the ids of the keys to remove, as the root has them.
    ///   - threshold: the number of keys that have to sign; nil to keep the threshold.
    ///   - lifetimes: how long the new root lasts, even if nothing else changes, and the new targets.
    ///   - time: the current time.
    /// - Throws: ``TUFRepositoryError`` `invalidRoles`, `invalidKeys`, `otherKey` if the role does not have a key to
    ///   remove, `wrongPlace` if the root is missing.
    public mutating func change(
        _ role: TUFRole, adding new: [TUFPublicKey] = [], removing old: [String] = [], threshold: Int? = nil,
        lifetimes: Lifetimes = Lifetimes(), at time: Date
    ) throws(TUFRepositoryError) {
        discardStaleDrafts()
        guard let base = newestRoot else {
            throw TUFRepositoryError(.wrongPlace, expected: "a root", found: "none")
        }
        var contents = TUFRootContents(base)
        contents.version = (live?.root?.version ?? 0) + 1
        contents.expires = time.addingTimeInterval(lifetimes.root.inSeconds)
        let before = contents.roles[role] ?? .init(keyIDs: [], threshold: 1)
        var entry = before
        for id in old.map({ Array($0.utf8) }) {
            guard let index = entry.keyIDs.firstIndex(of: id) else {
                throw TUFRepositoryError(
                    .otherKey, of: role.rawValue, expected: "a key of the role to remove",
                    found: "\(TUFText.short(id)), which is not one", remedy: "Give a key that the status shows.")
            }
            entry.keyIDs.remove(at: index)
        }
        // Another tool may have listed the same key under another id.
        let new = new.map { contents.listed($0) ?? $0 }
        for key in new where !entry.keyIDs.contains(Array(key.id.utf8)) { entry.keyIDs.append(Array(key.id.utf8)) }
        if let threshold { entry.threshold = Int64(threshold) }
        contents.set(role, entry, adding: new)
        try contents.check(after: live?.root)
        if preparations[.root] == nil { preparations[.root] = Preparation(base: draftRoot) }
        draftRoot = try contents.file()
        guard role == .targets, entry != before, draftTargets == nil, let live else { return }
        draftTargets = try TUFContents.targets(
            live.targets, version: live.targets.version + 1,
            expires: time.addingTimeInterval(lifetimes.targets.inSeconds))
        draftPins = live.pins
        preparations[.targets] = Preparation(base: nil)
    }

    /// Discards all drafts.
    public mutating func discardDrafts() {
        (draftRoot, draftTargets, draftPins) = (nil, nil, nil)
        preparations = [:]
    }
}
