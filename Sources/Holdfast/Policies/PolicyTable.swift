/// Policies by name. Hosts and patterns go through the index, so that one policy decides for a host; any other name is
/// found by equality.
struct PolicyTable: Sendable {
    /// The key under which a policy is kept.
    enum Key: Hashable, Sendable {
        case pattern(HostPattern)
        case other(String)

        var name: String {
            switch self {
            case .pattern(let pattern): pattern.description
            case .other(let name): name
            }
        }

        var pattern: HostPattern? {
            if case .pattern(let pattern) = self { pattern } else { nil }
        }

        init(_ scope: PolicyScope) {
            switch scope {
            case .hosts(let pattern): self = .pattern(pattern)
            case .clients(let name), .nothing(let name): self = .other(name)
            }
        }

        /// The key of a name. A lookup also accepts patterns over a single label, because these were allowed when they
        /// were made.
        init(name: String, allowingTopLevel: Bool) {
            self =
                (try? HostPattern(publishedName: name, allowingTopLevel: allowingTopLevel)).map(Key.pattern)
                ?? .other(name)
        }
    }

    private var index = HostPatternIndex<ObservedPolicy>()
    /// Policies by the bytes of their names, because a caller may look up names of any length.
    private var others: [[UInt8]: (name: String, policy: ObservedPolicy)] = [:]
    /// Differs after every change, to distinguish decisions before and after it.
    private(set) var generation: UInt64 = 0
    /// The rule for a host without a policy.
    var unknownHosts: UnknownHostRule {
        didSet { if unknownHosts != oldValue { generation &+= 1 } }
    }
    /// The number of times that the policy of a host was looked up.
    private(set) var lookups: UInt64 = 0

    init(unknownHosts: UnknownHostRule) { self.unknownHosts = unknownHosts }

    /// Makes an empty table that replaces another one; earlier decisions no longer hold.
    init(after old: PolicyTable) {
        generation = old.generation &+ 1
        unknownHosts = old.unknownHosts
        lookups = old.lookups
    }

    subscript(_ key: Key) -> ObservedPolicy? {
        switch key {
        case .pattern(let pattern): index[pattern]
        case .other(let name): others[Array(name.utf8)]?.policy
        }
    }

    /// Adds a policy, or with nil removes one.
    /// - Returns: the previous policy. It may hold the last reference to the application's objects, so release it
    ///   outside the lock.
    mutating func set(_ policy: ObservedPolicy?, for key: Key) -> ObservedPolicy? {
        generation &+= 1
        let policy = policy?.registered(as: generation)
        switch key {
        case .pattern(let pattern):
            return index.set(policy, for: pattern)
        case .other(let name):
            let octets = Array(name.utf8)
            guard let policy else { return others.removeValue(forKey: octets)?.policy }
            return others.updateValue((name, policy), forKey: octets)?.policy
        }
    }

    /// The one policy that decides for a host.
    mutating func policy(for host: DialedHost) -> ObservedPolicy? {
        lookups &+= 1
        return index.value(for: host)
    }

    /// The policy that decides for a host, if it is the one with this registration. It is used to notify the policy of
    /// its decision; no connection waits for that.
    func policy(for host: DialedHost, registeredAs registration: UInt64) -> ObservedPolicy? {
        index.value(for: host).flatMap { $0.registration == registration ? $0 : nil }
    }

    /// The policy that decides for the host of this name; for any other name, the policy with that name.
    mutating func policy(named name: String) -> ObservedPolicy? {
        if let host = try? DialedHost(publishedHostName: name), let policy = policy(for: host) { return policy }
        return self[Key(name: name, allowingTopLevel: true)] ?? self[.other(name)]
    }

    /// Every policy with its key: patterns in the order of precedence, then other names in their own order.
    var entries: [(key: Key, policy: ObservedPolicy)] {
        index.entries.map { (.pattern($0.pattern), $0.value) }
            + others.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map {
                (.other($0.value.name), $0.value.policy)
            }
    }
}
