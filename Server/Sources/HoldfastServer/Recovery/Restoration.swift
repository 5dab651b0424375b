import Foundation
import PinChanges
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

/// The last step of restoring: the public documents decide how the server continues. All changes are one transaction.
///
/// Versions and generations continue above any that a client may have seen. Newer public documents stay, and their app
/// signs nothing before the next publication, because its documents would be older than those of its clients. Open
/// changes lapse, because they may have been rejected or published after the backup.
struct Restoration: Sendable {
    let id: RandomID
    let state: PublicState
    /// The public repositories.
    let repositories: [AppName: PublicRepository]
    /// A head of the audit that was kept outside the server; nil for none.
    let known: AuditHead?
    /// Paths at which a document that the app's keys did not sign is no reason to stop.
    let disregarded: Set<String>
    let actor: String

    /// No server makes this many versions after a backup.
    private static let versionStep: Int64 = 1_000_000
    private static let generationStep: Int64 = 1_000

    /// The way in which an app continues.
    private struct Course {
        /// The documents to publish. The next version of each exceeds the latest known one.
        var documents: [Catalog.StoredDocument] = []
        var withheld: [String] = []
        /// The documents that were withdrawn, and stay so.
        var withdrawn: [String] = []
        var adopted: [String] = []
        /// Versions inside documents that the next ones must exceed, as for the documents themselves.
        var versions: [String: Int64] = [:]
        /// Whether a newer document is public.
        var isOutdated = false
        /// Whether a finding proves that no newer document was public.
        var isProven = false
    }

    /// - Throws: ``ServerError`` `brokenChain` if the known head does not belong to the backup; `invalidSignature` for
    ///   a document that no key of the app signed; `constraint` if two destinations differ.
    func apply(to catalog: Catalog) async throws(ServerError) -> RestorationReport {
        try await catalog.transact { step throws(ServerError) in
            var report = RestorationReport(head: step.ledger.chain.head)
            report.tokens = step.ledger.tokens.count
            report.lost = try lost(step)
            report.approvers = step.ledger.approvers?.index ?? 0
            try record(.backup(step.ledger.chain.head), &step)
            var seen: Set<String> = []
            for app in step.ledger.apps.keys.sorted(by: { "\($0)" < "\($1)" }) {
                let course = try course(of: app, catalog, step, &seen)
                try follow(course, app, &step, &report)
            }
            for (path, found) in state.found where !seen.contains(path) {
                report.unknown.append(path)
                // Ignore files that the server does not write, and names that do not fit into a line.
                guard ASCIIText.isPrintable(path.utf8, 1...512) else { continue }
                try record(.version(greatest(0, found.version, step), path: path, app: nil), &step)
            }
            report.unknown.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            for change in step.ledger.proposals.keys where step.ledger.ended[change] == nil {
                try step.record(.lapsed, by: actor, ["change": "\(change)", "reason": "a backup was restored"])
                report.lapsed.append(change)
            }
            report.lapsed.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
            try step.session.run("DELETE FROM token")
            try step.endSessions()
            try step.session.run("UPDATE host SET lease_token = NULL, leased_until = NULL")
            return report
        }
    }

    /// Requires that the known head continues this audit, or is in it. Returns the number of lost entries.
    private func lost(_ step: Catalog.Step) throws(ServerError) -> Int64? {
        guard let known else { return nil }
        let head = step.ledger.chain.head
        guard known.count <= head.count else { return known.count - head.count }
        let row = try step.session.run(
            "SELECT entry FROM audit WHERE place = $1", [.integer(known.count - 1)]
        ).first
        guard let row, Digest(of: try row.bytes(0)) == known.digest else {
            throw ServerError(
                .brokenChain, of: "backup", expected: "an audit with the head \(known)", found: "another",
                remedy: "Find out who wrote this backup or this head; restore nothing before that.")
        }
        return 0
    }

    private func record(_ line: Restorations.Line, _ step: inout Catalog.Step) throws(ServerError) {
        try step.record(.restored, by: actor, line.facts.merging(["id": "\(id)"]) { $1 })
    }

