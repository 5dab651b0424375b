import PinChanges
package import ServerApprovals
package import ServerFoundation
import ServerModel
import ServerStore

extension Publisher {
    /// A fault, or information for an operator.
    package struct Finding: Sendable, Hashable {
        /// Whether it is a fault, not only information.
        package let isFault: Bool
        /// The description.
        package let words: String
    }

    /// Examines the whole server: the audit from its first entry on, approvers, approvals of all publications, keys,
    /// documents, the folder, and the age of the last backup. Opening the catalog has verified the audit already.
    /// - Parameters:
    ///   - isInPlace: false for a database from a backup, which has no folder.
    ///   - pages: the address of the administration's pages; nil for the one in the server's configuration.
    /// - Throws: ``ServerError`` of the database.
    package func examine(
        isInPlace: Bool = true, pages: RelyingParty? = nil
    ) async throws(ServerError) -> [Finding] {
        // A backup can be restored for pages at any address.
        var findings = try await approverFindings(pages ?? (isInPlace ? catalog.pages : nil))
        if isInPlace { findings += try await backupFindings() }
        if isInPlace, let warning = catalog.engine.reserve?.warning {
            findings.append(Finding(isFault: false, words: warning))
        }
        if let doubt = try await catalog.headDoubt() { findings.append(Finding(isFault: false, words: doubt)) }
        if isInPlace, try await catalog.engine.isOpenToPublic() {
            findings.append(
                Finding(
                    isFault: false,
                    words:
                        "every role of the database's cluster can connect to it: REVOKE CONNECT ON DATABASE … FROM PUBLIC"
                ))
        }
        for app in catalog.apps {
            do throws(ServerError) {
                findings += try await self.findings(of: app, isInPlace: isInPlace)
            } catch {
                findings.append(Finding(isFault: true, words: "\(app): \(error)"))
            }
        }
        if secret == nil { findings.append(Finding(isFault: true, words: "there is no secret: nothing can be signed")) }
        do throws(ServerError) {
            let snapshot = try await refresh()
            findings += snapshot.problems.map { Finding(isFault: true, words: $0) }
            let sorted = snapshot.documents.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (path, document) in isInPlace ? sorted : [] where try folder.read(path) != document.bytes {
                findings.append(Finding(isFault: true, words: "\(path): the file in the folder differs or is missing"))
            }
        } catch {
            findings.append(Finding(isFault: true, words: "\(error)"))
        }
        return findings
    }

    private func backupFindings() async throws(ServerError) -> [Finding] {
        let (ledger, now) = try await catalog.look { session, ledger throws(ServerError) in
            (ledger, try session.now())
        }
        let held = catalog.apps.filter(ledger.isHeld).map { app in
            Finding(
                isFault: true,
                words: "\(app): \(Self.heldByRestoring)")
        }
        guard let latest = ledger.latestBackup else {
            let words =
                "no backup exists: if this machine is lost, the keys of all apps are lost permanently; write one with "
                + "holdfast-server backup"
            return held + [Finding(isFault: false, words: words)]
        }
        let days = max(0, now - latest) / 86_400
        let age = days == 0 ? "of the last 24 hours" : "\(days) day\(days == 1 ? "" : "s") old"
        return held + [Finding(isFault: false, words: "the last backup is \(age)")]
    }

    /// Passkeys that no longer work.
    private func passkeyFindings(_ pages: RelyingParty?) async throws(ServerError) -> [Finding] {
        let passkeys: [RegisteredPasskey]
        do throws(ServerError) {
            passkeys = try await catalog.passkeys()
        } catch {
            return [Finding(isFault: true, words: "\(error)")]
        }
        guard let pages else { return [] }
        let strangers = passkeys.filter { $0.credential.party != pages }
        return Set(strangers.map(\.credential.party.origin)).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map {
            origin in
            let names = Set(
                strangers.filter { $0.credential.party.origin.utf8.elementsEqual(origin.utf8) }.map(\.person)
            )
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            return Finding(
                isFault: true,
                words: "passkeys of \(names.joined(separator: ", ")) were registered at \(origin), but the pages are "
                    + "at \(pages.origin), so these people cannot sign in there; invite them again, and remove the old "
                    + "passkeys with passkey remove")
        }
    }

