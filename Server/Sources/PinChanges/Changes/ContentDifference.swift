import Holdfast
import ServerFoundation
package import ServerModel

/// A description of the differences between two contents, one line for each.
package struct ContentDifference: Sendable, Hashable {
    /// The lines; empty if the contents are equal.
    package let lines: [String]

    /// Compares two contents.
    /// - Parameters:
    ///   - old: the published content; nil before the first publication.
    ///   - new: the proposed content.
    package init(from old: Content?, to new: Content) {
        var lines: [String] = []
        let before = old?.hosts ?? []
        let all = Dictionary(before.map { ($0.sortingKey, $0) }) { first, _ in first }
        for host in new.hosts {
            let label = "\(host.name):\(host.port)"
            guard let known = all[host.sortingKey] else {
                lines.append("adds host \(label)")
                lines += Self.lines(label, from: nil, to: host)
                continue
            }
            lines += Self.lines(label, from: known, to: host)
        }
        let kept = Set(new.hosts.map(\.sortingKey))
        for host in before where !kept.contains(host.sortingKey) {
            lines.append(
                "removes host \(host.name):\(host.port): apps get no pins for it, and reach it without or not at all")
        }
        lines += Self.lines(formatsOf: old, new)
        lines += Self.lines(domainsOf: old, new)
        if old?.end != new.end {
            lines.append("ends at \(Self.text(new.end)): nothing is signed or trusted after that")
        }
        self.lines = lines
    }

    /// Hosts without pins are listed one by one: they can turn pinning off without any outlook showing it.
    private static func lines(domainsOf old: Content?, _ new: Content) -> [String] {
        guard old?.domains != new.domains else { return [] }
        guard let domains = new.domains else { return ["no longer lists the hosts that need no pins"] }
        var lines: [String] = []
        if old?.domains?.unlistedNeedPins != domains.unlistedNeedPins {
            lines.append("hosts that are not listed \(domains.unlistedNeedPins ? "need" : "NEED NO") pins")
        }
        return lines
            + changes(old?.domains?.domains ?? [], domains.domains) {
                "host \($0.name) \($0.needsPins ? "needs" : "NEEDS NO") pins"
            }
    }

    /// A line for each item that was added or removed; a changed one is both.
    private static func changes<Thing: Hashable>(
        _ old: [Thing], _ new: [Thing], _ words: (Thing) -> String
    ) -> [String] {
        let (before, after) = (Set(old), Set(new))
        return new.filter { !before.contains($0) }.map { "adds \(words($0))" }
            + old.filter { !after.contains($0) }.map { "removes \(words($0))" }
    }

    private static func lines(_ label: String, from old: ContentHost?, to new: ContentHost) -> [String] {
        var lines: [String] = []
        for certificate in new.certificates {
            let name =
                "certificate \(certificate.fingerprint)"
                + (certificate.depth > 0 ? " at depth \(certificate.depth)" : "")
            switch old?.certificates.first(where: { $0.sortingKey == certificate.sortingKey }) {
            case nil: lines.append("\(label): adds \(name) until \(text(certificate.expires))")
            case let known? where known.expires != certificate.expires:
                lines.append("\(label): \(name) until \(text(certificate.expires)) instead of \(text(known.expires))")
            default: break
            }
        }
        for certificate in old?.certificates ?? []
        where !new.certificates.contains(where: { $0.sortingKey == certificate.sortingKey }) {
            lines.append("\(label): removes certificate \(certificate.fingerprint)")
        }
        for key in new.keys {
            switch old?.keys.first(where: { $0.sortingKey == key.sortingKey }) {
            case nil: lines.append("\(label): adds \(key.role.rawValue) key \(key.pin), \(key.state.rawValue)")
            case let known? where known.state != key.state:
                lines.append("\(label): key \(key.pin) is \(key.state.rawValue) instead of \(known.state.rawValue)")
            default: break
            }
        }
        for key in old?.keys ?? [] where !new.keys.contains(where: { $0.sortingKey == key.sortingKey }) {
            lines.append("\(label): removes \(key.role.rawValue) key \(key.pin)")
        }
        return lines
    }

    private static func lines(formatsOf old: Content?, _ new: Content) -> [String] {
        var lines: [String] = []
        for format in new.formats {
            switch old?.formats.first(where: { $0.kind == format.kind }) {
            case nil: lines.append("publishes \(text(format))")
            case let known? where known != format: lines.append("publishes \(text(format)), instead of \(text(known))")
            default: break
            }
        }
        for format in old?.formats ?? [] where !new.formats.contains(where: { $0.kind == format.kind }) {
            lines.append("no longer publishes \(format.kind.rawValue): its clients keep their copy until it expires")
        }
        if let old {
            let paths = Set(new.formats.compactMap { $0.path(of: new.app) }.map { Array($0.utf8) })
            for path in old.formats.compactMap({ $0.path(of: old.app) }) where !paths.contains(Array(path.utf8)) {
                lines.append("\(path) goes away")
            }
        }
        return lines
    }

    private static func text(_ format: ContentFormat) -> String {
        format.kind.rawValue + (format.customer.map { " for the customer \($0)" } ?? "")
            + (format.root.map { " for apps that ship with the root \($0)" } ?? "")
            + (format.application.map { ", as pins of the application \($0)" } ?? "")
            + ", asked for every \(format.refresh) s"
    }

    private static func text(_ time: Int64) -> String { UTCText.encode(time) ?? "\(time)" }
}

extension Content {
    /// Whether a host of another content has pins here as well, under its name or a pattern.
    package func covers(_ host: ContentHost) -> Bool {
        hosts.contains { own in
            guard own.port == host.port else { return false }
            if own.name.utf8.elementsEqual(host.name.utf8) { return true }
            guard let pattern = try? HostPattern(own.name), let dialed = try? DialedHost(host.name) else {
                return false
            }
            return pattern.matches(dialed)
        }
    }

    /// The formats that apps request over the network and that another content does not have at the same path. Formats
    /// that are built into apps are not included.
    func formatsThatEnd(with other: Content) -> [ContentFormat] {
        formats.filter { format in format.isAskedFor && !other.formats.contains { $0.isSame(as: format) } }
    }
}
