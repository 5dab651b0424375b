import Holdfast
import NIOHTTP1

/// What the reference's tools read: as it is published here.
extension UtilityAdministration {
    func listApps(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        var applications: [CanonicalJSON] = []
        for name in apps(call) {
            let app = try await refusing { () async throws(ServerError) in try await catalog.app(name) }
            applications.append(
                .object(["name": .text("\(name)"), "displayName": .text(app.displayName)]))
        }
        return Self.json(["applications": .array(applications)])
    }

    func getApp(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        let name = try app(call)
        let scene = try await refusing { () async throws(ServerError) in try await catalog.scene(of: name) }
        var known: [Digest: [UInt8]] = [:]
        for chain in scene.hosts.flatMap({ $0.observations.compactMap(\.chain) + $0.next.chains.map(\.chain) }) {
            for certificate in chain.certificates { known[Digest(of: certificate)] = certificate }
        }
        let domains: [CanonicalJSON] = (scene.published?.hosts ?? []).map { host in
            .object([
                "name": .text(host.name),
                "certificates": .array(host.certificates.map { Self.certificate($0, known[$0.fingerprint]) }),
            ])
        }
        var members: [String: CanonicalJSON] = [
            "name": .text("\(name)"), "displayName": .text(scene.app.displayName), "domains": .array(domains),
        ]
        if let key = scene.keys.fingerprints {
            // The uncompressed point ends the SubjectPublicKeyInfo (RFC 5480 2).
            members["publicKey"] = .text(Base64.encode(key.publicKey.suffix(65)))
        }
        return Self.json(members)
    }

    private static func certificate(_ certificate: ContentHost.Certificate, _ der: [UInt8]?) -> CanonicalJSON {
        var members: [String: CanonicalJSON] = [
            "fingerprint": .text(Base64.encode(certificate.fingerprint.octets)),
            "expires": .integer(certificate.expires), "depth": .integer(certificate.depth),
        ]
        if let der { members["pem"] = .text(PEMText.block("CERTIFICATE", of: der)) }
        return .object(members)
    }

    func listVersions(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        let rules = try await content(of: try app(call))?.versions ?? []
        return Self.json(["applicationVersions": .array(rules.indices.map { Self.version(rules[$0], $0) })])
    }

    func getVersion(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        let rules = try await content(of: try app(call))?.versions ?? []
        let index = try index(call, of: rules)
        guard case .object(let members) = Self.version(rules[index], index) else { throw .notFound }
        return Self.json(members)
    }

    /// Rules have no numbers of their own: the id is the place among those that are published.
    func index(_ call: Call, of rules: [VersionRule]) throws(Refusal) -> Int {
        guard let number = LineReader.number(Array(call.path[3].utf8)[...]),
            (1...Int64(max(1, rules.count))).contains(number),
            !rules.isEmpty
        else { throw .notFound }
        return Int(number) - 1
    }

    private static func version(_ rule: VersionRule, _ index: Int) -> CanonicalJSON {
        var members: [String: CanonicalJSON] = [
            "id": .integer(Int64(index) + 1), "platform": .text(rule.platform.rawValue),
        ]
        if let system = rule.majorSystemVersion { members["majorOsVersion"] = .integer(system) }
        if let version = rule.suggested { members["suggestedVersion"] = .text("\(version)") }
        if let version = rule.required { members["requiredVersion"] = .text("\(version)") }
        if let key = rule.messageKey { members["messageKey"] = .text(key) }
        return .object(members)
    }

    func listTexts(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        Self.json(["texts": .array(try await texts(call).map(Self.text))])
    }

    func getText(_ call: Call) async throws(Refusal) -> ListenerAnswer {
        let found = try await texts(call).first { text in
            text.key.utf8.elementsEqual(call.path[1].utf8) && text.language.utf8.elementsEqual(call.path[2].utf8)
        }
        guard let found, case .object(let members) = Self.text(found) else { throw .notFound }
        return Self.json(members)
    }

    /// The reference has texts for all apps together. Where two apps have different ones, the first app's counts.
    private func texts(_ call: Call) async throws(Refusal) -> [LocalizedText] {
        var (texts, known): ([LocalizedText], Set<[UInt8]>) = ([], [])
        for app in apps(call) {
            for text in try await content(of: app)?.texts ?? [] where known.insert(text.sortingKey).inserted {
                texts.append(text)
            }
        }
        return texts
    }

    private static func text(_ text: LocalizedText) -> CanonicalJSON {
        .object(["messageKey": .text(text.key), "language": .text(text.language), "text": .text(text.text)])
    }

    /// What is published; nil before the first publication.
    func content(of app: AppName) async throws(Refusal) -> Content? {
        try await refusing { () async throws(ServerError) in try await publisher.published(app) }
    }
}
