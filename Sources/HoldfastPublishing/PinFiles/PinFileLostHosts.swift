package import Holdfast

/// Finds the hosts that clients with one pin file accept, but clients with the next one refuse no matter what their
/// servers present: hosts without an entry, with a retired one, or with one for other ports.
package struct PinFileLostHosts {
    /// Each host or pattern in a line, with the entry that applies to it in the earlier file.
    package let losses: [(entry: HostPattern, line: String)]
    /// One line for each host or pattern.
    package var lines: [String] { losses.map(\.line) }

    package init(from live: PinFile, to new: PinFile) {
        let (before, after) = (PinFileEntries(live), PinFileEntries(new))
        losses = PinFileEntries.patterns(of: live, and: new).compactMap { pattern in
            guard let old = before.entry(of: pattern), !old.isRetired,
                let reason = Self.reason(old, after.entry(of: pattern))
            else { return nil }
            return (old.pattern, "\(pattern): clients connect to it now, and would refuse to: \(reason)")
        }
    }

    private static func reason(_ old: PinFile.Host, _ new: PinFile.Host?) -> String? {
        guard let new else { return "the new pins have no entry for it" }
        guard !new.isRetired else { return "the new pins have it retired" }
        guard !new.ports.isEmpty else { return nil }
        guard !old.ports.isEmpty else { return "the new pins are for some ports only" }
        let lost = old.ports.filter { !new.ports.contains($0) }
        return lost.isEmpty ? nil : "the new pins leave out port \(lost.map(String.init).joined(separator: ", "))"
    }
}
