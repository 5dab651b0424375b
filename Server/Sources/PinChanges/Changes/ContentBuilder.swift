import Foundation
import Holdfast
package import ServerFoundation
package import ServerModel
package import ServerStore

/// Builds the content that follows from the published one and the announcements. Observations never remove a pin, and
/// add one only if a person requests it.
struct ContentBuilder {
    let scene: AppSnapshot
    /// The formats to publish; nil for the current ones.
    var formats: [ContentFormat]?
    /// The domains of challenge answers, for hosts without pins; nil for the current ones.
    var domains: ContentDomains?
    /// Whether to add the certificates that servers present now, even if they are not announced.
    var includesSeen = false
    /// Digests of certificates and keys to leave out.
    var removed: Set<Digest> = []
    /// The last second at which documents may be signed.
    let end: Int64

    /// - Throws: ``ServerError`` `invalidValue`, also for an app without hosts or formats; `gate` for a certificate to
    ///   add that was seen from one vantage only.
    func content() throws(ServerError) -> Content {
        var hosts: [ContentHost] = []
        let check = scene.announcementCheck
        for host in scene.hosts { hosts.append(try content(of: host, by: check)) }
        // Published names that are no host of the catalog, such as patterns, stay until a content without them is
        // proposed.
        let names = Set(hosts.map(\.sortingKey))
        hosts += (scene.published?.hosts ?? []).filter { !names.contains($0.sortingKey) }
        return try Content(
            app: scene.app.name, hosts: hosts, formats: formats ?? scene.published?.formats ?? [],
            domains: domains ?? scene.published?.domains, end: end)
    }

    private func content(of host: AppSnapshot.Host, by check: AnnouncementCheck) throws(ServerError) -> ContentHost {
        let (name, port) = (host.host.name, host.host.port)
        let old = scene.published?.hosts.first { $0.name.utf8.elementsEqual(name.utf8) && $0.port == port }
        let fit = scene.fitAnnouncements(of: host, by: check)
        let announced = fit.chains.compactMap { $0.chain.leaf }
        let seen = includesSeen ? try seen(of: host, unlike: old, announced) : []
        var certificates = (old?.certificates ?? []).filter { $0.expires >= scene.now }
        var known = Set(certificates.map(\.sortingKey))
        // Servers present a Merkle Tree Certificate in several forms, and a fingerprint matches only one.
        for leaf in seen + announced where !leaf.isMerkleTreeCertificate {
            let certificate = try ContentHost.Certificate(
                fingerprint: Digest(of: leaf.der), expires: Int64(leaf.notAfter.timeIntervalSince1970))
            if known.insert(certificate.sortingKey).inserted { certificates.append(certificate) }
        }
        var keys = old?.keys ?? []
        func add(_ pin: Digest, _ state: ContentHost.Key.State) {
            guard !keys.contains(where: { $0.pin == pin && $0.role == .leaf }) else { return }
            keys.append(ContentHost.Key(pin: pin, state: state))
        }
        for leaf in seen { add(Digest(of: leaf.subjectPublicKeyInfo), .active) }
        for chain in fit.chains {
            guard let leaf = chain.chain.leaf else { continue }
            add(Digest(of: leaf.subjectPublicKeyInfo), chain.begins <= scene.now ? .active : .backup)
        }
        for key in fit.keys { add(Digest(of: key), .backup) }
        return try ContentHost(
            name: name, port: port, certificates: certificates.filter { !removed.contains($0.fingerprint) },
            keys: keys.filter { !removed.contains($0.pin) })
    }

    /// The leaf certificates seen within the hour. Those neither published nor announced must be seen from two
    /// vantages.
    private func seen(
        of host: AppSnapshot.Host, unlike old: ContentHost?, _ announced: [X509Certificate]
    ) throws(ServerError) -> [X509Certificate] {
        let known = Set(announced.map { Digest(of: $0.der) } + (old?.certificates.map(\.fingerprint) ?? []))
        var seen: [X509Certificate] = []
        for observation in host.observations where observation.lastSeen >= scene.now - Vantage.lifetime {
            guard let leaf = observation.chain?.leaf else { continue }
            let fingerprint = Digest(of: leaf.der)
            let vantages = host.vantages[fingerprint] ?? []
            guard known.contains(fingerprint) || vantages.count >= 2 else {
                if removed.contains(fingerprint) { continue }
                throw ServerError(
                    .gate, of: host.host.label,
                    expected: "certificate \(fingerprint) seen from two vantages within the hour, or announced",
                    found: vantages.isEmpty ? "neither" : "seen from \(vantages.joined(separator: ", ")) only",
                    remedy:
                        "Announce it with holdfast-server next chain; or report what the host shows in "
                        + "another network with a token: POST /v1/apps/\(scene.app.name)/sightings.")
            }
            seen.append(leaf)
        }
        return seen
    }
}

