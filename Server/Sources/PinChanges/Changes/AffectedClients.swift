import Holdfast
package import ServerFoundation
package import ServerModel

/// Describes the clients of an app for gates that do not evaluate any: what each kind would lose with a change, and
/// what it continues to use until that is published.
package struct AffectedClients {
    package let scene: AppSnapshot

    /// Maximum number of sentences or names.
    private static let limit = 16

    package init(_ scene: AppSnapshot) { self.scene = scene }

    /// The kinds of clients of a content, with the hosts that they dial.
    package static func words(_ content: Content) -> String {
        guard !content.formats.isEmpty else { return "every client" }
        return joined(content.formats.map { $0.clients(of: content.app) }) + hosts(content)
    }

    /// The documents that each kind of client continues to use until a change is published.
    func goingOn(without change: Content) -> [String] {
        let published = scene.published
        let known = published?.formats ?? []
        let new = change.formats.filter { format in !known.contains { $0.isSame(as: format) } }
        let going = known.map { format in published.map { goingOn(format, with: $0) } ?? "" }
        let waiting = new.map { format in
            "\(format.clients(of: change.app))\(Self.hosts(change)) get no pins yet, "
                + "because this format was never published"
        }
        return Self.shortened(going + waiting)
    }

    private func goingOn(_ format: ContentFormat, with content: Content) -> String {
        let begun = Self.time(scene.publications.last?.published)
        let clients = format.clients(of: content.app) + Self.hosts(content)
        let until = "until \(Self.time(content.end))"
        guard format.isAskedFor else { return "\(clients) contain the pins published at \(begun), \(until)" }
        let earlier = scene.publications.dropLast().last { publication in
            publication.content.end >= scene.now && publication.content.formats.contains { $0.isSame(as: format) }
        }
        let old = earlier.map { publication in
            "; clients without an update since \(Self.time(publication.replaced)) continue to use the pins published "
                + "at \(Self.time(publication.published)), until \(Self.time(publication.content.end))"
        }
        return "\(clients) continue to use the pins published at \(begun), \(until)\(old ?? "")"
    }

    /// The documents and hosts that clients of the published content would lose with a change.
    package func losses(with change: Content) -> [String] {
        guard let published = scene.published else { return [] }
        var losses: [String] = []
        for format in published.formatsThatEnd(with: change) {
            losses.append(
                "it would take \(format.path(of: published.app) ?? format.kind.rawValue) from "
                    + "\(format.clients(of: published.app))\(Self.hosts(published))")
        }
        for host in published.hosts {
            let label = "\(host.name):\(host.port)"
            guard change.covers(host) else {
                losses.append("it would take all pins of \(label) from \(clients(of: published, pinning: .any))")
                continue
            }
            let new = change.hosts.first { $0.sortingKey == host.sortingKey }
            for certificate in host.certificates where certificate.expires >= scene.now {
                guard new?.certificates.contains(where: { $0.sortingKey == certificate.sortingKey }) != true else {
                    continue
                }
                losses.append(
                    "it would take certificate \(certificate.fingerprint) of \(label) from "
                        + clients(of: published, pinning: .certificates))
            }
            for key in host.keys where new?.keys.contains(where: { $0.sortingKey == key.sortingKey }) != true {
                losses.append(
                    "it would take key \(key.pin) of \(label) from \(clients(of: published, pinning: .keys))")
            }
        }
        return Self.shortened(losses)
    }

    /// The announced chains that begin before a time and that clients of the published content refuse.
    package func strangers(before time: Int64) -> [String] {
        guard let published = scene.published else { return [] }
        var words: [String] = []
        for host in scene.hosts {
            let known = published.hosts.filter { $0.covers(host.host) }
            let certificates = Set(known.flatMap(\.certificates).map(\.fingerprint))
            let keys = Set(known.flatMap(\.keys).map(\.pin))
            for next in host.next.chains where next.begins < time {
                guard let leaf = next.chain.leaf else { continue }
                var lost: [Pinned] = []
                if !certificates.contains(Digest(of: leaf.der)) { lost.append(.certificates) }
                if !keys.contains(Digest(of: leaf.subjectPublicKeyInfo)) { lost.append(.keys) }
                guard let pinned = lost.count > 1 ? .any : lost.first else { continue }
                let clients = clients(of: published, pinning: pinned)
                guard clients != Self.noClients else { continue }
                words.append(
                    "\(clients) are locked out at \(host.host.label) from \(Self.time(max(next.begins, scene.now))) on, "
                        + "when it presents certificate \(Digest(of: leaf.der)), until they get this change")
            }
        }
        return Self.shortened(words)
    }

    // MARK: Words

    private enum Pinned { case certificates, keys, any }

    private static let noClients = "no clients"

    private func clients(of content: Content, pinning pinned: Pinned) -> String {
        let formats = content.formats.filter { format in
            switch pinned {
            case .certificates: !format.kind.isPinFile
            case .keys: format.kind.isPinFile || format.kind == .trustServer
            case .any: true
            }
        }
        return formats.isEmpty ? Self.noClients : Self.joined(formats.map { $0.clients(of: content.app) })
    }

    package static func hosts(_ content: Content) -> String {
        content.hosts.isEmpty ? "" : " at \(joined(content.hosts.map { "\($0.name):\($0.port)" }))"
    }

    private static func joined(_ names: [String]) -> String {
        let named = names.prefix(limit).joined(separator: ", ")
        return names.count > limit ? "\(named) and \(names.count - limit) more" : named
    }

    private static func shortened(_ sentences: [String]) -> [String] {
        sentences.count > limit
            ? Array(sentences.prefix(limit)) + ["and \(sentences.count - limit) more"] : sentences
    }

    package static func time(_ time: Int64?) -> String { time.flatMap { UTCText.encode($0) } ?? "some time" }
}

extension ContentFormat {
    /// The clients that read it, and its location.
    package func clients(of app: AppName) -> String {
        let place = path(of: app) ?? ""
        return switch kind {
        case .list: "CertStore apps with the list \(place)"
        case .challenge: "CertStore apps with challenge answers"
        case .trustServer: "trust-server apps with \(place)"
        case .repository: "apps that follow the repository repo/\(app)"
        case .pinFile: "builds that are made with \(place)"
        }
    }

    /// Whether apps request it over the network. Other formats are built into apps.
    var isAskedFor: Bool {
        switch kind {
        case .challenge, .list, .trustServer, .repository: true
        case .pinFile: false
        }
    }

    /// Whether the same clients read both.
    package func isSame(as other: ContentFormat) -> Bool { kind == other.kind && customer == other.customer }
}

extension ContentHost {
    /// Whether the content has pins for a host under this name.
    package func covers(_ host: CatalogHost) -> Bool {
        guard port == host.port else { return false }
        if name.utf8.elementsEqual(host.name.utf8) { return true }
        guard let pattern = try? HostPattern(name), let dialed = try? DialedHost(host.name) else { return false }
        return pattern.matches(dialed)
    }
}
