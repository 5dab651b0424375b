package import ServerModel

extension DocumentClient {
    /// The clients of a release channel: one for each format that apps request, and one for the pin file. A
    /// repository's canary is a separate app.
    package static func all(of content: Content, for audience: ReleaseChannel) -> [DocumentClient] {
        guard let app = audience.name(of: content.app) else { return [] }
        return content.formats.compactMap { format in
            let path = content.path(of: format.kind, for: audience)
            switch (format.kind, path) {
            case (.challenge, _):
                return DocumentClient(
                    kind: .challenge(app: "\(app)"), name: "CertStore apps with challenge answers of \(app)")
            case (.list, let path?):
                return DocumentClient(kind: .list(path: path), name: "CertStore apps with the list \(path)")
            case (.trustServer, let path?):
                return DocumentClient(
                    kind: .trustServer(path: path, customer: format.customer ?? ""),
                    name: "trust-server apps with \(path)")
            case (.pinFile, let path?):
                // The canary gets the bytes of all other clients, which contain their application's name.
                return DocumentClient(
                    kind: .pinFile(path: path, application: format.application(of: content.app)),
                    name: "builds that are made with \(path)")
            case (.repository, _), (_, nil): return nil
            }
        }
    }
}