extension AppSnapshot {
    /// Descriptions of the unannounced pins that a content adds.
    package func unannounced(in content: Content) -> [String] {
        let before = Dictionary((published?.hosts ?? []).map { ($0.sortingKey, $0) }) { first, _ in first }
        let all = Dictionary(hosts.map { (Array($0.host.label.utf8), $0) }) { first, _ in first }
        var lines: [String] = []
        for host in content.hosts {
            let (old, known) = (before[host.sortingKey], all[Array("\(host.name):\(host.port)".utf8)])
            let next = known?.next.chains.compactMap { $0.chain.leaf } ?? []
            let certificates = Set(next.map { Digest(of: $0.der) }).union(old?.certificates.map(\.fingerprint) ?? [])
            for certificate in host.certificates where !certificates.contains(certificate.fingerprint) {
                let seen = known?.observations.filter { observation in
                    observation.chain?.leaf.map { Digest(of: $0.der) } == certificate.fingerprint
                }
                lines.append(
                    "\(host.name):\(host.port): certificate \(certificate.fingerprint) \(Self.words(seen ?? []))")
            }
            let keys = Set(
                (known?.next.keys ?? []).map { Digest(of: $0) } + next.map { Digest(of: $0.subjectPublicKeyInfo) }
                    + (old?.keys.map(\.pin) ?? []))
            for key in host.keys where !keys.contains(key.pin) {
                let seen = known?.observations.filter { observation in
                    observation.chain?.leaf.map { Digest(of: $0.subjectPublicKeyInfo) } == key.pin
                }
                lines.append("\(host.name):\(host.port): key \(key.pin) \(Self.words(seen ?? []))")
            }
        }
        return lines
    }

    private static func words(_ seen: [Observation]) -> String {
        guard let first = seen.map(\.firstSeen).min() else { return "was neither announced nor seen" }
        let vantages = Set(seen.map(\.vantage)).sorted().joined(separator: ", ")
        return "was not announced: SEEN ON THE NETWORK ONLY, from \(vantages), since "
            + (UTCText.encode(first) ?? "\(first)")
    }
}

extension Catalog {
    /// Descriptions of the unannounced pins that a content adds, for its approvers: they were only seen on the network,
    /// where an attacker in between can present any certificate.
    package func unannounced(in content: Content) async throws(ServerError) -> [String] {
        try await scene(of: content.app).unannounced(in: content)
    }

    /// Options for the content that follows from the catalog.
    package struct DraftOptions: Sendable {
        /// The formats to publish; nil for the current ones.
        package var formats: [ContentFormat]?
        /// The domains of challenge answers, for hosts without pins; nil for the current ones.
        package var domains: ContentDomains?
        /// Whether to add the certificates that servers present now, even if they are not announced.
        package var includesSeen: Bool
        /// Digests of certificates and keys to leave out.
        package var removed: Set<Digest>
        /// The number of seconds during which documents may be signed.
        package var lifetime: Int64

        /// Makes options; by default only a lifetime of 180 days.
        package init(
            formats: [ContentFormat]? = nil, domains: ContentDomains? = nil, includesSeen: Bool = false,
            removed: Set<Digest> = [], lifetime: Int64 = 180 * 86_400
        ) {
            self.formats = formats
            self.domains = domains
            self.includesSeen = includesSeen
            self.removed = removed
            self.lifetime = lifetime
        }
    }

    /// The content that follows from the published one, the announcements, and some options. It is not proposed yet.
    /// - Throws: ``ServerError``.
    package func draft(of app: AppName, _ wishes: DraftOptions = DraftOptions()) async throws(ServerError) -> Content {
        let scene = try await scene(of: app)
        guard (1...Int64(366 * 86_400)).contains(wishes.lifetime) else {
            throw ServerError(
                .invalidValue, of: "lifetime", expected: "1 to 31622400 seconds", found: "\(wishes.lifetime)")
        }
        var builder = ContentBuilder(scene: scene, end: scene.now + wishes.lifetime)
        builder.formats = wishes.formats
        builder.domains = wishes.domains
        builder.includesSeen = wishes.includesSeen
        builder.removed = wishes.removed
        return try builder.content()
    }
}
