import Foundation
import HoldfastPublishing
import HoldfastSigning
import PinChanges
package import ServerFoundation
import ServerModel
import ServerStore

extension Publisher {
    /// Prepares new online keys for snapshot and timestamp of a repository, and a root that names them instead of the
    /// old keys, which may be compromised. The new keys sign nothing until the holders of the root have signed it and
    /// it is published. Then the old and the new keys both sign once, so that no app is locked out, and the old keys
    /// are removed. A prepared root is kept with its signatures.
    /// - Throws: ``ServerError`` `notFound` for an app without a repository; `outOfTurn` for one that was never published;
    ///   `secretFile` without the secret.
    package func replaceOnlineKeys(
        of app: AppName, by actor: String, using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> RepositoryProgress {
        try await requireRepository(of: app)
        let scene = try await catalog.scene(of: app)
        let files = scene.repository
        var state = try await Self.mended(files)
        guard state.live != nil else {
            throw ServerError(
                .outOfTurn, of: files.name, expected: "a repository that is published", found: "one that never was",
                remedy: "Publish it first: before that, no app has its root, and nothing that its keys signed.")
        }
        if try Self.names(scene.keys.next, state) { return try Self.progress(of: state) }
        let time = Date(timeIntervalSince1970: Double(scene.now))
        var made: [Catalog.Key] = []
        for (role, purpose) in [(TUFRole.snapshot, SealedKey.Purpose.snapshot), (.timestamp, .timestamp)] {
            let (key, publicKey) = try makeOnlineKey(purpose, of: app, using: &generator)
            made.append(key)
            try ServerError.translating(.notPublishable, of: files.name) { () throws(TUFRepositoryError) in
                let old = try state.keys(of: role).ids
                try state.change(role, adding: [publicKey], removing: old, threshold: 1, at: time)
            }
        }
        let draft = RepositoryDraft(state, taken: try await files.taken())
        try await catalog.transact { [made] step throws(ServerError) in
            try Catalog.requireUnchanged(files.base, of: app, step)
            for key in made { try Catalog.insert(key, as: .prepared, by: actor, &step) }
            try Catalog.keep(draft, of: app, by: actor, &step)
        }
        return try Self.progress(of: state)
    }

    /// Whether the prepared root names prepared keys for both roles.
    private static func names(_ next: [Catalog.Key], _ state: TUFRepositoryState) throws(ServerError) -> Bool {
        guard state.draftRoot != nil, next.count == 2 else { return false }
        return try ServerError.translating(.notPublishable, of: "root") { () throws(TUFRepositoryError) in
            for key in next {
                guard let role = key.place.purpose.role, let own = try? TUFPublicKey(der: key.publicKey),
                    try state.lists([own], for: role, in: .newest)
                else { return false }
            }
            return true
        }
    }

    /// A new sealed key for an online role, and its public key.
    func makeOnlineKey(
        _ purpose: SealedKey.Purpose, of app: AppName, using generator: inout some RandomNumberGenerator
    ) throws(ServerError) -> (key: Catalog.Key, publicKey: TUFPublicKey) {
        let made = TUFSigningKey()
        guard let secret, let pem = made.pem else { throw Self.noSecret }
        let place = try SealedKey.Place(
            server: catalog.server, app: app, id: "\(RandomID(using: &generator))", purpose: purpose)
        return (Catalog.Key(sealed: try SealedKey(sealing: pem, at: place, with: secret)), made.publicKey)
    }
}
