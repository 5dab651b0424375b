import Holdfast
import HoldfastPublishing
package import ServerFoundation
package import ServerModel
import ServerStore

/// The relation of announcements to a content.
extension AppSnapshot {
    /// The snapshot to evaluate a content with: without the announced chains that it leaves out. Those must not be
    /// installed before another content has them, so one announcement cannot block unrelated changes.
    package func planning(_ content: Content) -> AppSnapshot {
        var scene = self
        // A format that names certificates locks its clients out if a known key is in an unknown certificate.
        let namesCertificates = content.formats.contains { !$0.kind.isPinFile }
        scene.hosts = hosts.map { host in
            let known = content.hosts.filter { $0.covers(host.host) }
            let digests = Set(
                known.flatMap { $0.certificates.map(\.fingerprint) + (namesCertificates ? [] : $0.keys.map(\.pin)) })
            return host.announcing(host.next.chains.filter { !digests.isDisjoint(with: $0.chain.digestsOfLeaf) })
        }
        return scene
    }

    /// The check for ``fitAnnouncements(of:by:)``. Anchors are read once for all hosts.
    var announcementCheck: AnnouncementCheck { AnnouncementCheck(trusting: app.settings.anchors, at: now) }

    /// The valid announcements for a host, and the reason why each other one is invalid: an earlier version accepted
    /// any, and the anchors of the app may have changed since.
    func fitAnnouncements(of host: Host, by check: AnnouncementCheck) -> (
        chains: [AnnouncedCertificates.Chain], keys: [[UInt8]], refusals: [Digest: ServerError]
    ) {
        var (chains, keys, refusals): ([AnnouncedCertificates.Chain], [[UInt8]], [Digest: ServerError]) = ([], [], [:])
        for next in host.next.chains {
            do throws(ServerError) {
                try check.check(next.chain, for: host.host)
                chains.append(next)
            } catch {
                refusals[next.chain.fingerprint] = error
            }
        }
        for key in host.next.keys {
            do throws(ServerError) {
                try AnnouncementCheck.check(key: key)
                keys.append(key)
            } catch {
                refusals[Digest(of: key)] = error
            }
        }
        return (chains, keys, refusals)
    }

    // MARK: Pins that must not be published

    /// Descriptions of invalid pins that a content adds: a placeholder, a key that clients refuse, an authority's key
    /// in place of a server's, or an announcement that fails the check.
    func foreignPins(in content: Content) -> [String] {
        let before = Dictionary((published?.hosts ?? []).map { ($0.sortingKey, $0) }) { first, _ in first }
        let announcementCheck = announcementCheck
        var lines: [String] = []
        for host in content.hosts {
            let label = "\(host.name):\(host.port)"
            let old = before[host.sortingKey]
            let mine = hosts.filter { host.covers($0.host) }
            var refusals: [Digest: ServerError] = [:]
            var authorities: [Digest: String] = [:]
            for known in mine where known.next.count > 0 {
                let found = fitAnnouncements(of: known, by: announcementCheck).refusals
                refusals.merge(found) { first, _ in first }
                for next in known.next.chains {
                    guard let refusal = found[next.chain.fingerprint] else { continue }
                    for digest in next.chain.digestsOfLeaf { refusals[digest] = refusal }
                }
            }
            let pinned = Set(
                host.certificates.filter { $0.depth == 0 }.map(\.fingerprint)
                    + host.keys.filter { $0.role == .leaf }.map(\.pin))
            for known in mine {
                for chain in Set(known.observations.compactMap(\.chain) + known.next.chains.map(\.chain)) {
                    for (below, der) in zip(chain.certificates, chain.certificates.dropFirst()) {
                        guard let issuer = try? X509Certificate(der: der) else { continue }
                        let digests = [Digest(of: der), Digest(of: issuer.subjectPublicKeyInfo)].filter {
                            pinned.contains($0) && !chain.digestsOfLeaf.contains($0)
                        }
                        // A hostile host may present its own new pins as those of an issuer, to block them.
                        guard !digests.isEmpty, HostCertificateCheck.isSigned(below, by: der) else { continue }
                        for digest in digests { authorities[digest] = "\(issuer.subject)" }
                    }
                }
            }
            func check(_ digest: Digest, of kind: String, isLeaf: Bool) {
                let name = "\(label): \(kind) \(digest)"
                if let subject = Pin.Subject(isKey: kind == "key"),
                    let pin = try? Pin(subject: subject, digest: digest.bytes),
                    let refusal = Self.refusal(of: pin)
                {
                    return lines.append("\(name) is \(refusal)")
                }
                if isLeaf, let authority = authorities[digest] {
                    return lines.append(
                        "\(name) is that of the authority \(authority), so that any other key that it certifies would be "
                            + "trusted")
                }
                if isLeaf, let refusal = refusals[digest] {
                    return lines.append("\(name) was announced, and is not the host's own: \(refusal)")
                }
                guard kind == "key", let key = publicKeys[digest] else { return }
                do throws(ServerError) {
                    try AnnouncementCheck.check(key: key)
                } catch {
                    lines.append("\(name) is refused by clients: expected \(error.expected), found \(error.found)")
                }
            }
            let certificates = Set((old?.certificates ?? []).map(\.sortingKey))
            for certificate in host.certificates where !certificates.contains(certificate.sortingKey) {
                check(certificate.fingerprint, of: "certificate", isLeaf: certificate.depth == 0)
            }
            let keys = Set((old?.keys ?? []).map(\.sortingKey))
            for key in host.keys where !keys.contains(key.sortingKey) {
                check(key.pin, of: "key", isLeaf: key.role == .leaf)
            }
        }
        return lines
    }

