public import Foundation
import Holdfast
public import HoldfastSigning
import HoldfastTUF

/// The files to write to publish the next state of a repository, and the state after that.
///
/// ``make(of:in:onlineKeys:lifetimes:includingDrafts:allowing:above:at:)`` makes one only if clients accept it after
/// each single write: new clients, and clients that know the published state.
public struct TUFPublication: Sendable {
    /// A file to serve.
    public struct Object: Sendable {
        /// The path relative to the served folder, such as `metadata/2.root.json`.
        public let path: String
        /// The content of the file.
        public let data: Data
        /// Whether nothing else will ever be served under this name.
        public let isImmutable: Bool
    }

    /// A rule that a publication may break on request.
    public enum Exception: String, Sendable, Hashable, CaseIterable {
        /// The timestamp lasts for less than seven days.
        case lifetime
        /// The new pins, or all pins of a host, expire before the timestamp does, or have expired already.
        case expiry
        /// Between two writes, clients that download file by file refuse the repository. This cannot be avoided if an
        /// old key is lost: only files that both the old and the new keys have signed verify at every moment. The
        /// bundle is replaced in one step, so its clients are not affected.
        case gap
    }

    /// The files in the order in which they must be written: pin file, targets, snapshot, timestamp, root, bundle. In
    /// the first publication, the root comes first.
    ///
    /// The next root comes after the files that it applies to. Clients that have it verify everything with its keys, so
    /// the files that they then download must be signed with those keys already.
    public private(set) var objects: [Object]
    /// The state of the repository after all files are written.
    public let state: TUFRepositoryState
    /// Whether clients that fetch file by file refuse the repository between two of the writes.
    public private(set) var hasGap = false

    /// Whether versions start again. Clients accept that as soon as they have the next root.
    private let beginsAgain: Bool
    /// Whether the drafts are published. If not, their files are unchanged.
    let includesDrafts: Bool
    /// The earlier content under the paths of the objects, if there was any.
    private(set) var replaced: [String: Data] = [:]
    /// The oldest root, from which the oldest app started.
    private let firstRoot: TUFMetadataFile

    /// Makes a publication, and rehearses it with clients.
    /// - Parameters:
    ///   - state: the published state and the drafts.
    ///   - storage: the storage of the repository.
    ///   - onlineKeys: the keys that sign snapshot and timestamp. While these keys are being replaced, include the old
    ///     ones.
    ///   - lifetimes: how long the metadata lasts.
    ///   - includesDrafts: whether the drafts are published. If not, the published metadata is renewed.
    ///   - exceptions: the rules that this publication may break.
    ///   - version: the maximum version of timestamp and snapshot that clients may know, if it is greater than in the
    ///     folder, for example because the folder was restored from a copy; at most 2^52.
    ///   - time: the current time.
    /// - Throws: ``TUFRepositoryError``; in that case nothing may be written.
    public static func make(
        of state: TUFRepositoryState, in storage: some TUFRepositoryStorage, onlineKeys: [TUFSigningKey],
        lifetimes: TUFRepositoryState.Lifetimes = .init(), includingDrafts includesDrafts: Bool = true,
        allowing exceptions: Set<Exception> = [], above version: Int64 = 0, at time: Date
    ) async throws(TUFRepositoryError) -> TUFPublication {
        guard lifetimes.timestamp >= TUFRepositoryState.Lifetimes.shortestTimestamp || exceptions.contains(.lifetime)
        else {
            throw TUFRepositoryError(
                .tooShort, of: "timestamp", expected: "at least 7 days",
                found: SpanText.text(lifetimes.timestamp.components.seconds))
        }
        // Check this before counting signatures: signatures do not fix a wrong draft.
        if includesDrafts, !state.hasNoDraft,
            let refusal = state.refusals(at: time, lifetimes: lifetimes, allowing: exceptions).first
        {
            throw refusal
        }
        var publication = try await TUFPublication(
            state, in: storage, onlineKeys: onlineKeys, lifetimes: lifetimes, includesDrafts: includesDrafts,
            above: version, at: time)
        try await publication.addBundle(storage, at: time)
        try await publication.noteReplaced(storage, from: state.live)
        try await publication.rehearse(storage, from: state.live, allowing: exceptions, at: time)
        return publication
    }

