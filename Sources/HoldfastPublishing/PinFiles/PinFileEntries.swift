import Holdfast
import HoldfastTUF

/// The entries of a pin file, found by the hosts to which they apply.
struct PinFileEntries {
    private let entries: [HostPattern: PinFile.Host]

    init(_ file: PinFile) { entries = Dictionary(file.hosts.map { ($0.pattern, $0) }) { first, _ in first } }

    /// The entry that applies to all hosts of a pattern.
    func entry(of pattern: HostPattern) -> PinFile.Host? {
        entries[pattern]
            ?? entries.values.filter { $0.pattern.covers(pattern) }.min { $0.pattern < $1.pattern }
    }

    /// Every pattern for which two files may decide differently, in the order of precedence. If two patterns overlap,
    /// one lies within the other, or they meet in the domain of a `**.` pattern.
    static func patterns(of first: PinFile, and second: PinFile) -> [HostPattern] {
        var patterns: Set<HostPattern> = []
        for pattern in (first.hosts + second.hosts).map(\.pattern) {
            patterns.insert(pattern)
            if pattern.scope == .subtree { patterns.insert(HostPattern(pattern.base)) }
        }
        return patterns.sorted()
    }
}