    private func greatest(_ version: Int64, _ noted: Int64, _ step: Catalog.Step) -> Int64 {
        // A version takes a transaction, and the long-term rate is below one per second.
        max(version, noted) + Self.versionStep + max(0, step.now - step.ledger.latestTime)
    }

    // MARK: Public documents of an app

    private func course(
        of app: AppName, _ catalog: Catalog, _ step: Catalog.Step, _ seen: inout Set<String>
    ) throws(ServerError) -> Course {
        var known: [String: Catalog.StoredDocument] = [:]
        var paths = Set(app.possiblePaths.filter { state.found[$0] != nil })
        for name in step.ledger.documents.keys where name.app == app {
            paths.insert(name.name)
            known[name.name] = try Catalog.newest(name.name, of: app, step.session, step.ledger)
        }
        let judge = try judge(app, known, catalog, step)
        var course = Course()
        course.isProven = known.isEmpty && step.ledger.generation(of: app) == 0
        let repository = repositories[app]
        for path in paths.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            seen.insert(path)
            if repository != nil, RepositoryPath.isServed(path, by: app) { continue }
            try take(path, judge, &course)
        }
        if let repository { try take(repository, of: app, known, step, &course, &seen) }
        return course
    }

    /// A repository is kept or replaced as a whole, because its files name each other.
    private func take(
        _ repository: PublicRepository, of app: AppName, _ known: [String: Catalog.StoredDocument],
        _ step: Catalog.Step, _ course: inout Course, _ seen: inout Set<String>
    ) throws(ServerError) {
        var files = known.filter { RepositoryPath.isServed($0.key, by: app) }
        seen.formUnion(state.found.keys.filter { RepositoryPath.isServed($0, by: app) })
        let timestamp = RepositoryPath.prefix(of: app) + RepositoryPath.timestamp
        switch repository.sighting {
        case .known: course.isProven = true
        case .older: break
        case .foreign(let reason):
            guard disregarded.contains(timestamp) else {
                throw ServerError(
                    .invalidSignature, of: timestamp, expected: "a repository that apps with its first root follow",
                    found: reason,
                    remedy: "Restore a newer backup. Or find out who wrote it, and pass --disregard \(timestamp).")
            }
            course.isOutdated = true
        case .newer(let isRenewed):
            for (path, bytes) in repository.files where files[path].map({ $0.bytes != bytes }) ?? true {
                let end =
                    RepositoryPath.isImmutable(path) ? step.now + 10 * RepositoryPath.refresh(of: path) : repository.end
                files[path] = Catalog.StoredDocument(
                    app: app, path: path, version: 0, bytes: bytes, signedAt: step.now, end: end, isWithdrawn: false)
                if !isRenewed { course.adopted.append(path) }
            }
            if isRenewed { course.isProven = true } else { course.isOutdated = true }
        }
        let all = files.values.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        course.documents += all.filter { !$0.isWithdrawn }
        course.withdrawn += all.filter(\.isWithdrawn).map(\.path)
        course.versions[timestamp] = repository.version
    }

    private func judge(
        _ app: AppName, _ known: [String: Catalog.StoredDocument], _ catalog: Catalog, _ step: Catalog.Step
    ) throws(ServerError) -> PublicStateJudge {
        var earlier: Set<Digest> = []
        for row in try step.session.run("SELECT octets FROM document WHERE app = $1", [.text("\(app)")]) {
            earlier.insert(Digest(of: try row.bytes(0)))
        }
        let content = try step.ledger.publication(of: app).map { publication throws(ServerError) in
            try Catalog.permit(for: publication, catalog, step.session, step.ledger).content
        }
        let pins = content?.hosts.flatMap { $0.keys.map(\.pin) } ?? []
        return PublicStateJudge(
            app: app, known: known, earlier: earlier, content: content,
            fingerprints: try Catalog.key(.fingerprints, of: app, catalog.server, step.session, step.ledger),
            trustServer: try Catalog.key(.trustServer, of: app, catalog.server, step.session, step.ledger),
            publicKeys: try Catalog.publicKeys(Set(pins), step.session), now: step.now)
    }

    private func take(_ path: String, _ judge: PublicStateJudge, _ course: inout Course) throws(ServerError) {
        let known = judge.known[path]
        var newest: (document: Catalog.StoredDocument, isNewer: Bool)?
        var isWithheld = false
        // Formats of other systems contain no time: two publications may have the same file.
        let proves = ["lists/", "trust/"].contains { path.utf8.starts(with: $0.utf8) } || path.hasSuffix(".pins.json")
        for (bytes, places) in state.found[path]?.documents ?? [] {
            switch try judge.judge(bytes, at: path) {
            case .known: course.isProven = course.isProven || proves
            case .older: break
            case .unsigned: isWithheld = true
            case .renewed(let document):
                course.isProven = course.isProven || proves
                if document.signedAt > newest?.document.signedAt ?? 0 { newest = (document, false) }
            case .newer(let document):
                guard newest.map({ !$0.isNewer || $0.document.signedAt != document.signedAt }) ?? true else {
                    throw ServerError(
                        .constraint, of: path, expected: "one newer document", found: "another in \(places[0])",
                        remedy: "Put the right one into all places, or leave the others out, and run restore again.")
                }
                if document.signedAt > newest?.document.signedAt ?? 0 { newest = (document, true) }
            case .foreign(let reason):
                guard disregarded.contains(path) else {
                    throw ServerError(
                        .invalidSignature, of: "\(path) in \(places[0])",
                        expected: "what a key of the backup signed", found: reason,
                        remedy:
                            "If the app got another key after the backup, restore a newer backup. Otherwise "
                            + "find out who wrote it, and pass --disregard \(path)."
                    )
                }
                isWithheld = true
            }
        }
        // The version was noted but not written: a newer document was about to be public, maybe in another destination.
        if newest == nil, (state.found[path]?.version ?? 0) > known?.version ?? 0 { course.isOutdated = true }
        if let newest {
            course.documents.append(newest.document)
            course.isOutdated = course.isOutdated || newest.isNewer
            if newest.isNewer { course.adopted.append(path) }
        } else if isWithheld {
            course.withheld.append(path)
            course.isOutdated = true
        } else if known?.isWithdrawn == true {
            course.withdrawn.append(path)
        } else if let known {
            course.documents.append(known)
        }
    }

    // MARK: Applying the findings

    private func follow(
        _ course: Course, _ app: AppName, _ step: inout Catalog.Step, _ report: inout RestorationReport
    ) throws(ServerError) {
        let before = step.ledger.generation(of: app)
        let isNothingLost = report.lost == 0 && known == report.head
        let isHeld = before > 0 && (course.isOutdated || !(course.isProven || isNothingLost))
        let generation = before + Self.generationStep
        try record(.app(app, generation: generation, isHeld: isHeld), &step)
        try step.session.run(
            "UPDATE app SET generation = $2 WHERE name = $1", [.text("\(app)"), .integer(generation)])
        for path in course.withheld {
            try record(.version(greatest(of: path, app, step), path: path, app: app), &step)
        }
        for path in course.withdrawn {
            try record(.version(greatest(of: path, app, step), path: path, app: nil), &step)
            try Catalog.withdraw(path, of: app, &step)
        }
        for document in course.documents {
            let least = max(
                greatest(of: document.path, app, step), greatest(course.versions[document.path] ?? 0, 0, step))
            try record(.version(least, path: document.path, app: nil), &step)
            let name = Ledger.Name(app: app, name: document.path)
            let next = Catalog.StoredDocument(
                app: app, path: document.path, version: step.ledger.nextVersion(of: name), bytes: document.bytes,
                signedAt: document.signedAt, end: document.end, isWithdrawn: false)
            try Catalog.insert(next, generation: max(1, generation), step)
            let version = Ledger.Version(version: next.version, digest: next.digest)
            try record(.document(version, path: document.path, app: app), &step)
        }
        report.adopted += course.adopted
        report.withheld += course.withheld
        if isHeld { report.held.append(app) }
    }

    private func greatest(of path: String, _ app: AppName, _ step: Catalog.Step) -> Int64 {
        let name = Ledger.Name(app: app, name: path)
        return greatest(step.ledger.nextVersion(of: name) - 1, state.found[path]?.version ?? 0, step)
    }
}
