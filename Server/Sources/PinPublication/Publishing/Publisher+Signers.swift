import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import PinChanges
package import ServerFoundation
package import ServerStore

extension Publisher {
    /// Has a program sign with a key from now on.
    ///
    /// A repository can change a key with overlap: its holders add the new key to the next root, next to the old one.
    /// Once that root is public, apps accept both keys, and the program takes over. Apps with a list, challenges or a
    /// trust server have one key or certificate compiled in: the same key may move into a program at any time, and
    /// another key locks out every build in the field.
    /// - Parameters:
    ///   - key: the key and the program that holds it.
    ///   - replacing: whether it may differ from the key that apps know, if no overlap is possible.
    ///   - actor: the actor for the audit.
    /// - Throws: ``ServerError`` `constraint` for a key that apps would refuse; `invalidValue` for a key that does not
    ///   fit its purpose; as ``add(_:replacing:by:)``.
    package func addSigner(
        _ key: Catalog.Key, replacing: Bool, by actor: String
    ) async throws(ServerError) -> KeyReplacement {
        let role: TUFRole
        switch key.place.purpose {
        case .fingerprints:
            _ = try ServerError.translating(.invalidValue, of: "key") { () throws(DocumentError) in
                try DocumentPublicKey(base64: Base64.encode(key.publicKey.suffix(65)))
            }
            return try await add(key, replacing: replacing, by: actor)
        case .trustServer: return try await add(key, replacing: replacing, by: actor)
        case .snapshot: role = .snapshot
        case .timestamp: role = .timestamp
        }
        let own = try ServerError.translating(.invalidValue, of: "key") { () throws(SigningError) in
            try TUFPublicKey(der: key.publicKey)
        }
        let files = try await catalog.repository(of: key.place.app)
        let (isThere, state) = try await RepositoryFiles.translating(.file, of: files.name) {
            () throws(TUFRepositoryError) -> (Bool, TUFRepositoryState?) in
            let isThere = try await files.isThere()
            return (isThere, isThere ? try await files.state(includingDrafts: false) : nil)
        }
        let done = KeyReplacement(lost: [], signed: [], problems: [])
        // The first root will be made with this key.
        guard isThere else {
            try await catalog.add(key, replacing: replacing, by: actor)
            return done
        }
        guard state?.publicKeys(of: [role]).contains(where: own.isSameKey) ?? false else {
            throw ServerError(
                .constraint, of: "key for \(role.rawValue)", expected: "a key that the published root names",
                found: "another: apps would refuse what it signs",
                remedy:
                    "Have the holders of root add the new key to the next root, next to the old key. Import and "
                    + "publish that root, then add the program."
            )
        }
        try await catalog.add(key, replacing: true, by: actor)
        return done
    }
}
