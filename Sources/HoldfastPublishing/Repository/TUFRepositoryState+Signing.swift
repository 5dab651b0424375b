import Crypto
import Foundation
import Holdfast
public import HoldfastSigning
import HoldfastTUF

extension TUFRepositoryState {
    /// The keys of a role that have signed a draft, and the number that must sign.
    public struct Progress: Sendable, Hashable {
        /// The role of the draft: root or targets.
        public let role: TUFRole
        /// The version of the root whose keys are counted. A new root needs signatures by the keys of the previous root
        /// and by its own keys. New targets need signatures by the keys of the root that clients will have.
        public let root: Int64
        /// The ids of the keys that have signed.
        public let signed: [String]
        /// The ids of the keys that have not signed yet.
        public let missing: [String]
        /// The number of keys that have to sign.
        public let threshold: Int

        /// Whether enough keys have signed.
        public var isEnough: Bool { signed.count >= threshold }
    }

    /// The root whose keys a caller requests.
    public enum RootChoice: Sendable, Hashable {
        /// The newest root that clients get.
        case published
        /// The root that is being prepared, or the published one without a draft.
        case newest
    }

    /// The ids of a role's keys, and the number that must sign.
    /// - Throws: ``TUFRepositoryError`` if the root is missing.
    public func keys(
        of role: TUFRole, in choice: RootChoice = .newest
    ) throws(TUFRepositoryError) -> (ids: [String], threshold: Int) {
        guard let root = choice == .newest ? newestRoot : live?.root else {
            throw TUFRepositoryError(.wrongPlace, expected: "a root", found: "none")
        }
        let delegator = try Self.delegator(role, root)
        return (delegator.keyIDs.map { String(decoding: $0, as: UTF8.self) }, delegator.threshold)
    }

    /// The keys of roles, according to the published root and to the draft; each key once. Keys that can no longer
    /// sign, such as those for RSA with PKCS #1 v1.5, are left out.
    public func publicKeys(of roles: [TUFRole]) -> [TUFPublicKey] {
        var ids: Set<String> = []
        return judges.map(TUFRootContents.init).flatMap { root in roles.flatMap { root.publicKeys(of: $0) } }
            .filter { ids.insert($0.id).inserted }
    }

