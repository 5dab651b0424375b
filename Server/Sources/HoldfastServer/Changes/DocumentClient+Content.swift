import HoldfastPublishing

extension DocumentClient {
    /// The clients of what an audience gets: one for each format that apps ask for, and for each that builds are made with. A
    /// repository's canary is an app of its own.
    static func all(of content: Content, for audience: Audience) -> [DocumentClient] {
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
                // The canary gets the octets of everybody, which have everybody's name.
                return DocumentClient(
                    kind: .pinFile(path: path, application: format.application(of: content.app)),
                    name: "builds that are made with \(path)")
            case (_, let path?):
                let name = "builds that are made with \(path)"
                if let source = format.kind.source {
                    return DocumentClient(kind: .configuration(path: path, of: source), name: name)
                }
                // What cannot be made was not published.
                return (try? PinFileMaker(content: content, format: format, publicKeys: [:]).pinFile(at: nil)).map {
                    DocumentClient(kind: .code(path: path, pins: $0), name: name)
                }
            case (_, nil): return nil
            }
        }
    }
}

extension ContentFormat.Kind {
    /// Whose configuration it is, of the systems whose configuration is read here; nil for the others.
    fileprivate var source: PinImport.Source? {
        switch self {
        case .android: .android
        case .apple: .ats
        case .trustKit: .trustkit
        case .challenge, .list, .trustServer, .repository, .pinFile, .alamofire, .okhttp: nil
        }
    }
}
