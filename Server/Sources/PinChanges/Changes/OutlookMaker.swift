package import Foundation
import Holdfast
package import HoldfastPublishing
import HoldfastSigning
package import ServerFoundation
package import ServerModel
import ServerStore

/// Makes the outlook of a content: the results of clients of every age with the chains that hosts present and announce.
///
/// Its documents, also those of earlier publications, are signed with throwaway keys: nothing is signed with an app's
/// own keys before its approvers have agreed.
package struct OutlookMaker {
    package let scene: AppSnapshot

    package init(scene: AppSnapshot) {
        self.scene = scene
    }

    /// Minimum span of an outlook: long enough to include a certificate's renewal.
    private static let span: Duration = .seconds(45 * 86_400)
    /// The interval in seconds at which a trust server's document is signed again.
    package static let round: Int64 = 300
    /// Maximum time in seconds until a repository's timestamp is signed again.
    package static let renewal: Int64 = 2 * 86_400
    /// The suffix of the name of a replaced document.
    private static let replacedName = ", replaced"
    /// The suffix of the name of a document that all clients but the canary keep for a while.
    private static let keptName = ", which others keep until "
    /// The name of the build that carries the pin file of a content.
    private static let newBuild = "the next build"
    /// A sample challenge: each client sends another.
    package static let challenge = "AAECAwQFBgcICQoLDA0ODw=="

    /// Whether the pins of a build are those of the next build, which a publication still changes.
    package static func isOfNextBuild(_ appVersions: [String]) -> Bool { appVersions == [newBuild] }

    /// Whether a document of an outlook is kept from before: a change does not drop what its clients lack already.
    package static func isKept(_ name: String) -> Bool { name.contains(keptName) }

    /// Evaluates a content as if it were published now. With a canary, only the canary gets it now; all other clients
    /// have the published content during the canary's time, and are evaluated with that first.
    /// - Parameter wait: the number of seconds after which all clients get it: 0 without a canary.
    /// - Throws: ``ServerError`` `notPublishable`.
    package func outlook(
        of content: Content, reachingEverybodyIn wait: Int64 = 0
    ) async throws(ServerError) -> PublicationOutlook {
        let keys = try DocumentKeys(rehearsing: content, at: scene.now)
        let bundles = try await bundles(followedBy: content)
        let arrival = scene.now + wait
        // The content is signed again and again until then, so sign it now.
        var documents = try self.documents(
            of: content, keys, published: arrival, replaced: nil, signedAt: scene.now, repository: bundles.last ?? nil)
        let asked = Set(documents.map { Array("\($0.name)\(Self.replacedName)".utf8) })
        if wait > 0 {
            documents += try self.documents(
                of: content, keys, for: .canary, published: scene.now, replaced: nil, signedAt: scene.now)
        }
        for (publication, bundle) in zip(scene.publications, bundles).reversed() {
            let old = publication.content
            // Clients with an expired content are locked out now, no matter what is published.
            guard old.end >= scene.now else { continue }
            for var document in try self.documents(
                of: old, keys, published: min(publication.published, scene.now),
                replaced: publication.replaced.map { min($0, scene.now) } ?? arrival, repository: bundle)
            where document.kind != .shippedPins {
                // Clients that request it from now on get nothing, and keep their copy until it ends.
                if publication.replaced == nil, !asked.contains(Array(document.name.utf8)) {
                    document.name = "\(document.name.dropLast(Self.replacedName.count)), which is no longer published,"
                    document.replaced = nil
                    document.renewalInterval = nil
                } else if publication.replaced == nil, wait > 0 {
                    let name = document.name.dropLast(Self.replacedName.count)
                    document.name = "\(name)\(Self.keptName)\(ClockGuard.text(arrival)),"
                }
                documents.append(document)
            }
        }
        return try outlook(documents + builds)
    }

    /// The inputs of an outlook of the published content; nil before the first publication.
    /// - Throws: ``ServerError`` `notPublishable`.
    package func inputsOfPublished() async throws(ServerError) -> PublicationOutlook.Inputs? {
        guard let published = scene.published else { return nil }
        let keys = try DocumentKeys(rehearsing: published, at: min(scene.now, published.end))
        let bundles = try await bundles()
        var documents: [PublicationOutlook.Document] = []
        for (publication, bundle) in zip(scene.publications, bundles).reversed() {
            // Clients with an expired content are locked out now, no matter which certificate is installed.
            guard publication.replaced == nil || publication.content.end >= scene.now else { continue }
            // The server signs the published content until it ends.
            let signedAt = publication.replaced == nil ? min(scene.now, publication.content.end) : nil
            let made = try self.documents(
                of: publication.content, keys, published: publication.published, replaced: publication.replaced,
                signedAt: signedAt, repository: bundle)
            documents += publication.replaced == nil ? made : made.filter { $0.kind != .shippedPins }
        }
        return inputs(documents + builds)
    }

    /// Evaluates documents.
    package func outlook(_ documents: [PublicationOutlook.Document]) throws(ServerError) -> PublicationOutlook {
        let inputs = inputs(documents)
        return try ServerError.translating(.notPublishable, of: "outlook of \(scene.app.name)") {
            () throws(PublishingError) in try PublicationOutlook(judging: inputs)
        }
    }

    private func inputs(_ documents: [PublicationOutlook.Document]) -> PublicationOutlook.Inputs {
        let settings = scene.app.settings
        return PublicationOutlook.Inputs(
            documents: documents, hosts: scene.hosts.map(host),
            platforms: [.init("clients", anchors: settings.anchors.map { Data($0) })],
            appVersions: versions(with: documents),
            staleness: settings.timing.staleness, span: max(Self.span, settings.timing.staleness),
            now: Self.date(scene.now))
    }

    /// The documents of a content as inputs of an outlook.
    /// - Parameters:
    ///   - audience: the release channel. A repository's canary is a separate app, and builds have no canary.
    ///   - signed: the documents if they exist already; nil to make them.
    ///   - signedAt: the time at which they were last signed; nil for that of the publication, or right before the
    ///     replacement.
    ///   - repository: the bundle that clients of the repository hold; nil without a repository.
    package func documents(
        of content: Content, _ keys: DocumentKeys, for audience: ReleaseChannel = .everybody, published: Int64,
        replaced: Int64?, signed: [SignedDocument]? = nil, signedAt: Int64? = nil,
        repository: RehearsedRepository.Bundle? = nil
    ) throws(ServerError) -> [PublicationOutlook.Document] {
        // A trust server's document is signed again until another one replaces it.
        let time = signedAt ?? (replaced == nil ? published : max(published, scene.now - 1))
        let maker = DocumentMaker(content: content, keys: keys, publicKeys: scene.publicKeys)
        let name = replaced == nil ? "" : Self.replacedName
        // Apps continue to dial a host that a new content has dropped.
        let dialed = content.hosts.map(\.name) + (replaced == nil ? droppedHosts(in: content) : [])
        var documents: [PublicationOutlook.Document] = []
        let all = if let signed { signed } else { try maker.documents(at: time) }
        for made in all {
            guard let kind = try kind(of: made, content, keys), let path = content.path(of: made.kind, for: audience)
            else { continue }
            documents.append(
                PublicationOutlook.Document(
                    path + name, kind: kind, octets: Data(made.bytes), published: Self.date(published),
                    replaced: replaced.map(Self.date), hosts: dialed,
                    renewalInterval: made.kind == .trustServer ? .seconds(Self.round) : nil))
        }
        if let repository {
            documents.append(
                PublicationOutlook.Document(
                    "\(RepositoryPath.prefix(of: content.app))\(name)", kind: .repository(root: repository.root),
                    octets: repository.bytes, published: Self.date(published), replaced: replaced.map(Self.date),
                    hosts: dialed, renewalInterval: .seconds(Self.renewal),
                    lastRenewal: Self.date(
                        replaced.map { $0 > scene.now } ?? true ? min(scene.now, content.end) : repository.signedAt)))
        }
        if content.formats.contains(where: { $0.kind == .challenge }), let app = audience.name(of: content.app) {
            documents.append(
                try challenge(
                    content, keys, time, audience == .canary ? " of \(app)\(name)" : name, published: published,
                    replaced: replaced, dialed: dialed))
        }
        if let format = content.formats.first(where: \.kind.isPinFile), replaced == nil, audience == .everybody {
            let file = PinFileMaker(content: content, format: format)
            documents.append(
                PublicationOutlook.Document(
                    "pins of new builds", kind: .shippedPins, octets: Data(try file.pinFile(at: time)),
                    published: Self.date(published), appVersions: [Self.newBuild], hosts: dialed))
        }
        return documents
    }

    /// The bundles that clients of the repository hold after each publication, and after that of another content.
    private func bundles(
        followedBy content: Content? = nil
    ) async throws(ServerError) -> [RehearsedRepository.Bundle?] {
        let rehearsal = RehearsedRepository(at: scene.now)
        var contents = scene.publications.map { ($0.content, min($0.published, scene.now), $0.replaced == nil) }
        if let content { contents.append((content, scene.now, false)) }
        var bundles: [RehearsedRepository.Bundle?] = []
        for (content, time, isPublished) in contents {
            guard let format = content.repository, content.end >= scene.now || isPublished else {
                bundles.append(nil)
                continue
            }
            let maker = PinFileMaker(content: content, format: format)
            bundles.append(
                try await rehearsal.publish(content, pins: try maker.pinFile(at: time), at: time))
        }
        return bundles
    }

    private func kind(
        of made: SignedDocument, _ content: Content, _ keys: DocumentKeys
    ) throws(ServerError) -> PublicationOutlook.Document.Kind? {
        switch made.kind {
        case .list: return try publicKey(keys).map { .staticList(publicKey: $0) }
        case .trustServer:
            let customer = content.formats.first { $0.kind == .trustServer }?.customer
            guard let key = keys.trustServer, let customer else { return nil }
            return .trustServer(signer: key.certificate, customer: customer)
        default: return nil
        }
    }

    private func challenge(
        _ content: Content, _ keys: DocumentKeys, _ time: Int64, _ name: String, published: Int64, replaced: Int64?,
        dialed: [String]
    ) throws(ServerError) -> PublicationOutlook.Document {
        guard let key = keys.challenges, let publicKey = try publicKey(keys) else {
            throw ServerError(
                .notPublishable, of: "app \(content.app)", expected: "a key for challenge answers", found: "none",
                remedy: "Make one: `holdfast-server app key \(content.app) --data DIR`.")
        }
        let entries = try content.entries(at: time)
        let answer = try ServerError.translating(.notPublishable, of: "challenge answer") { () throws(SigningError) in
            try ChallengeSigner(key: key).answer(to: Self.challenge, entries: entries, at: Self.date(time))
        }
        return PublicationOutlook.Document(
            "challenge answers\(name)",
            kind: .challengedList(publicKey: publicKey, challenge: Self.challenge, signature: answer.signature),
            octets: answer.body, published: Self.date(published), replaced: replaced.map(Self.date),
            hosts: dialed)
    }

    private func publicKey(_ keys: DocumentKeys) throws(ServerError) -> String? {
        try keys.fingerprints.map { key throws(ServerError) in
            try ServerError.translating(.notPublishable, of: "key") { () throws(SigningError) in
                try key.publicKey.base64
            }
        }
    }

    /// The names of published hosts that a content does not cover.
    private func droppedHosts(in content: Content) -> [String] {
        (scene.published?.hosts ?? []).filter { !content.covers($0) }.map(\.name)
    }

    // MARK: Clients and hosts

    private var builds: [PublicationOutlook.Document] {
        (scene.app.settings.builds ?? []).compactMap { build in
            build.pinFile.map { file in
                PublicationOutlook.Document(
                    "build \(build.name)", kind: .shippedPins, octets: Data(file), published: Self.date(0),
                    appVersions: [build.name])
            }
        }
    }

    /// The builds in the field, and the one that will carry the published content.
    private func versions(with documents: [PublicationOutlook.Document]) -> PublicationOutlook.AppVersions {
        guard let builds = scene.app.settings.builds else { return .unknown }
        var versions = builds.map { PublicationOutlook.AppVersion($0.name, carriesDocument: $0.pinFile != nil) }
        if documents.contains(where: { $0.appVersions == [Self.newBuild] }) { versions.append(.init(Self.newBuild)) }
        return versions.isEmpty ? .noShippedPins : .versions(versions)
    }

    private func host(_ host: AppSnapshot.Host) -> PublicationOutlook.Host {
        var shown: [PublicationOutlook.Presentation] = []
        for seen in host.shown {
            guard let chain = seen.chain else {
                shown.append(.init(unreadable: seen.address, because: seen.failure ?? "it could not be read"))
                continue
            }
            // With an announced successor, a server presents a certificate until that expires, and no outlook reports
            // its end.
            let ends = host.next.chains.isEmpty ? nil : chain.leaf.map { $0.notAfter.addingTimeInterval(1) }
            shown.append(
                .init(
                    chain.certificates.map { Data($0) }, at: seen.address, seen: Self.date(seen.lastSeen), until: ends))
        }
        for next in host.next.chains {
            shown.append(
                .init(
                    planned: next.chain.certificates.map { Data($0) }, at: "next",
                    from: Self.date(max(next.begins, scene.now))))
        }
        return PublicationOutlook.Host(host.host.name, port: Int(host.host.port), shown: shown)
    }

    package static func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: Double(seconds)) }
}

extension ContentFormat.Kind {
    /// Whether it is a pin file, or contains one.
    var isPinFile: Bool {
        switch self {
        case .challenge, .list, .trustServer: false
        case .repository, .pinFile: true
        }
    }
}