    /// The ids of those keys of a role that have signed its file, according to the published root.
    /// - Throws: ``TUFRepositoryError`` if the root is missing.
    public func signers(of file: TUFMetadataFile) throws(TUFRepositoryError) -> [String] {
        guard let root = live?.root else {
            throw TUFRepositoryError(.wrongPlace, expected: "a root", found: "none")
        }
        return try Self.delegator(file.role, root).signers(of: file.file).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The signatures that the drafts still need before publication.
    /// - Throws: ``TUFRepositoryError`` if a draft does not follow the published version, or has a signature that does
    ///   not verify.
    public func progress() throws(TUFRepositoryError) -> [Progress] {
        try checkDrafts()
        var all: [Progress] = []
        for judge in judges {
            if let draftRoot { all.append(try progress(draftRoot, judge)) }
        }
        if let draftTargets, let newestRoot { all.append(try progress(draftTargets, newestRoot)) }
        return all
    }

    /// Adds a key's signature to every draft that the key may sign.
    ///
    /// It signs nothing if a draft does not follow the published version, or has a signature that does not verify.
    /// - Returns: the roles whose drafts the key has now signed, even if it had signed them before.
    /// - Throws: ``TUFRepositoryError`` `nothingToSign`, `otherKey`, `wrongVersion`, `invalidSignature`,
    ///   `unsupportedAlgorithm`, `invalidPins`.
    public mutating func sign(by key: TUFSigningKey) throws(TUFRepositoryError) -> [TUFRole] {
        let drafts = try drafts(for: key)
        for (draft, key) in drafts { replace(try draft.signed(by: [key])) }
        return drafts.map(\.draft.role)
    }

    /// Adds a key's signature to the drafts that the key may sign and that its holder knows: those that were prepared in
    /// this value, and those that the key has signed already.
    ///
    /// Anyone who can write to the folder of a repository can put a draft there, or one that the next change continues.
    /// Such a draft is not signed here: its holder reads it first (``changes()``), and then signs it with
    /// ``sign(by:)``.
    /// - Returns: the roles whose drafts the key may sign but has not signed.
    /// - Throws: ``TUFRepositoryError`` as ``sign(by:)`` does.
    public mutating func signPrepared(by key: TUFSigningKey) throws(TUFRepositoryError) -> [TUFRole] {
        var unread: [TUFRole] = []
        for (draft, key) in try drafts(for: key) {
            if isKnown(draft, to: key.publicKey) {
                replace(try draft.signed(by: [key]))
            } else {
                unread.append(draft.role)
            }
        }
        return unread
    }

    /// Calls `signPrepared(by:)` for each of several keys.
    /// - Returns: the roles whose drafts one of the keys may sign but has not signed.
    /// - Throws: ``TUFRepositoryError`` as ``sign(by:)`` does.
    public mutating func signPrepared(by keys: [TUFSigningKey]) throws(TUFRepositoryError) -> [TUFRole] {
        var unread: Set<TUFRole> = []
        for key in keys { unread.formUnion(try signPrepared(by: key)) }
        return unread.sorted { $0.rawValue < $1.rawValue }
    }

    /// The drafts that a key may sign, each with the key under its id in the roots.
    private func drafts(
        for key: TUFSigningKey
    ) throws(TUFRepositoryError) -> [(draft: TUFMetadataFile, key: TUFSigningKey)] {
        guard !hasNoDraft else {
            throw TUFRepositoryError(.nothingToSign, expected: "a draft to sign", found: "none")
        }
        try checkDrafts()
        let drafts = [draftRoot, draftTargets].compactMap(\.self)
        let own = drafts.compactMap { draft in
            Self.listed(key, as: draft.role, by: judges).map { (draft: draft, key: $0) }
        }
        guard !own.isEmpty else {
            let roles = drafts.map(\.role)
            let wanted = roles.flatMap { role in judges.flatMap { TUFRootContents($0).publicKeys(of: role) } }
            let ids = Set(wanted.map { TUFText.short(Array($0.id.utf8)) }).sorted().joined(separator: " or ")
            throw TUFRepositoryError(
                .otherKey, expected: "a key that signs \(roles.map(\.rawValue).joined(separator: " or ")): \(ids)",
                found: TUFText.short(Array(key.publicKey.id.utf8)), remedy: "Give the file of that key with --key.")
        }
        return own
    }

    private mutating func replace(_ draft: TUFMetadataFile) {
        if draft.role == .root { draftRoot = draft } else { draftTargets = draft }
    }

    /// A key under its id in the first root that lists it for a role, because other tools make other ids; nil if no
    /// root lists it.
    static func listed(
        _ key: TUFSigningKey, as role: TUFRole, by judges: [TUFMetadataFile]
    ) -> TUFSigningKey? {
        judges.lazy.flatMap { TUFRootContents($0).publicKeys(of: role) }.first { $0.isSameKey(as: key.publicKey) }
            .map(key.listed)
    }

    /// Checks that drafts are the next versions after the published ones, and that all their signatures verify.
    func checkDrafts() throws(TUFRepositoryError) {
        if let draftRoot {
            try check(draftRoot, of: .root, after: live?.root)
            try TUFRootContents(draftRoot).check(after: live?.root)
            try checkLayout(of: draftRoot)
        }
        guard let draftTargets else { return }
        try check(draftTargets, of: .targets, after: live?.targets)
        guard let draftPins, draftTargets.listedPins == Array(TUFContents.digest(draftPins).utf8)
        else {
            throw TUFRepositoryError(
                .damaged, of: "targets", expected: "the pin file that the next targets list", found: "another, or none",
                remedy: "Prepare the pins again.")
        }
        try Self.check(draftTargets, lists: draftPins)
        _ = try Self.pinFile(draftPins)
    }

    /// Clients request files with versions in their names only if the root specifies it, and only such files are
    /// published.
    private func checkLayout(of root: TUFMetadataFile) throws(TUFRepositoryError) {
        if root.signed["consistent_snapshot"] != .boolean(true) {
            throw TUFRepositoryError(
                .refusedByClients, of: "root", expected: "consistent_snapshot true", found: "false, or none",
                remedy: "Do not sign it: prepare the change again.")
        }
        try Self.checkSize(root, atMost: TUFRehearsalClient.settings.rootBytes)
    }

    private static func check(_ targets: TUFMetadataFile, lists pins: Data) throws(TUFRepositoryError) {
        let listed = targets.signed["targets"]?["pins.json"]
        let digests: [(StaticString, String)] = [
            ("sha256", TUFContents.digest(pins)), ("sha384", HexText.text(of: SHA384.hash(data: pins))),
            ("sha512", HexText.text(of: SHA512.hash(data: pins))),
        ]
        let isSame = digests.allSatisfy { name, digest in
            listed?["hashes"]?[name].map { $0 == JSONTree(text: digest) } ?? true
        }
        guard isSame, listed?["length"] == .integer(Int64(pins.count)) else {
            throw TUFRepositoryError(
                .refusedByClients, of: "targets", expected: "the length and the hashes of the pin file",
                found: "others",
                remedy: "Do not sign it: prepare the pins again.")
        }
        try checkSize(targets, atMost: TUFRehearsalClient.settings.targetsBytes)
    }

    private static func checkSize(_ file: TUFMetadataFile, atMost limit: Int) throws(TUFRepositoryError) {
        guard file.data.count > limit else { return }
        throw TUFRepositoryError(
            .refusedByClients, of: file.role.rawValue, expected: "at most \(limit) bytes", found: "\(file.data.count)")
    }

    private func check(
        _ draft: TUFMetadataFile, of role: TUFRole, after live: TUFMetadataFile?
    ) throws(TUFRepositoryError) {
        guard draft.role == role, draft.version == (live?.version ?? 0) + 1 else {
            throw TUFRepositoryError(
                .wrongVersion, of: role.rawValue, expected: "version \((live?.version ?? 0) + 1) of \(role.rawValue)",
                found: "version \(draft.version) of \(draft.role.rawValue)")
        }
        var verified: Set<[UInt8]> = []
        var unsupported: [[UInt8]: String] = [:]
        for judge in judges {
            let delegator = try Self.delegator(role, judge)
            verified.formUnion(delegator.signers(of: draft.file))
            for id in draft.keyIDs { unsupported[id] = unsupported[id] ?? delegator.unsupportedName(ofKey: id) }
        }
        // Report an invalid signature before an unsupported one.
        let others = draft.keyIDs.filter { !verified.contains($0) }
        guard let wrong = others.first(where: { unsupported[$0] == nil }) ?? others.first else { return }
        if let name = unsupported[wrong] {
            throw TUFRepositoryError(
                .unsupportedAlgorithm, of: role.rawValue, expected: "signatures of the role's keys that verify",
                found: "one by \(TUFText.short(wrong)) that cannot be verified: \(name) is not supported")
        }
        throw TUFRepositoryError(
            .invalidSignature, of: role.rawValue, expected: "signatures of the role's keys that verify",
            found: "one by \(TUFText.short(wrong)) that does not")
    }

    private func progress(
        _ draft: TUFMetadataFile, _ judge: TUFMetadataFile
    ) throws(TUFRepositoryError) -> Progress {
        let delegator = try Self.delegator(draft.role, judge)
        let signed = delegator.signers(of: draft.file)
        func text(_ ids: [[UInt8]]) -> [String] { ids.map { String(decoding: $0, as: UTF8.self) } }
        return Progress(
            role: draft.role, root: judge.version, signed: text(signed),
            missing: text(delegator.keyIDs.filter { !signed.contains($0) }), threshold: delegator.threshold)
    }

    static func delegator(_ role: TUFRole, _ root: TUFMetadataFile) throws(TUFRepositoryError) -> Delegator {
        do throws(TUFError) {
            return try root.root().delegator(role)
        } catch {
            throw TUFRepositoryError(.damaged, of: "root", expected: error.expected, found: error.found)
        }
    }
}

extension TUFMetadataFile {
    /// The SHA-256 that a targets file lists for the pin file, in hexadecimal; nil if it lists none.
    var listedPins: [UInt8]? {
        guard case .text(let digits)? = signed["targets"]?["pins.json"]?["hashes"]?["sha256"] else { return nil }
        return Array(digits)
    }
}
