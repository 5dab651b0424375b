public import Foundation
public import Holdfast
import HoldfastTUF

/// A repository of pins as its keyholders have it: what clients get, and what is being prepared.
///
/// A value: ``TUFRepositoryFolder`` reads and writes it.
public struct TUFRepositoryState: Sendable {
    /// What clients get.
    public struct Live: Sendable {
        /// Every root, from the first on.
        public let roots: [TUFMetadataFile]
        /// The timestamp file.
        public let timestamp: TUFMetadataFile
        /// The snapshot file.
        public let snapshot: TUFMetadataFile
        /// The targets file.
        public let targets: TUFMetadataFile
        /// The octets of the pin file.
        public let pins: Data

        /// The newest root.
        public var root: TUFMetadataFile? { roots.last }
    }

    /// How long metadata lasts.
    public struct Lifetimes: Sendable, Hashable {
        /// Of root; 365 days by default. When it ends, no client takes anything new before there is another.
        public var root: Duration
        /// Of targets; 365 days by default.
        public var targets: Duration
        /// Of snapshot; 90 days by default. It is renewed when a timestamp would outlast it.
        public var snapshot: Duration
        /// Of timestamp; 14 days by default. For so long nobody can keep clients from noticing something new.
        public var timestamp: Duration

        /// Sets them; the defaults suit keyholders who meet once a year, and a machine that renews each day.
        public init(
            root: Duration = .seconds(365 * 86_400), targets: Duration = .seconds(365 * 86_400),
            snapshot: Duration = .seconds(90 * 86_400), timestamp: Duration = .seconds(14 * 86_400)
        ) {
            self.root = root
            self.targets = targets
            self.snapshot = snapshot
            self.timestamp = timestamp
        }

        /// What a timestamp lasts at least: so much time there is to mend a publisher that stopped on a Friday.
        public static let shortestTimestamp = Duration.seconds(7 * 86_400)
    }

    /// nil before the first publication.
    public internal(set) var live: Live?
    /// The next root, if one is being prepared.
    public internal(set) var draftRoot: TUFMetadataFile?
    /// The next targets, if they are being prepared.
    public internal(set) var draftTargets: TUFMetadataFile?
    /// The pin file of the next targets.
    public internal(set) var draftPins: Data?

    init(live: Live? = nil) { self.live = live }

    /// Whether nothing is being prepared.
    public var hasNoDraft: Bool { draftRoot == nil && draftTargets == nil }

    /// The newest root, published or not.
    public var newestRoot: TUFMetadataFile? { draftRoot ?? live?.root }

    /// The roots that judge what is published next: a client may have walked to the one or the other.
    var judges: [TUFMetadataFile] { [live?.root, draftRoot].compactMap(\.self) }

    /// Whether a file is what is published, so that a publication that was interrupted had come so far.
    static func isPublished(_ draft: TUFMetadataFile?, as live: TUFMetadataFile?) -> Bool {
        draft.map { $0.saysTheSame(as: live) } ?? false
    }
}

// MARK: Preparing

extension TUFRepositoryState {
    /// Begins a repository: its first root, signed by nobody.
    /// - Parameters:
    ///   - roles: who signs each of the four roles.
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
    }

    /// Prepares new pins: the next version of the targets role, signed by nobody. What was being prepared of it is gone.
    /// - Parameters:
    ///   - pins: the octets of a pin file, with all that a signed one needs.
    ///   - lifetimes: how long the metadata lasts.
    ///   - time: the current time.
    /// - Returns: the pin file.
    /// - Throws: ``TUFRepositoryError`` `invalidPins`.
    @discardableResult
    public mutating func prepare(
        pins: Data, lifetimes: Lifetimes = Lifetimes(), at time: Date
    ) throws(TUFRepositoryError) -> PinFile {
        let file = try Self.pinFile(pins)
        guard let end = file.end, end > time else {
            throw TUFRepositoryError(
                .invalidPins, expected: "pins that have not run out", found: "a notAfter and a grace that are past")
        }
        draftTargets = try TUFContents.targets(
            version: (live?.targets.version ?? 0) + 1, expires: time.addingTimeInterval(lifetimes.targets.inSeconds),
            pins: pins)
        draftPins = pins
        return file
    }

    /// Prepares a next root in which a role has other keys; what was being prepared of root goes on from there, and its
    /// signatures are gone. Where the keys of targets change, the next targets are prepared as well, with the same pins.
    /// - Parameters:
    ///   - role: whose keys change.
    ///   - new: keys that are added.
    ///   - old: key ids, in hexadecimal, that are removed.
    ///   - threshold: how many have to sign; nil for as many as before.
    ///   - lifetimes: how long the root lasts, also where nothing else changes.
    ///   - time: the current time.
    /// - Throws: ``TUFRepositoryError`` `invalidRoles`, `otherKey` for a key that the role has not.
    public mutating func change(
        _ role: TUFRole, adding new: [TUFPublicKey] = [], removing old: [String] = [], threshold: Int? = nil,
        lifetimes: Lifetimes = Lifetimes(), at time: Date
    ) throws(TUFRepositoryError) {
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
                    found: "\(TUFText.short(id)), which is none", remedy: "Give a key that the status shows.")
            }
            entry.keyIDs.remove(at: index)
        }
        for key in new where !entry.keyIDs.contains(Array(key.id.utf8)) { entry.keyIDs.append(Array(key.id.utf8)) }
        if let threshold { entry.threshold = Int64(threshold) }
        contents.set(role, entry, adding: new)
        try contents.check(after: live?.root)
        draftRoot = try contents.file()
        guard role == .targets, entry != before, draftTargets == nil, let live else { return }
        draftTargets = try TUFContents.targets(
            live.targets, version: live.targets.version + 1,
            expires: time.addingTimeInterval(lifetimes.targets.inSeconds))
        draftPins = live.pins
    }

    /// Forgets what is being prepared.
    public mutating func discardDrafts() { (draftRoot, draftTargets, draftPins) = (nil, nil, nil) }

    static func pinFile(_ data: Data) throws(TUFRepositoryError) -> PinFile {
        do throws(PinFileError) {
            let file = try PinFile(json: data)
            try file.checkRequirements(for: .signed)
            return file
        } catch {
            throw TUFRepositoryError(.invalidPins, expected: error.expected, found: error.found, remedy: error.remedy)
        }
    }
}
