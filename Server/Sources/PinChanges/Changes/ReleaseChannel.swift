package import ServerFoundation
package import ServerModel
import ServerStore

/// The clients that documents are published for.
package enum ReleaseChannel: Sendable, CaseIterable {
    case everybody
    /// The clients that get a change before all others, under separate paths.
    case canary

    /// The name that an app of this channel uses in requests; nil if it would be too long.
    package func name(of app: AppName) -> AppName? {
        switch self {
        case .everybody: app
        case .canary: AppName(bytes: "\(app)-canary".utf8)
        }
    }
}

extension Content {
    /// The path of a document in a channel; nil for formats that are not one file or are not published, and for a
    /// canary without a name.
    package func path(of kind: ContentFormat.Kind, for audience: ReleaseChannel) -> String? {
        guard let name = audience.name(of: app), let format = formats.first(where: { $0.kind == kind }) else {
            return nil
        }
        guard kind == .trustServer, audience == .canary else { return format.path(of: name) }
        return "trust/\(format.customer ?? "")-canary.json.signed"
    }

    /// The paths of all documents that are files.
    package func paths(for audience: ReleaseChannel) -> [String] {
        formats.compactMap { path(of: $0.kind, for: audience) }
    }
}

extension Ledger {
    /// The digest of the content in a channel; nil before the first.
    package func content(for audience: ReleaseChannel, of app: AppName) -> Digest? {
        let held = audience == .canary ? canaries[app].flatMap { proposals[$0.change]?.content } : nil
        return held ?? publication(of: app)?.content
    }
}