    private static func refusal(of pin: Pin) -> String? {
        do throws(HostCheckError) {
            try HostKeyCheck.check(pin, named: "pin")
            return nil
        } catch {
            return error.found
        }
    }

    // MARK: Origins of pins

    /// The origin of each pin that a content adds, for its approvers: the actor and time of the announcement, the
    /// vantages and time of a sighting, and the announcements that the content leaves out.
    package func origins(of content: Content) -> [String] {
        let before = Dictionary((published?.hosts ?? []).map { ($0.sortingKey, $0) }) { first, _ in first }
        var lines: [String] = []
        for host in content.hosts {
            let label = "\(host.name):\(host.port)"
            let old = before[host.sortingKey]
            let mine = hosts.filter { host.covers($0.host) }
            let certificates = Set((old?.certificates ?? []).map(\.sortingKey))
            for certificate in host.certificates where !certificates.contains(certificate.sortingKey) {
                lines.append("\(label): certificate \(certificate.fingerprint) \(words(certificate.fingerprint, mine))")
            }
            let keys = Set((old?.keys ?? []).map(\.sortingKey))
            for key in host.keys where !keys.contains(key.sortingKey) {
                lines.append("\(label): key \(key.pin) \(words(key.pin, mine))")
            }
        }
        let announcementCheck = announcementCheck
        for (host, planned) in zip(hosts, planning(content).hosts) {
            let leftOut = host.next.chains.filter { !planned.next.chains.contains($0) }
            guard !leftOut.isEmpty else { continue }
            let refusals = fitAnnouncements(of: host, by: announcementCheck).refusals
            for next in leftOut {
                let by = Self.words(next.origin)
                let reason =
                    refusals[next.chain.fingerprint].map { ", since it is not the host's own: \($0.found)" } ?? ""
                lines.append(
                    "\(host.host.label): certificate \(next.chain.fingerprint), announced\(by), is left out\(reason)")
            }
        }
        return lines
    }

    private func words(_ digest: Digest, _ hosts: [Host]) -> String {
        var facts: [String] = []
        for host in hosts {
            for next in host.next.chains where next.chain.digestsOfLeaf.contains(digest) {
                facts.append("announced\(Self.words(next.origin))")
            }
            for key in host.next.keys where Digest(of: key) == digest {
                facts.append("announced as a key\(Self.words(host.next.origins[digest]))")
            }
        }
        if facts.isEmpty { facts.append("NOT ANNOUNCED") }
        let seen = hosts.flatMap(\.observations).filter { $0.chain?.digestsOfLeaf.contains(digest) ?? false }
        if let first = seen.map(\.firstSeen).min(), let last = seen.map(\.lastSeen).max() {
            let places = Set(seen.map { "\($0.address) from \($0.vantage)" }).sorted().prefix(4).joined(separator: ", ")
            facts.append("seen at \(places), since \(Self.time(first)), last at \(Self.time(last))")
        } else {
            facts.append("never seen")
        }
        return facts.joined(separator: "; ")
    }

    private static func words(_ origin: AnnouncedCertificates.Origin?) -> String {
        origin.map { " by \($0.actor) at \(time($0.time))" } ?? ", by whom was not recorded"
    }

    private static func time(_ seconds: Int64) -> String { UTCText.encode(seconds) ?? "\(seconds)" }
}

extension AppSnapshot.Host {
    /// The host with other announced chains.
    func announcing(_ chains: [AnnouncedCertificates.Chain]) -> AppSnapshot.Host {
        var host = self
        host.next = AnnouncedCertificates(chains: chains, keys: next.keys, origins: next.origins)
        return host
    }
}

extension Pin.Subject {
    fileprivate init?(isKey: Bool) { self = isKey ? .publicKey : .certificate }
}

extension Catalog {
    /// The origin of each pin that a content adds, for its approvers.
    package func origins(of content: Content) async throws(ServerError) -> [String] {
        try await scene(of: content.app).origins(of: content)
    }
}
