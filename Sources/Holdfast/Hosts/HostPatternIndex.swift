/// Values by host pattern: one value decides for a host, found in a few dictionary probes among any number of patterns.
///
/// A host with n labels costs at most n + 1 probes, whatever the number of patterns. Adding a pattern again replaces
/// its value; values of several matching patterns are never merged. A value type without locks: readers take a copy.
struct HostPatternIndex<Value> {
    /// A pattern and its value.
    struct Entry {
        let pattern: HostPattern
        let value: Value
    }

    /// The values of the two patterns that share one name.
    struct Wildcards {
        var oneLabel: Entry?
        var subtree: Entry?

        var isEmpty: Bool { oneLabel == nil && subtree == nil }
    }

    /// The patterns are left out, because the key implies them. A smaller table of many hosts causes fewer cache
    /// misses.
    private var exact: [DialedHost.Kind: Value] = [:]
    /// Entries by the name after the wildcard. The key is a Substring so that a suffix of the host needs no copy.
    private var wildcards: [Substring: Wildcards] = [:]
    /// The number of patterns.
    private(set) var count = 0

    /// An index without patterns.
    init() {}

    /// The value of exactly this pattern, whatever hosts it matches. Assigning replaces, assigning nil removes.
    subscript(_ pattern: HostPattern) -> Value? {
        get {
            switch pattern.scope {
            case .exact: exact[pattern.base.kind]
            case .oneLabel: wildcards[pattern.base.name[...]]?.oneLabel?.value
            case .subtree: wildcards[pattern.base.name[...]]?.subtree?.value
            }
        }
        set { set(newValue, for: pattern) }
    }

    /// Sets or, with nil, removes the value of a pattern; returns the previous value.
    @discardableResult
    mutating func set(_ value: Value?, for pattern: HostPattern) -> Value? {
        let old = self[pattern]
        let new = value.map { Entry(pattern: pattern, value: $0) }
        switch (pattern.scope, pattern.base.kind) {
        case (.exact, let kind):
            exact[kind] = value
        case (.oneLabel, .name(let name)):
            wildcards[name[...], default: Wildcards()].oneLabel = new
        case (.subtree, .name(let name)):
            wildcards[name[...], default: Wildcards()].subtree = new
        case (.oneLabel, _), (.subtree, _):
            // HostPattern never makes a wildcard over an address.
            return nil
        }
        if value == nil, wildcards[pattern.base.name[...]]?.isEmpty == true { wildcards[pattern.base.name[...]] = nil }
        count += (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
        return old
    }

    /// The value that decides for a host: that of the exact pattern, otherwise of the pattern with the most labels,
    /// `*.` before `**.`; nil if no pattern matches.
    func value(for host: DialedHost) -> Value? {
        if let value = exact[host.kind] { return value }
        guard !wildcards.isEmpty, case .name(let name) = host.kind else { return nil }
        if let entry = wildcards[name[...]]?.subtree { return entry.value }
        var rest = name[...]
        var isParent = true
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            if let found = wildcards[rest], let entry = isParent ? found.oneLabel ?? found.subtree : found.subtree {
                return entry.value
            }
            isParent = false
        }
        return nil
    }

    /// Every entry, in the order of precedence.
    var entries: [Entry] {
        let hosts = exact.map { Entry(pattern: HostPattern(DialedHost(kind: $0)), value: $1) }
        let all = hosts + wildcards.values.flatMap { [$0.oneLabel, $0.subtree].compactMap(\.self) }
        return all.sorted { $0.pattern < $1.pattern }
    }
}

extension HostPatternIndex: Sendable where Value: Sendable {}
extension HostPatternIndex.Entry: Sendable where Value: Sendable {}
extension HostPatternIndex.Wildcards: Sendable where Value: Sendable {}
