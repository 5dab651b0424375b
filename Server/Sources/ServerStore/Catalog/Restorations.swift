package import HoldfastPublishing
package import ServerFoundation
package import ServerModel

/// The restored backups, from the audit. The server does not know what was published after such a backup. Therefore it
/// continues with unused versions and generations, and does not touch documents that it does not recognize.
package struct Restorations: Sendable {
    /// A line of a restoration; all lines of one share its id.
    package enum Line {
        /// The backup itself, and the end of its audit.
        case backup(AuditHead)
        /// The version of a document that was public, or may have been. With an app, the server leaves the public file
        /// as it is until the next publication.
        case version(Int64, path: String, app: AppName?)
        /// A document that is public, as it is there or in the backup.
        case document(Ledger.Version, path: String, app: AppName)
        /// The generation after which an app continues, and whether it signs nothing until then.
        case app(AppName, generation: Int64, isHeld: Bool)

        package var facts: [String: String] {
            switch self {
            case .backup(let head): ["what": "backup", "head": "\(head)"]
            case .version(let version, let path, let app):
                ["what": "version", "version": "\(version)", "format": path].merging(
                    app.map { ["app": "\($0)"] } ?? [:]
                ) { $1 }
            case .document(let version, let path, let app):
                [
                    "what": "document", "version": "\(version.version)", "digest": "\(version.digest)", "format": path,
                    "app": "\(app)",
                ]
            case .app(let app, let generation, let isHeld):
                ["what": isHeld ? "held" : "app", "app": "\(app)", "generation": "\(generation)"]
            }
        }
    }

    /// The further effect of a line.
    package enum Effect {
        case nothing
        case withholds(Ledger.Name)
        case adopts(Ledger.Name, Ledger.Version)
    }

    /// The completed restorations.
    package private(set) var ids: Set<RandomID> = []
    /// The highest version of each document that a client may have seen, by its path.
    package private(set) var versions: [String: Int64] = [:]
    /// The generation after which an app continues.
    package private(set) var generations: [AppName: Int64] = [:]
    /// The generation during which an app signs nothing, because a newer one was public.
    package private(set) var held: [AppName: Int64] = [:]

    /// Applies a line of the audit.
    /// - Parameter ledger: the ledger before it.
    package mutating func take(_ facts: EntryFacts, _ ledger: Ledger) throws(ServerError) -> Effect {
        switch try facts.text("what") {
        case "backup":
            guard ids.insert(try facts.id("id")).inserted else { throw facts.impossible("another restoration") }
            return .nothing
        case "version":
            let path = try facts.text("format")
            let version = try facts.number("version")
            guard version >= versions[path] ?? 0 else { throw facts.impossible("a greater version") }
            versions[path] = version
            guard facts.has("app") else { return .nothing }
            return .withholds(Ledger.Name(app: try facts.app(), name: path))
        case "document":
            let name = Ledger.Name(app: try facts.app(), name: try facts.text("format"))
            let version = Ledger.Version(version: try facts.number("version"), digest: try facts.digest("digest"))
            guard version.version >= ledger.nextVersion(of: name), !version.isWithdrawn, ledger.apps[name.app] != nil
            else {
                throw facts.impossible("a greater version of a document of an app")
            }
            return .adopts(name, version)
        case let what:
            let (app, generation) = (try facts.app(), try facts.number("generation"))
            guard generation > ledger.generation(of: app), ledger.apps[app] != nil else {
                throw facts.impossible("a greater generation of an app")
            }
            generations[app] = generation
            if what.utf8.elementsEqual("held".utf8) { held[app] = generation }
            return .nothing
        }
    }
}

extension Ledger {
    /// Whether an app signs nothing until its next publication, because the public documents at the time of the
    /// restoration were not those of the backup.
    package func isHeld(_ app: AppName) -> Bool { restored.held[app].map { $0 == generation(of: app) } ?? false }

    /// The time until which clients may have documents unknown to this server, in seconds since 1970: the staleness
    /// after they were replaced, and no limit before that. Nil if there were none.
    package func unknownDocuments(of app: AppName, _ timing: PublicationTiming) -> Int64? {
        let restored = restored.held[app].map { held in
            apps[app]?.first { $0.generation > held }.map { timing.lastUse(ofReplaced: $0.time) } ?? .max
        }
        // The documents of another server before a takeover are unknown too.
        let taken = takenOver[app].map { since in
            (since ?? apps[app]?.first?.time).map(timing.lastUse(ofReplaced:)) ?? .max
        }
        return [restored, taken].compactMap(\.self).max()
    }
}