    private init(
        _ state: TUFRepositoryState, in storage: some TUFRepositoryStorage, onlineKeys: [TUFSigningKey],
        lifetimes: TUFRepositoryState.Lifetimes, includesDrafts: Bool, above version: Int64, at time: Date
    ) async throws(TUFRepositoryError) {
        let live = state.live
        let newRoot = includesDrafts ? state.draftRoot : nil
        let newTargets = includesDrafts ? state.draftTargets : nil
        guard let root = newRoot ?? live?.root, let targets = newTargets ?? live?.targets,
            let pins = newTargets == nil ? live?.pins : state.draftPins, let first = live?.roots.first ?? newRoot
        else {
            throw TUFRepositoryError(
                .notSigned, expected: "a root and pins to publish", found: "only one of them, or none",
                remedy: "Prepare the pins first.")
        }
        firstRoot = first
        self.includesDrafts = includesDrafts
        if includesDrafts { try Self.requireSignatures(state) }
        let judges = [live?.root, newRoot].compactMap(\.self)
        // The published snapshot is kept if it is still correct, if enough keys of each root have signed it, and if it
        // does not expire before the timestamp.
        let end = time.addingTimeInterval(lifetimes.timestamp.inSeconds)
        let versions = try TUFNextVersions(after: live, with: newRoot, above: version, in: storage)
        beginsAgain = versions.beginAgain
        var snapshot = live?.snapshot
        let isSigned = try Self.isSigned(snapshot, by: judges)
        if newTargets != nil || !isSigned || versions.needSnapshot || snapshot.map({ $0.end < end }) ?? true {
            let expires = max(end, time.addingTimeInterval(lifetimes.snapshot.inSeconds))
            snapshot = try TUFContents.snapshot(
                version: try await versions.snapshot(), expires: expires, targets: targets
            ).signed(by: try Self.keys(onlineKeys, of: .snapshot, judges))
        }
        guard let snapshot else {
            throw TUFRepositoryError(.damaged, of: "snapshot", expected: "a snapshot", found: "none")
        }
        let timestamp = try TUFContents.timestamp(
            version: try versions.timestamp(), expires: end, snapshot: snapshot
        ).signed(by: try Self.keys(onlineKeys, of: .timestamp, judges))

        var objects: [Object] = []
        if live == nil { objects.append(.metadata("1.root.json", root)) }
        if newTargets != nil {
            if live?.pins != pins { objects.append(.pins(pins)) }
            objects.append(.metadata("\(targets.version).targets.json", targets))
        }
        if snapshot.data != live?.snapshot.data {
            objects.append(.metadata("\(snapshot.version).snapshot.json", snapshot))
        }
        objects.append(.timestamp(timestamp))
        if live != nil, let newRoot { objects.append(.metadata("\(newRoot.version).root.json", newRoot)) }
        self.objects = objects
        var next = state
        next.live = TUFRepositoryState.Live(
            roots: (live?.roots ?? []) + (newRoot.map { [$0] } ?? []), timestamp: timestamp, snapshot: snapshot,
            targets: targets, pins: pins)
        if includesDrafts { (next.draftRoot, next.draftTargets, next.draftPins) = (nil, nil, nil) }
        self.state = next
    }

