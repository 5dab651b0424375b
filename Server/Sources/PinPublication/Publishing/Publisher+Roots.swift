import HoldfastPublishing
import PinChanges
package import ServerFoundation
import ServerModel
import ServerStore

extension Publisher {
    /// The result of publishing a root.
    package struct RootOutcome: Sendable, Hashable {
        /// Its version.
        package let version: Int64
        /// Whether the server signs snapshot and timestamp with other keys from now on.
        package let hasOtherKeys: Bool
        /// The errors after the publication, as text, such as writing to the folder. The next round tries again.
        package let problems: [String]
    }

    /// Publishes a next root that enough holders of a repository have signed. Pins and generation do not change, so no
    /// approval is needed, and the approved content is verified again. Prepared targets wait for their change, unless
    /// they have the published pins: then they are published with the root.
    /// - Throws: ``ServerError`` `notFound` if no root is prepared; `gate` if clients would refuse it, or too few
    ///   holders have signed; `outOfTurn` before the first publication, and while nothing may be signed for the app.
    @discardableResult
    package func publishRoot(of app: AppName, by actor: String) async throws(ServerError) -> RootOutcome {
        let permit = try await catalog.look { [catalog] session, ledger throws(ServerError) in
            _ = try Catalog.app(app, session, ledger)
            return ledger.isHeld(app) ? nil : try Catalog.permit(for: .everybody, of: app, catalog, session, ledger)
        }
        guard let permit, permit.content.repository != nil else {
            throw ServerError(
                .outOfTurn, of: "app \(app)", expected: "a repository that is published",
                found: "none, or another since a backup was restored",
                remedy: "Publish a change with it; its root goes out with that.")
        }
        let scene = try await catalog.scene(of: app)
        let (files, judge) = (scene.repository, RepositoryJudge(scene, permit.content))
        let state = try await Self.state(of: files)
        guard let root = state.draftRoot else {
            throw ServerError(
                .notFound, of: files.name, expected: "a next root", found: "none",
                remedy: "Prepare one with app repository rotate, or import one that its holders made.")
        }
        let waiting = Self.targets(of: state, waitingFor: judge)
        if waiting != .empty {
            var alone = RepositoryDraft(state)
            (alone.targets, alone.pins) = (nil, nil)
            files.set(alone)
        }
        let refusals = await judge.faults() + judge.refusals()
        guard refusals.isEmpty else {
            throw ServerError(
                .gate, of: "\(files.name), root \(root.version)",
                expected: "a root that clients accept with the pins that are published",
                found: refusals.joined(separator: "; "), remedy: "Have more holders sign it, or prepare it again.")
        }
        let made = try await repository(for: permit, scene, try keys(for: permit, scene.keys))
        let digest = Digest(of: Array(root.data))
        try await catalog.transact { step throws(ServerError) in
            guard step.ledger.content(for: .everybody, of: app) == permit.content.digest else {
                throw ServerError(
                    .outOfTurn, of: files.name, expected: "the pins that were published", found: "others by now",
                    remedy: "Try again.")
            }
            try Catalog.requireUnchanged(files.base, of: app, step)
            try step.record(.root, by: actor, ["app": "\(app)", "version": "\(root.version)", "digest": "\(digest)"])
            let generation = max(1, step.ledger.generation(of: app))
            try Catalog.store(made, leaving: waiting, of: app, generation: generation, &step)
        }
        return RootOutcome(
            version: root.version, hasOtherKeys: !made.begun.isEmpty, problems: made.problems + (await followed()))
    }

    /// The prepared targets, if their pins are not published yet.
    private static func targets(of state: TUFRepositoryState, waitingFor judge: RepositoryJudge) -> RepositoryDraft {
        var draft = RepositoryDraft.empty
        if let pins = state.draftPins, !judge.says(pins) {
            (draft.targets, draft.pins) = (state.draftTargets.map { Array($0.data) }, Array(pins))
        }
        return draft
    }
}
