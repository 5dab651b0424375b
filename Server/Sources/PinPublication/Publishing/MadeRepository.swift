package import HoldfastPublishing
import HoldfastSigning
package import PinChanges
package import ServerFoundation
import ServerModel
package import ServerStore

/// A publication of a repository.
package struct MadeRepository: Sendable {
    /// Its files, in writing order; empty if clients have all of them.
    let documents: [SignedDocument]
    /// The purposes of the keys that sign from now on, because the published root has them now.
    let begun: [SealedKey.Purpose]
    /// The effects that clients notice, as text.
    let problems: [String]

    static let nothing = MadeRepository()

    private init() { (documents, begun, problems) = ([], [], []) }

    /// Takes the publication of a content.
    /// - Parameter taken: the files that another publisher served before, by paths below `repo/APP/`. They are served
    ///   from now on.
    init(_ publication: TUFPublication, _ content: Content, _ scene: AppSnapshot, taken: [String: [UInt8]]) {
        let made = publication.documents(of: content.app, at: scene.now)
        let paths = Set(made.map { Array($0.path.utf8) })
        documents =
            taken.map { name, bytes in
                let path = RepositoryPath.prefix(of: content.app) + name
                return SignedDocument(
                    kind: .repository, path: path, mediaType: "application/json", bytes: bytes,
                    refresh: RepositoryPath.refresh(of: path), end: scene.now + 10 * RepositoryPath.refresh(of: path))
            }.filter { !paths.contains(Array($0.path.utf8)) } + made
        begun = scene.keys.next.filter { key in
            guard let own = try? TUFPublicKey(der: key.publicKey) else { return false }
            return key.place.purpose.role.map {
                publication.state.publicKeys(of: [$0]).contains(where: own.isSameKey)
            } ?? false
        }.map(\.place.purpose)
        let clients = content.repository?.clients(of: content.app) ?? ""
        problems =
            publication.hasGap
            ? [
                "\(clients) and fetch file by file refuse it while the folder is being written: no key signs that they "
                    + "know, and they find it once it is complete"
            ] : []
    }
}

extension SealedKey.Purpose {
    /// The role of a repository that a key signs for; nil for other formats.
    package var role: TUFRole? {
        switch self {
        case .fingerprints, .trustServer: nil
        case .snapshot: .snapshot
        case .timestamp: .timestamp
        }
    }
}

extension Catalog {
    /// Writes the files of a repository into history, and activates the keys that its root has.
    /// - Parameter draft: the remaining draft.
    package static func store(
        _ repository: MadeRepository, leaving draft: RepositoryDraft, of app: AppName, generation: Int64,
        _ step: inout Step
    ) throws(ServerError) {
        guard !repository.documents.isEmpty else { return }
        for document in repository.documents {
            try store(document, at: document.path, of: app, generation: generation, &step)
        }
        try begin(repository.begun, of: app, by: "server", &step)
        try keep(draft, of: app, by: "server", &step)
    }
}
