/// For whom documents are.
enum ReleaseChannel: Sendable, CaseIterable {
    case everybody
    /// Who has a change before everybody, under paths of its own.
    case canary

    /// The name under which an app of this audience asks; nil if there is no room for it.
    func name(of app: AppName) -> AppName? {
        switch self {
        case .everybody: app
        case .canary: AppName(bytes: "\(app)-canary".utf8)
        }
    }
}

extension Content {
    /// Where an audience finds a document; nil for formats that are not one file or are not published, and for a canary
    /// without a name.
    func path(of kind: ContentFormat.Kind, for audience: ReleaseChannel) -> String? {
        guard let name = audience.name(of: app), let format = formats.first(where: { $0.kind == kind }) else {
            return nil
        }
        guard kind == .trustServer, audience == .canary else { return format.path(of: name) }
        return "trust/\(format.customer ?? "")-canary.json.signed"
    }

    /// Where an audience finds all documents that are files.
    func paths(for audience: ReleaseChannel) -> [String] { formats.compactMap { path(of: $0.kind, for: audience) } }
}

extension Ledger {
    /// The digest of the content that an audience has; nil before the first.
    func content(for audience: ReleaseChannel, of app: AppName) -> Digest? {
        let held = audience == .canary ? canaries[app].flatMap { proposals[$0.change]?.content } : nil
        return held ?? publication(of: app)?.content
    }
}
