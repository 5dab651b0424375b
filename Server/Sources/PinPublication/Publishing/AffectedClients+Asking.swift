import PinChanges
import ServerModel

extension AffectedClients {
    /// The clients that request a document that its destination lacks, and the data that they continue to use, as text.
    package func asking(for path: String) -> String {
        guard let content = scene.published else { return "no client requests it anymore" }
        let format = content.formats.first { format in
            let paths = ReleaseChannel.allCases.compactMap { content.path(of: format.kind, for: $0) }
            return paths.contains { $0.utf8.elementsEqual(path.utf8) }
                || format.kind == .repository && RepositoryPath.isServed(path, by: content.app)
        }
        guard let format else { return "no client requests it anymore" }
        let clients = format.clients(of: content.app) + Self.hosts(content)
        let earlier = scene.publications.dropLast().last { publication in
            publication.content.end >= scene.now && publication.content.formats.contains { $0.isSame(as: format) }
        }
        guard let earlier else { return "\(clients) get nothing there until it is repaired" }
        return "\(clients) get nothing new there until it is repaired: those with the documents published at "
            + "\(Self.time(earlier.published)) continue to use them until \(Self.time(earlier.content.end)), "
            + "and others get nothing"
    }
}
