extension AffectedClients {
    /// Who asks for a document in a place that has another, or none, and what they go on with.
    func asking(for path: String) -> String {
        guard let content = scene.published else { return "nobody asks for it anymore" }
        let format = content.formats.first { format in
            let paths = ReleaseChannel.allCases.compactMap { content.path(of: format.kind, for: $0) }
            return paths.contains { $0.utf8.elementsEqual(path.utf8) }
                || format.kind == .repository && RepositoryPath.isServed(path, by: content.app)
        }
        guard let format else { return "nobody asks for it anymore" }
        let clients = format.clients(of: content.app) + Self.hosts(content)
        let earlier = scene.publications.dropLast().last { publication in
            publication.content.end >= scene.now && publication.content.formats.contains { $0.isSame(as: format) }
        }
        guard let earlier else { return "\(clients) get nothing there before it is mended" }
        return "\(clients) get nothing new there before it is mended: those that hold what was published at "
            + "\(Self.time(earlier.published)) go on with it, until \(Self.time(earlier.content.end)), and others get nothing"
    }
}
