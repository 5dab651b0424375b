import Foundation
package import Holdfast
package import PinPublication
package import ServerFoundation
package import ServerStore

extension ServerFolder {
    /// The steps of a change of the secret. Each is on the disk before the next.
    package enum ResealingStep: Sendable, CaseIterable {
        /// The new secret is in the file `SECRET.next`.
        case written
        /// The recovery copy is written.
        case copied
        /// All keys are sealed with the new secret, in one transaction.
        case sealed
        /// The new secret has replaced the old one.
        case placed
    }

    /// The result of a change of the secret.
    package struct Resealing: Sendable, Hashable {
        /// Whether this completed an earlier change instead of making another secret.
        package let isContinued: Bool
        /// The unused keys that the old secret did not open.
        package let unreadable: [String]
    }

    /// Changes the secret. No server may run meanwhile. The change may be interrupted at any time. Either the secret's
    /// file or the one next to it opens all keys, every start checks both, and another run completes the change.
    /// - Parameters:
    ///   - copy: a second file for the new secret; nil for none.
    ///   - clock: the time.
    ///   - generator: makes the secret.
    ///   - actor: the actor for the audit.
    ///   - after: called after each step.
    /// - Throws: ``ServerError``: `folderInUse` while a server runs; `secretFile`; `sealedKey`; `file` if another file
    ///   exists at the path of the copy.
    package func reseal(
        copy: SecretFile?, clock: any WallClock, using generator: inout some RandomNumberGenerator, by actor: String,
        after: (ResealingStep) throws(ServerError) -> Void = { _ in }
    ) async throws(ServerError) -> Resealing {
        let lock = try self.lock()
        defer { withExtendedLifetime(lock) {} }
        let open = try await open(clock: clock)
        do throws(ServerError) {
            let resealing = try await reseal(open, copy, &generator, actor, after)
            await open.engine.close()
            return resealing
        } catch {
            await open.engine.close()
            throw error
        }
    }

    private func reseal(
        _ open: Open, _ copy: SecretFile?, _ generator: inout some RandomNumberGenerator, _ actor: String,
        _ after: (ResealingStep) throws(ServerError) -> Void
    ) async throws(ServerError) -> Resealing {
        guard let old = open.secret else {
            throw open.secretProblem ?? ServerError(.secretFile, expected: "the secret", found: "none")
        }
        let file = SecretFile(URL(filePath: open.configuration.secret))
        let isContinued = file.next.exists
        let new = isContinued ? try file.next.read(outside: url) : SigningSecret(using: &generator)
        // Check before writing: an existing file may be the only copy of another secret.
        let hasCopy = try copy.map { copy throws(ServerError) in try isThere(copy, new) } ?? true
        if !isContinued { try file.next.replace(new, outside: url) }
        try after(.written)
        if !hasCopy { try copy?.create(new, outside: url) }
        try after(.copied)
        var unreadable: [String] = []
        if open.catalog.ledger.secretID != new.id {
            unreadable = try await open.catalog.reseal(from: old, to: new, by: actor)
        }
        try after(.sealed)
        try file.takeNext()
        try after(.placed)
        return Resealing(isContinued: isContinued, unreadable: unreadable)
    }

    private func isThere(_ copy: SecretFile, _ new: SigningSecret) throws(ServerError) -> Bool {
        try copy.requireOutside(url)
        guard copy.exists else { return false }
        guard try copy.read(outside: url).id == new.id else {
            throw ServerError(
                .file, of: copy.url.path, expected: "a new file, or the copy of an earlier attempt",
                found: "another secret", remedy: "Name a file that does not exist yet; a secret is never overwritten.")
        }
        return true
    }
}
