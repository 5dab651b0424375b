import Holdfast
import NIOHTTP1

/// What the reference's tools write: each call proposes a change of what is published, and people approve it.
extension UtilityAdministration {
    /// A content without an end, as somebody wishes it.
    private struct Wish {
        var hosts: [ContentHost]
        var domains: ContentDomains?
        var versions: [VersionRule]
        var texts: [LocalizedText]
    }

    /// For how long documents may be signed, as change propose has it.
    private static let lifetime: Int64 = 180 * 86_400

    // MARK: Certificates and domains

    func addCertificate(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        let app = try app(call)
        var fields = try fields(call)
        let added = try reading { () throws(ServerError) in try UtilityBody.certificate(&fields) }
        return try await propose(app, call, "added a certificate of \(added.domain)") { wish throws(ServerError) in
            wish.hosts = try Self.changing(wish.hosts, added.domain) { certificates in
                certificates.removeAll { $0.sortingKey == added.certificate.sortingKey }
                certificates.append(added.certificate)
            }
        }
    }

    /// The reference believes whatever it is shown. Here it must have been announced, or seen from two vantages.
    func addSeen(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        let app = try app(call)
        var fields = try fields(call)
        let name = try reading { () throws(ServerError) in try UtilityBody.domain(&fields) }
        let seen = try await refusing { () async throws(ServerError) in
            try await catalog.draft(of: app, Catalog.ContentWishes(includesSeen: true)).hosts.filter {
                $0.name.utf8.elementsEqual(name)
            }
        }
        guard !seen.isEmpty else {
            throw .app("Add the host with holdfast-server host add first, so that somebody looks at it.")
        }
        return try await propose(app, call, "added what \(String(decoding: name, as: UTF8.self)) shows") {
            wish throws(ServerError) in
            wish.hosts = wish.hosts.filter { !$0.name.utf8.elementsEqual(name) } + seen
        }
    }

    func removeCertificate(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        let app = try app(call)
        guard let name = call.query["domain"], ContentHost.isName(name),
            let digest = call.query["fingerprint"].flatMap({ Base64.decode($0) }).flatMap({ Digest(octets: $0) })
        else { throw .request("Give the domain, and the Base64 of the certificate's fingerprint.") }
        return try await propose(app, call, "removed a certificate of \(String(decoding: name, as: UTF8.self))") {
            wish throws(ServerError) in
            wish.hosts = try Self.changing(wish.hosts, String(decoding: name, as: UTF8.self)) { certificates in
                certificates.removeAll { $0.fingerprint == digest }
            }
        }
    }

    func removeDomain(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        let app = try app(call)
        guard let name = call.query["domain"], ContentHost.isName(name) else { throw .request("Give the domain.") }
        return try await propose(app, call, "removed \(String(decoding: name, as: UTF8.self))") {
            wish throws(ServerError) in
            wish.hosts.removeAll { $0.name.utf8.elementsEqual(name) }
        }
    }

    /// Answers name no certificate that has expired, so there is nothing that anybody has to agree to.
    func removeExpired(_ call: Call) async throws(Refusal) -> ListenerAnswer { Self.json(["status": .text("OK")]) }

    func setBypass(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        let app = try app(call)
        let domains = try reading { () throws(ServerError) in try UtilityBody.domains(call.body) }
        return try await propose(app, call, "changed which domains need no pins") { wish throws(ServerError) in
            // All that it knows are listed, and those that nobody named need pins again.
            let known = Set(wish.hosts.map(\.name) + (wish.domains?.domains ?? []).map(\.name)).union(domains)
            wish.domains = try ContentDomains(
                unlistedNeedPins: wish.domains?.unlistedNeedPins ?? true,
                domains: known.map { name throws(ServerError) in
                    try ContentDomains.Domain(name: name, needsPins: !domains.contains(name))
                })
        }
    }

    private static func changing(
        _ hosts: [ContentHost], _ name: String, _ change: (inout [ContentHost.Certificate]) -> Void
    ) throws(ServerError) -> [ContentHost] {
        let old = hosts.first { $0.name.utf8.elementsEqual(name.utf8) }
        var certificates = old?.certificates ?? []
        change(&certificates)
        let new = try ContentHost(
            name: name, port: old?.port ?? 443, certificates: certificates, keys: old?.keys ?? [])
        return hosts.filter { $0.sortingKey != new.sortingKey } + [new]
    }

    // MARK: Versions and texts

    func addVersion(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        let app = try app(call)
        var fields = try fields(call)
        let rule = try reading { () throws(ServerError) in try UtilityBody.version(&fields) }
        return try await propose(app, call, "changed a rule for versions") { wish throws(ServerError) in
            wish.versions = wish.versions.filter { $0.sortingKey != rule.sortingKey } + [rule]
        }
    }

