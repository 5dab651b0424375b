package import Holdfast
import HoldfastTUF

/// Finds why installed apps refuse the next pin file as a whole although they accept the published one: entries that no
/// longer enforce pinning, or another value of `app`. The command does not know the apps' compiled-in settings. It
/// therefore assumes an app whose floor requires enforcement, which is the default, and an app whose configuration
/// names the application.
package struct PinFileFloors {
    /// One line for each entry, and one for `app`.
    package let lines: [String]

    package init(from live: PinFile, to new: PinFile) {
        lines = Self.applications(live, new) + Self.weakened(live, new)
    }

    private static func applications(_ live: PinFile, _ new: PinFile) -> [String] {
        // If the published file has no `app`, apps that require one already refuse it.
        guard let before = live.app, new.app != before else { return [] }
        let now = new.app.map { "is \($0.quoted) instead of \(before.quoted)" } ?? "is no longer \(before.quoted)"
        return ["app \(now): apps that are configured with application \(before.quoted) refuse the whole file"]
    }

    private static func weakened(_ live: PinFile, _ new: PinFile) -> [String] {
        let weak = new.hosts.filter(isWeak)
        guard !weak.isEmpty else { return [] }
        let weakBefore = live.hosts.filter(isWeak)
        // A floor that covers one of these accepts the published file. Its entries come first, for the message.
        let patterns = live.hosts.map(\.pattern).sorted() + PinFileEntries.patterns(of: live, and: new)
        let covered = patterns.filter { pattern in
            live.hosts.contains { $0.pattern.covers(pattern) }
                && !weakBefore.contains { pattern.overlaps($0.pattern) }
        }
        return weak.compactMap { host in
            guard
                let pattern = covered.first(where: { $0 == host.pattern })
                    ?? covered.first(where: { $0.overlaps(host.pattern) })
            else { return nil }
            let fields = [
                host.enforcement == .enforce ? nil : "mode \(host.enforcement.rawValue)",
                host.afterExpiry == .reject ? nil : "onExpiry \(host.afterExpiry.rawValue)",
            ].compactMap(\.self).joined(separator: " and ")
            return "\(host.pattern) has \(fields): apps whose floor covers \(pattern) refuse the whole file, unless "
                + "they were built with requiresEnforcement false"
        }
    }

    /// Whether a floor that requires enforcement refuses it.
    private static func isWeak(_ host: PinFile.Host) -> Bool {
        !host.isRetired && (host.enforcement != .enforce || host.afterExpiry != .reject)
    }
}
