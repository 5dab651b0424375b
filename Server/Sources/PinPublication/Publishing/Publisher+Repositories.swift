import Foundation
import Holdfast
package import HoldfastPublishing
import HoldfastSigning
package import PinChanges
package import ServerFoundation
import ServerModel
import ServerStore

extension Publisher {
    /// The draft of a repository, for the holders who sign it.
    package struct RepositoryProgress: Sendable, Hashable {
        /// The changes, a line each: everything that signatures cover.
        package let changes: [String]
        /// The signatures so far, a line for each role and root.
        package let signatures: [String]
        /// Whether enough keys have signed all of it.
        package let isEnough: Bool
    }

    /// Begins the repository of an app: makes the keys for snapshot and timestamp, and prepares the first root for its
    /// holders to sign. Only the holders have the keys of root and targets, never the server.
    /// - Parameters:
    ///   - app: the app.
    ///   - root: the public keys of root, and how many must sign.
    ///   - targets: the public keys of targets, and how many must sign.
    ///   - actor: the actor for the audit.
    ///   - generator: makes the ids of the keys.
    /// - Throws: ``ServerError`` `constraint` if a repository exists; `secretFile` without the secret; `invalidValue`
    ///   for keys that cannot make a repository.
    package func beginRepository(
        of app: AppName, root: TUFRoleKeys, targets: TUFRoleKeys, by actor: String,
        using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> RepositoryProgress {
        let files = try await catalog.repository(of: app)
        let isThere = try await RepositoryFiles.translating(.file, of: files.name) { () throws(TUFRepositoryError) in
            try await files.isThere()
        }
        guard !isThere else {
            throw ServerError(
                .constraint, of: files.name, expected: "an app without a repository", found: "one that is there",
                remedy: "Apps follow the first root; its keys are changed by a next root.")
        }
        let snapshot = try await onlineKey(.snapshot, of: app, by: actor, using: &generator)
        let timestamp = try await onlineKey(.timestamp, of: app, by: actor, using: &generator)
        let now = Date(timeIntervalSince1970: Double(try await catalog.now()))
        let state = try ServerError.translating(.invalidValue, of: "keys of \(files.name)") {
            () throws(TUFRepositoryError) in
            try TUFRepositoryState(
                roles: [
                    .root: root, .targets: targets, .snapshot: TUFRoleKeys([snapshot]),
                    .timestamp: TUFRoleKeys([timestamp]),
                ], at: now)
        }
        return try await keep(state, of: app, files, by: actor)
    }

    /// The public key of an online role. Makes the key if it does not exist.
    private func onlineKey(
        _ purpose: SealedKey.Purpose, of app: AppName, by actor: String,
        using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> TUFPublicKey {
        if let key = try await catalog.key(purpose, of: app) {
            return try ServerError.translating(.sealedKey, of: key.place.id) { () throws(SigningError) in
                try TUFPublicKey(der: key.publicKey)
            }
        }
        let made = try makeOnlineKey(purpose, of: app, using: &generator)
        try await catalog.add(made.key, by: actor)
        return made.publicKey
    }

    /// Prepares the targets of an approved change for their holders to sign. Keeps prepared targets that can still be
    /// published, with their signatures.
    /// - Throws: ``ServerError`` `notApproved` and others as ``publish(_:)``; `gate` if the repository is not the
    ///   approved one; `outOfTurn` if everything is published already.
    @discardableResult
    package func draftRepository(_ id: RandomID, by actor: String) async throws(ServerError) -> RepositoryProgress {
        let change = try await catalog.change(id)
        let content = change.content
        let scene = try await catalog.scene(of: content.app, for: content)
        try await requireOpen(change, scene)
        _ = try await permit(for: change)
        guard let format = content.repository else {
            throw ServerError(
                .notFound, of: "change \(id)", expected: "a change that publishes a repository",
                found: "one that does not")
        }
        let (files, judge) = (scene.repository, RepositoryJudge(scene, content))
        var state = try await Self.mended(files)
        let faults = await judge.faults()
        guard faults.isEmpty else {
            throw ServerError(
                .gate, of: files.name, expected: "the repository that was approved",
                found: faults.joined(separator: "; "))
        }
        let lifetimes = content.repositoryLifetimes(at: scene.now)
        let time = Date(timeIntervalSince1970: Double(scene.now))
        if let pins = state.draftPins, judge.says(pins),
            state.refusals(at: time, lifetimes: lifetimes, allowing: [.lifetime]).isEmpty
        {
            return try Self.progress(of: state)
        }
        if state.draftTargets == nil, let pins = state.live?.pins, judge.says(pins) {
            throw ServerError(
                .outOfTurn, of: files.name, expected: "pins that are not published yet", found: "those that are",
                remedy: "Publish the change; its targets are there.")
        }
        let maker = PinFileMaker(content: content, format: format)
        let pins = try maker.pinFile(at: scene.now)
        try ServerError.translating(.notPublishable, of: files.name) { () throws(TUFRepositoryError) in
            _ = try state.prepare(pins: Data(pins), lifetimes: lifetimes, at: time)
        }
        return try await keep(state, of: content.app, files, by: actor)
    }

    /// Writes the published files and the draft into a new folder, as input of `holdfastctl repository sign`.
    /// - Throws: ``ServerError`` `notFound` for an app without a repository; `constraint` for a folder with one; `file`.
    @discardableResult
    package func exportRepository(
        of app: AppName, to folder: TUFRepositoryFolder
    ) async throws(ServerError) -> RepositoryProgress {
        let (files, state) = try await existingRepository(of: app)
        let isTaken = try await RepositoryFiles.translating(.file, of: folder.name) { () throws(TUFRepositoryError) in
            try await folder.isThere()
        }
        guard !isTaken else {
            throw ServerError(
                .constraint, of: folder.name, expected: "a new folder", found: "one with a repository",
                remedy: "Name another folder: nothing is overwritten.")
        }
        for (path, bytes) in try await files.served() {
            try Self.write(bytes, to: RepositoryPath.served + path, in: folder)
        }
        for (path, data) in RepositoryDraft(state).files { try Self.write(Array(data), to: path, in: folder) }
        return try Self.progress(of: state)
    }

    private static func write(
        _ bytes: [UInt8], to path: String, in folder: TUFRepositoryFolder
    ) throws(ServerError) {
        let isWritten = try ServerError.translating(.file, of: path) { () throws(TUFRepositoryError) in
            try folder.replace(path, nil, with: Data(bytes))
        }
        guard isWritten else {
            throw ServerError(.file, of: path, expected: "a new file", found: "one that is there")
        }
    }

    /// Imports the drafts that holders have signed, and merges earlier signatures. They may be a next root, which its
    /// holders made from an export, and targets with the pins of an approved change or of the publication.
    /// - Throws: ``ServerError`` `gate` for any other draft, with the clients that would be locked out; `notFound` for
    ///   a folder without drafts.
    @discardableResult
    package func importRepository(
        of app: AppName, from folder: TUFRepositoryFolder, by actor: String
    ) async throws(ServerError) -> RepositoryProgress {
        try await take(try Self.draft(in: folder), of: app, by: actor)
    }

    /// Imports signed drafts from another source.
    /// - Parameter keepingOthers: whether drafts that are not included are kept.
    package func take(
        _ signed: RepositoryDraft, keepingOthers: Bool = false, of app: AppName, by actor: String
    ) async throws(ServerError) -> RepositoryProgress {
        let scene = try await catalog.scene(of: app)
        let files = scene.repository
        let before = try await Self.mended(files)
        let known = RepositoryDraft(before)
        let draft = (keepingOthers ? signed.completed(with: known) : signed).merging(known)
        if before.live == nil, let root = draft.root,
            !RepositoryDraft.isSame(root, before.draftRoot.map { Array($0.data) })
        {
            throw ServerError(
                .gate, of: "\(files.name), root", expected: "the first root, as it was begun here",
                found: "a different root, with other keys or another end: apps would ship with the wrong root",
                remedy: "Sign what app repository export writes.")
        }
        files.set(draft)
        let state = try await Self.state(of: files)
        let progress = try Self.progress(of: state)
        if keepingOthers { try Self.requireSigned(draft, insteadOf: known, state) }
        if let pins = state.draftPins { try await requireApproved(pins, state, scene) }
        let kept = RepositoryDraft(state, taken: try await files.taken())
        try await catalog.transact { step throws(ServerError) in
            try Catalog.requireUnchanged(files.base, of: app, step)
            try Catalog.keep(kept, of: app, by: actor, &step)
        }
        return progress
    }

    /// Requires a holder's signature on a new draft. Otherwise anyone who may upload drafts could discard the prepared
    /// draft and its signatures.
    private static func requireSigned(
        _ draft: RepositoryDraft, insteadOf known: RepositoryDraft, _ state: TUFRepositoryState
    ) throws(ServerError) {
        let progress = (try? state.progress()) ?? []
        let published = state.live?.root?.version
        for (role, new, old) in [(TUFRole.root, draft.root, known.root), (.targets, draft.targets, known.targets)] {
            guard let new, !RepositoryDraft.isSame(new, old) else { continue }
            // The maker of a root chooses the keys in it, so a signature on it must be by a key of the published root.
            let isSigned = progress.contains { one in
                one.role == role && !one.signed.isEmpty && (role != .root || published.map { one.root == $0 } ?? true)
            }
            guard isSigned else {
                throw ServerError(
                    .gate, of: "draft of \(role.rawValue)", expected: "what is prepared, or a signature by a holder",
                    found: "a different draft without a holder's signature",
                    remedy: "Sign it first, or sign what is prepared.")
            }
        }
    }

    /// Requires that targets contain the pins of an approved change, or of the publication.
    private func requireApproved(
        _ pins: Data, _ state: TUFRepositoryState, _ scene: AppSnapshot
    ) async throws(ServerError) {
        let chain = try await catalog.approvers()
        var contents = try await catalog.changes(of: scene.app.name)
            .filter { $0.state(chain, generation: scene.generation, at: scene.now) == .approved }.map(\.content)
        if let published = scene.published { contents.append(published) }
        let judges = contents.filter { $0.repository != nil }.map { RepositoryJudge(scene, $0) }
        var refusals: [String] = []
        if let strange = state.draftTargets?.strangeFields {
            refusals.append("targets with unexpected content: \(strange)")
        } else if !judges.contains(where: { $0.says(pins) }) {
            refusals = judges.first?.differences(of: pins) ?? ["pins, and no change with a repository is approved"]
        }
        guard refusals.isEmpty else {
            throw ServerError(
                .gate, of: scene.repository.name, expected: "targets with the pins of an approved change",
                found: "\(refusals.joined(separator: "; ")): apps with this repository would get unapproved pins",
                remedy: "Do not publish it. Sign what app repository draft prepares for the change.")
        }
    }

    /// A repository that is published or prepared, with its drafts.
    /// - Throws: ``ServerError`` `notFound` for an app without one.
    func existingRepository(
        of app: AppName
    ) async throws(ServerError) -> (files: RepositoryFiles, state: TUFRepositoryState) {
        let files = try await requireRepository(of: app)
        return (files: files, state: try await Self.state(of: files))
    }

    /// The files of a repository, even if its drafts are damaged.
    /// - Throws: ``ServerError`` `notFound` for an app without one.
    @discardableResult
    func requireRepository(of app: AppName) async throws(ServerError) -> RepositoryFiles {
        let files = try await catalog.repository(of: app)
        let isThere = try await RepositoryFiles.translating(.notPublishable, of: files.name) {
            () throws(TUFRepositoryError) in try await files.isThere()
        }
        guard isThere else {
            throw ServerError(
                .notFound, of: files.name, expected: "a repository", found: "none",
                remedy: "Begin one: `holdfast-server app repository init \(app) --root-key FILE --targets-key FILE "
                    + "--output FOLDER --data DIR`.")
        }
        return files
    }

    private static func draft(in folder: TUFRepositoryFolder) throws(ServerError) -> RepositoryDraft {
        func file(_ path: String) throws(ServerError) -> [UInt8]? {
            try ServerError.translating(.file, of: path) { () throws(TUFRepositoryError) in
                try folder.data(at: path, atMost: RepositoryDraft.maximumFile).map { Array($0) }
            }
        }
        var draft = RepositoryDraft.empty
        draft.root = try file(RepositoryPath.draftRoot)
        draft.targets = try file(RepositoryPath.draftTargets)
        draft.pins = try file(RepositoryPath.draftPins)
        guard draft != .empty else {
            throw ServerError(
                .notFound, of: "\(folder.name)/draft", expected: "what holders signed", found: "nothing",
                remedy: "Name the folder that app repository export wrote.")
        }
        return draft
    }

    // MARK: Drafts

    package static func state(of files: RepositoryFiles) async throws(ServerError) -> TUFRepositoryState {
        try await RepositoryFiles.translating(.notPublishable, of: files.name) { () throws(TUFRepositoryError) in
            try await files.state()
        }
    }

    /// The state of a repository, without drafts if they are damaged and it is published. They must be prepared again
    /// then.
    package static func mended(_ files: RepositoryFiles) async throws(ServerError) -> TUFRepositoryState {
        do throws(ServerError) {
            return try await state(of: files)
        } catch {
            files.set(.empty)
            let damage = error
            do throws(ServerError) {
                return try await state(of: files)
            } catch {
                throw damage
            }
        }
    }

    private func keep(
        _ state: TUFRepositoryState, of app: AppName, _ files: RepositoryFiles, by actor: String
    ) async throws(ServerError) -> RepositoryProgress {
        let draft = RepositoryDraft(state, taken: try await files.taken())
        try await catalog.transact { step throws(ServerError) in
            try Catalog.requireUnchanged(files.base, of: app, step)
            try Catalog.keep(draft, of: app, by: actor, &step)
        }
        return try Self.progress(of: state)
    }

    package static func progress(of state: TUFRepositoryState) throws(ServerError) -> RepositoryProgress {
        try ServerError.translating(.gate, of: "repository") { () throws(TUFRepositoryError) in
            let all = try state.progress()
            return RepositoryProgress(
                changes: try state.changes(),
                signatures: all.map { progress in
                    "\(progress.role.rawValue): \(progress.signed.count) of \(progress.threshold) signatures by the keys of "
                        + "root \(progress.root)"
                }, isEnough: all.allSatisfy(\.isEnough))
        }
    }
}