    func removeVersion(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        let app = try app(call)
        let index = try index(call, of: try await content(of: app)?.versions ?? [])
        return try await propose(app, call, "removed a rule for versions") { wish throws(ServerError) in
            guard wish.versions.indices.contains(index) else {
                throw ServerError(.outOfTurn, of: "versions", expected: "the rules that were read", found: "others")
            }
            wish.versions.remove(at: index)
        }
    }

    func addText(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        var fields = try fields(call)
        let text = try reading { () throws(ServerError) in try UtilityBody.text(&fields) }
        return try await proposeForAll(call, using: text.key, "changed a text") { wish throws(ServerError) in
            wish.texts = wish.texts.filter { $0.sortingKey != text.sortingKey } + [text]
        }
    }

    func removeText(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        let (key, language) = (call.path[1], call.path[2])
        return try await proposeForAll(call, using: key, "removed a text") { wish throws(ServerError) in
            wish.texts.removeAll {
                $0.key.utf8.elementsEqual(key.utf8) && $0.language.utf8.elementsEqual(language.utf8)
            }
        }
    }

    // MARK: Changes

    /// The reference has texts for all apps together; here they belong to the apps whose rules refer to them. Each of these
    /// apps gets a change, or none of them does.
    private func proposeForAll(
        _ call: Call, using key: String, _ reason: String, _ change: (inout Wish) throws(ServerError) -> Void
    ) async throws(Refusal) -> ListenerAnswer {
        var published: [Content] = []
        for app in apps(call) {
            guard let content = try await content(of: app) else { continue }
            let isUsed = content.versions.contains { $0.messageKey?.utf8.elementsEqual(key.utf8) == true }
            guard isUsed || content.texts.contains(where: { $0.key.utf8.elementsEqual(key.utf8) }) else { continue }
            published.append(content)
        }
        guard !published.isEmpty else { throw .app("No rule for versions refers to this text.") }
        let changes = try await propose(published, call, reason, change)
        guard changes.count > 1 else { return Self.accepted(changes[0]) }
        return Self.json(["changes": .array(changes.map { .object($0) })], .accepted)
    }

    private func propose(
        _ app: AppName, _ call: Call, _ reason: String, _ change: (inout Wish) throws(ServerError) -> Void
    ) async throws(Refusal) -> ListenerAnswer {
        guard let published = try await content(of: app) else {
            throw .app("Nothing is published for the app yet: publish its first change.")
        }
        return Self.accepted(try await propose([published], call, reason, change)[0])
    }

    /// Proposes the same change of what several apps have published.
    /// - Returns: a description of each change, as many as there are apps.
    private func propose(
        _ published: [Content], _ call: Call, _ reason: String, _ change: (inout Wish) throws(ServerError) -> Void
    ) async throws(Refusal) -> [[String: CanonicalJSON]] {
        var wishes: [(published: Content, wish: Wish)] = []
        for content in published {
            var wish = Wish(
                hosts: content.hosts, domains: content.domains, versions: content.versions, texts: content.texts)
            do throws(ServerError) { try change(&wish) } catch { throw Refusal(error) }
            wishes.append((content, wish))
        }
        return try await inTurn(call, times: wishes.count) {
            [wishes] () async throws(Refusal) -> [[String: CanonicalJSON]] in
            try await refusing { () async throws(ServerError) -> [[String: CanonicalJSON]] in
                let end = try await catalog.now() + Self.lifetime
                var contents: [Content] = []
                for (published, wish) in wishes {
                    try await catalog.requireFewOpenChanges(of: published.app)
                    contents.append(
                        try Content(
                            app: published.app, hosts: wish.hosts, formats: published.formats, domains: wish.domains,
                            versions: wish.versions, texts: wish.texts, end: end))
                }
                var changes: [[String: CanonicalJSON]] = []
                for id in try await propose(contents, because: "\(call.actor) \(reason)", by: call.actor) {
                    changes.append(try await AdministrationView.change(id, by: publisher))
                }
                return changes
            }
        }
    }

    /// Proposes contents of several apps. If one cannot be proposed, the others end at once.
    private func propose(
        _ contents: [Content], because reason: String, by actor: String
    ) async throws(ServerError) -> [RandomID] {
        var generator = SystemRandomNumberGenerator()
        var changes: [RandomID] = []
        do throws(ServerError) {
            for content in contents {
                changes.append(
                    try await publisher.propose(
                        content, proposer: nil, reason: reason, by: actor, using: &generator
                    ).change)
            }
        } catch {
            for change in changes { try? await catalog.lapse(change, because: "that of another app was refused") }
            throw error
        }
        return changes
    }

    private static func accepted(_ change: [String: CanonicalJSON]) -> ListenerAnswer {
        var answer = json(change, .accepted)
        if case .text(let id)? = change["id"] {
            answer.headers.append(("Location", "/v1/changes/\(String(decoding: id, as: UTF8.self))"))
        }
        return answer
    }
}