    private func approverFindings(_ pages: RelyingParty?) async throws(ServerError) -> [Finding] {
        let set = try await catalog.approvers().head.approvers
        let ledger = catalog.ledger
        var findings = set.passkeyFindings(pages: pages) + (try await passkeyFindings(pages))
        findings += set.appFindings(Array(ledger.appNames), ledger.people) + set.limitFindings()
        if set.number == 1 {
            findings.append(
                Finding(
                    isFault: false,
                    words: "only one approval is required, so a single stolen key can publish any pins; "
                        + "sign a statement of approvers that requires two"))
        }
        // An approver of certain apps cannot approve for others, or sign a statement of approvers.
        let count = set.members.count { $0.apps == nil }
        let who = "\(count) approvers" + (count < set.members.count ? " of all apps" : "")
        if count <= set.number {
            findings.append(
                Finding(
                    isFault: false,
                    words: "\(set.number) of \(who) must agree: without one of them nothing is approved"))
        } else if count == set.number + 1 {
            findings.append(
                Finding(isFault: false, words: "if two of \(who) lose their keys, nothing is approved"))
        }
        return findings
    }

    private func findings(of key: Catalog.Key) -> [Finding] {
        let app = key.place.app
        switch key.custody {
        case .sealed(let sealed):
            guard let secret else { return [] }
            do throws(ServerError) {
                _ = try sealed.opened(with: secret)
                return []
            } catch {
                return [Finding(isFault: true, words: "\(app): \(error)")]
            }
        case .program(let program):
            if let doubt = program.doubt {
                return [Finding(isFault: true, words: "\(app), key for \(key.place.purpose.rawValue): \(doubt)")]
            }
            let purpose = key.place.purpose.rawValue
            return [
                Finding(isFault: false, words: "\(app): \(program.path) has the key for \(purpose), and signs with it")
            ]
        }
    }

    private func findings(of app: AppName, isInPlace: Bool) async throws(ServerError) -> [Finding] {
        let scene = try await catalog.scene(of: app)
        var findings: [Finding] = []
        for key in scene.keys.all {
            if let warning = key.plainTextWarning {
                findings.append(Finding(isFault: false, words: "\(app): \(warning)"))
            }
            findings += self.findings(of: key)
        }
        let problems = try await catalog.look { [catalog, folder] session, ledger throws(ServerError) in
            var problems: [String] = []
            do throws(ServerError) {
                _ = try Catalog.nextKeys(of: app, catalog.server, session, ledger)
            } catch {
                problems.append("\(app): \(error)")
            }
            for publication in ledger.apps[app] ?? [] {
                do throws(ServerError) {
                    _ = try Catalog.permit(for: publication, catalog, session, ledger)
                } catch {
                    problems.append("\(app), generation \(publication.generation): \(error)")
                }
            }
            for name in ledger.documents.keys where name.app == app {
                do throws(ServerError) {
                    let isPublished = try Catalog.document(name.name, of: app, session, ledger) != nil
                    if isPublished { continue }
                    guard try folder.read(name.name) != nil else { continue }
                    problems.append("\(name.name): the folder has it, and it is no longer published")
                } catch {
                    problems.append("\(app): \(error)")
                }
            }
            return problems
        }
        findings += problems.map { Finding(isFault: true, words: $0) }
        if let published = scene.published { findings += await RepositoryJudge(scene, published).findings() }
        if isInPlace { findings += try await placeFindings(of: app) }
        if scene.app.settings.builds == nil {
            findings.append(
                Finding(
                    isFault: false,
                    words: "\(app): it is not configured which builds carry pins, so every outlook is unknown; "
                        + "set the builds with holdfast-server app settings"))
        }
        for host in scene.hosts where host.observations.isEmpty {
            findings.append(Finding(isFault: false, words: "\(app): \(host.host.label) was never seen"))
        }
        return findings
    }
}

extension Catalog.Key {
    /// A warning about a key that was in plain text: anyone who could read the other server's database, or the file,
    /// may still sign for the app.
    var plainTextWarning: String? {
        guard wasInPlainText else { return nil }
        let remedy =
            place.purpose.role == nil
            ? "make another with app key --replace once no build in the field knows it"
            : "make another with app repository rotate"
        return "the key for \(place.purpose.rawValue) (\(place.id)) was in plain text before it came here: \(remedy)"
    }
}