    /// Checks again that the pins last long enough. The machine on which they were prepared has its own clock, and
    /// collecting signatures may take weeks. Clients that get these pins may get nothing newer for as long as the
    /// timestamp lasts.
    static func requireEnd(of pins: PinFile, after least: Date) throws(TUFRepositoryError) {
        let end = pins.end
        guard let end, end > least else {
            throw TUFRepositoryError(
                .tooShort, of: "pins",
                expected: "pins that are valid for longer than the timestamp, until after \(least.formatted(.iso8601))",
                found: "pins that are valid until \(end?.formatted(.iso8601) ?? "an unknown time")",
                remedy: "Prepare pins with a later notAfter, or override expiry.")
        }
        // The pins of a host may all expire before the file does.
        guard let host = TUFLastingPins(pins, at: least).closed.first else { return }
        throw TUFRepositoryError(
            .tooShort, of: "pins",
            expected: "pins of \(host.pattern) that count for longer than the timestamp, until after "
                + least.formatted(.iso8601),
            found: "\(host.requirement == .any ? "all its pins" : "all its pins of one role") expire before that",
            remedy: "Prepare pins with a later notAfter of their own, or override expiry.")
    }

    private static func requireSignatures(_ state: TUFRepositoryState) throws(TUFRepositoryError) {
        guard let lacking = try state.progress().first(where: { !$0.isEnough }) else { return }
        throw TUFRepositoryError(
            .notSigned, of: lacking.role.rawValue,
            expected: "\(TUFText.count(lacking.threshold, "signature")) by the keys of root \(lacking.root)",
            found: "\(lacking.signed.count)")
    }

    private static func isSigned(
        _ file: TUFMetadataFile?, by judges: [TUFMetadataFile]
    ) throws(TUFRepositoryError) -> Bool {
        guard let file else { return false }
        for judge in judges {
            let delegator = try TUFRepositoryState.delegator(file.role, judge)
            guard delegator.signers(of: file.file).count >= delegator.threshold else { return false }
        }
        return true
    }

    /// The keys that sign a role according to any of the roots.
    private static func keys(
        _ keys: [TUFSigningKey], of role: TUFRole, _ judges: [TUFMetadataFile]
    ) throws(TUFRepositoryError) -> [TUFSigningKey] {
        let those = keys.compactMap { TUFRepositoryState.listed($0, as: role, by: judges) }
        guard !those.isEmpty else {
            var ids: Set<[UInt8]> = []
            for judge in judges { ids.formUnion(try TUFRepositoryState.delegator(role, judge).keyIDs) }
            let wanted = ids.map { TUFText.short($0) }.sorted().joined(separator: " or ")
            let given = keys.map { TUFText.short(Array($0.publicKey.id.utf8)) }.joined(separator: " and ")
            throw TUFRepositoryError(
                .otherKey, of: role.rawValue, expected: "a key that signs \(role.rawValue): \(wanted)",
                found: given.isEmpty ? "none" : given, remedy: "Give the online key.")
        }
        return those
    }

    /// Records the current content. If the content differs when this is written, another publication took place. A file
    /// with a version in its name may exist already, from a publication that stopped before the timestamp.
    private mutating func noteReplaced(
        _ storage: some TUFRepositoryStorage, from live: TUFRepositoryState.Live?
    ) async throws(TUFRepositoryError) {
        for object in objects {
            replaced[object.path] = try await storage.read(
                TUFStoragePath.served(object.path), atMost: TUFRepositoryLimits.file)
        }
        // The state was read earlier, so use its timestamp.
        replaced[TUFStoragePath.timestampName] = live?.timestamp.data
    }

    // MARK: Rehearsal

    /// Adds the bundle. Section 6.2 orders all other files; the bundle is Holdfast's own, and clients download it in
    /// one request.
    private mutating func addBundle(_ storage: some TUFRepositoryStorage, at time: Date)
        async throws(TUFRepositoryError)
    {
        let clock = TUFFixedClock(now: time)
        do {
            let bundle = try await PinBundle.data(
                of: source(storage, objects.count), root: firstRoot.data, target: TUFContents.target,
                settings: TUFRehearsalClient.settings, clock: clock)
            let proved = try PinBundle.proved(bundle, root: firstRoot.data, clock: clock)
            guard let pins = state.live?.pins, proved == (try PinFile(json: pins)) else {
                throw Self.refusal("other pins in the bundle")
            }
            objects.append(Object(path: TUFStoragePath.bundleName, data: bundle, isImmutable: false))
        } catch let error as TUFError {
            throw Self.refusal(error)
        } catch let error as StoreError {
            throw Self.refusal("\(error.found); expected \(error.expected)")
        } catch let error as TUFRepositoryError {
            throw error
        } catch {
            throw Self.refusal(ForeignErrorText.found(error))
        }
    }

