import Holdfast

/// Finds the hosts to which clients with one pin file connect, but which clients with the next one refuse, whatever
/// their servers present: hosts that have no entry any more, a retired one, or one for other ports.
struct RepositoryLostHosts {
    /// One line for each host or pattern.
    let lines: [String]

    init(from live: PinFile, to new: PinFile) {
        // If two patterns overlap, one lies within the other, or they meet in the domain of a `**.` pattern.
        var patterns: Set<HostPattern> = []
        for pattern in (live.hosts + new.hosts).map(\.pattern) {
            patterns.insert(pattern)
            if pattern.scope == .subtree { patterns.insert(HostPattern(pattern.base)) }
        }
        let (before, after) = (Entries(live), Entries(new))
        lines = patterns.sorted().compactMap { pattern in
            guard let old = before.entry(of: pattern), !old.isRetired,
                let reason = Self.reason(old, after.entry(of: pattern))
            else { return nil }
            return "\(pattern): clients connect to it now, and would refuse to: \(reason)"
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

    /// The entries of a pin file, by their patterns.
    private struct Entries {
        private let entries: [HostPattern: PinFile.Host]

        init(_ file: PinFile) { entries = Dictionary(file.hosts.map { ($0.pattern, $0) }) { first, _ in first } }

        /// The entry that decides about everything that a pattern covers.
        func entry(of pattern: HostPattern) -> PinFile.Host? {
            entries[pattern]
                ?? entries.values.filter { Self.covers($0.pattern, pattern) }.min { $0.pattern < $1.pattern }
        }

        /// Whether all hosts of the inner pattern are hosts of the outer one.
        private static func covers(_ outer: HostPattern, _ inner: HostPattern) -> Bool {
            (inner.scope == .exact || outer.scope == .subtree) && outer.matches(inner.base)
        }
    }
}