    /// After each write, runs an update with a new client and with one that knows the previous publication.
    private mutating func rehearse(
        _ storage: some TUFRepositoryStorage, from live: TUFRepositoryState.Live?, allowing exceptions: Set<Exception>,
        at time: Date
    ) async throws(TUFRepositoryError) {
        let before = source(storage, 0)
        let seasoned = TUFRehearsalClient(root: firstRoot.data)
        var isWhole = false
        if let live {
            // It updated while everything was valid, so that it detects a rollback of a version.
            let end =
                (live.roots.suffix(1) + [live.timestamp, live.snapshot, live.targets]).map(\.end).min() ?? time
            do throws(TUFError) {
                _ = try await seasoned.pins(from: before, at: min(time, end.addingTimeInterval(-1)))
            } catch {
                throw Self.refusal(error, at: "what is published now: ")
            }
            isWhole = end > time
        }
        for count in 1...objects.count {
            let source = source(storage, count)
            let isFinal = count >= objects.count - 1
            let problem: TUFError
            do throws(TUFError) {
                _ = try await TUFRehearsalClient(root: firstRoot.data).pins(from: source, at: time)
                // It may know versions of a thief, which it forgets only with the next root.
                if isFinal || !beginsAgain { _ = try await seasoned.pins(from: source, at: time) }
                continue
            } catch {
                problem = error
            }
            // If the repository did not verify before, nothing is lost between the writes.
            guard isFinal || isWhole else { continue }
            guard !isFinal else { throw Self.refusal(problem) }
            guard exceptions.contains(.gap) else {
                throw TUFRepositoryError(
                    .refusedByClients, of: problem.subject, expected: "files that verify after each write",
                    found: "\(problem.code.rawValue) after \(objects[count - 1].path)",
                    remedy: "Let the old keys sign as well as the new ones; if they are lost, override gap.")
            }
            hasGap = true
        }
    }

    private func source<Storage: TUFRepositoryStorage>(
        _ storage: Storage, _ count: Int
    ) -> TUFStorageSource<Storage> {
        TUFStorageSource(
            storage: storage,
            written: Dictionary(objects.prefix(count).map { ($0.path, $0.data) }) { $1 })
    }

    private static func refusal(_ found: String, remedy: String? = nil) -> TUFRepositoryError {
        TUFRepositoryError(
            .refusedByClients, expected: "a repository that clients accept", found: found, remedy: remedy)
    }

    /// Takes over a client's error, with the remedy of the publisher instead of the client's.
    /// - Parameter place: what the client was given, if that is not what would be published.
    private static func refusal(_ error: TUFError, at place: String = "") -> TUFRepositoryError {
        let subject = error.subject.map { " of \($0)" } ?? ""
        let isOnline = [TUFRole.snapshot, .timestamp].contains { $0.rawValue == error.subject }
        return refusal(
            "\(place)\(error.code.rawValue)\(subject): expected \(error.expected), found \(error.found)",
            remedy: error.code == .notSigned && isOnline && place.isEmpty
                ? "Nothing was published. Give each of the keys that must sign it with --key, once for each." : nil)
    }
}

extension TUFPublication.Object {
    static func metadata(_ name: String, _ file: TUFMetadataFile) -> TUFPublication.Object {
        TUFPublication.Object(path: "metadata/\(name)", data: file.data, isImmutable: true)
    }

    static func timestamp(_ file: TUFMetadataFile) -> TUFPublication.Object {
        TUFPublication.Object(path: "metadata/timestamp.json", data: file.data, isImmutable: false)
    }

    static func pins(_ data: Data) -> TUFPublication.Object {
        let name = "targets/\(TUFContents.digest(data)).\(TUFContents.target)"
        return TUFPublication.Object(path: name, data: data, isImmutable: true)
    }
}
