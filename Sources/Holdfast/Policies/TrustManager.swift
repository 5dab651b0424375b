public import struct Foundation.Date

/// Finds the policy for a host, and evaluates servers with it.
///
/// ```swift
/// let manager = TrustManager(policies: [StandardPolicy(host: try HostPattern("**.example.com"))])
/// let decision = manager.evaluate(trust)
/// ```
/// An exact name takes precedence over a pattern, and a longer pattern over a shorter one; exactly one policy decides.
/// Names are kept in canonical form, so that `WWW.Example.com` and `www.example.com.` are the same host; a name that is
/// not a host is found by equality. Reading holds a lock for a few dictionary lookups. No code of the application runs
/// while it is held, not even the `deinit` of a policy or an observer.
public final class TrustManager: Sendable {
    /// A manager for applications that need only one.
    public static let shared = TrustManager()

    /// The clock for calls without a time.
    public let clock: any WallClock
    private let table: Lock<PolicyTable>
    private let observers = Subscribers<@Sendable (TrustDecision) -> Void>()
    private let watchers = Subscribers<@Sendable (TrustPolicyChange) -> Void>()

    /// Makes a manager.
    /// - Parameters:
    ///   - policies: its first policies; if two are for the same host, the later one is used.
    ///   - unknownHosts: the rule for a host without a policy.
    ///   - clock: the clock for calls without a time.
    public init(
        policies: [any TrustPolicy] = [], unknownHosts: UnknownHostRule = .reject,
        clock: any WallClock = SystemWallClock()
    ) {
        self.clock = clock
        table = Lock(PolicyTable(unknownHosts: unknownHosts))
        add(policies: policies)
    }

    // MARK: Policies

    /// The rule for a host without a policy: by default the host is rejected. Every adapter follows this setting.
    ///
    /// It may be set at any time and applies from the next decision on. Pooled connections to such hosts are evaluated
    /// again. The application's own connections stay open, and ``changes()`` does not report this.
    public var unknownHosts: UnknownHostRule {
        get { table.withLock { $0.unknownHosts } }
        set { table.withLock { $0.unknownHosts = newValue } }
    }

    /// Adds a policy. It replaces the one for the same host or pattern, if any, which is removed as by
    /// ``removePolicy(name:)``.
    public func add(policy: any TrustPolicy) { add(policies: [policy]) }

    /// Adds policies; concurrent readers see all of them or none. If two are for the same host, the later one is used.
    public func add(policies: [any TrustPolicy]) {
        guard !policies.isEmpty else { return }
        // Reads the scope of each policy before the lock is taken, and releases replaced policies after it.
        let added = policies.map { (key: PolicyTable.Key($0.unwrapped.scope), policy: observed($0)) }
        let replaced = table.withLock { table in added.map { table.set($0.policy, for: $0.key) } }
        tell(
            zip(added, replaced).map { one, old in
                TrustPolicyChange(
                    kind: old == nil ? .added : .replaced, hostName: one.key.name, pattern: one.key.pattern)
            })
    }

    /// The policy that decides for a host: the one of its exact name, otherwise of the longest pattern. A name that is
    /// not a host finds the policy of that name, for example `*.example.com`.
    ///
    /// Telling the policy about its decision (``TrustPolicy/tell(_:)``) notifies this manager's observers too.
    /// - Parameter name: a host, a URL, which stands for its host, or the name of a policy.
    /// - Returns: the policy; nil if none matches, no matter what the rule for unknown hosts is.
    public func policy(for name: String) -> (any TrustPolicy)? { table.withLock { $0.policy(named: name) } }

    /// The policy that decides for a host; nil if the host has no policy.
    public func policy(for host: DialedHost) -> (any TrustPolicy)? { table.withLock { $0.policy(for: host) } }

    /// Looks up a host, for an adapter that needs its policy before the decision.
    package func lookUp(_ host: DialedHost) -> HostLookup {
        let (policy, unknownHosts, generation) = table.withLock {
            ($0.policy(for: host), $0.unknownHosts, $0.generation)
        }
        return HostLookup(host, in: self, policy: policy, unknownHosts: unknownHosts, generation: generation)
    }

    /// Removes the policy with exactly this name; a pattern that covers the name stays.
    ///
    /// Once this has returned, no decision of ``evaluate(_:at:)`` comes from the removed policy, not even that of an
    /// evaluation that was under way. Code that got the policy itself from `policy(for:)` can still evaluate with it.
    /// - Parameter name: a host, a URL, which stands for its host, or the name of a policy.
    /// - Returns: the policy that was removed; nil if no policy has this name.
    @discardableResult
    public func removePolicy(name: String) -> (any TrustPolicy)? {
        let keys = [PolicyTable.Key(name: name, allowingTopLevel: true), .other(name)]
        let removed = table.withLock { table -> (key: PolicyTable.Key, policy: ObservedPolicy)? in
            for key in keys where table[key] != nil {
                if let policy = table.set(nil, for: key) { return (key, policy) }
            }
            return nil
        }
        guard let removed else { return nil }
        tell([TrustPolicyChange(kind: .removed, hostName: removed.key.name, pattern: removed.key.pattern)])
        return removed.policy
    }

    /// Every policy by its name: the host or pattern in canonical form, any other name as given.
    ///
    /// Assigning replaces them all at once, each under the name to which it is assigned. To change one, add or remove
    /// it: `policies[name] = policy` reads all, then writes all, and loses concurrent changes.
    public var policies: [String: any TrustPolicy] {
        get {
            let entries = table.withLock { $0.entries }
            return Dictionary(entries.map { ($0.key.name, $0.policy) }) { first, _ in first }
        }
        set { replaceAll(with: newValue) }
    }

    /// Every policy, exact hosts first.
    public var allPolicies: [any TrustPolicy] { table.withLock { $0.entries }.map(\.policy) }

    /// The name of every policy: the host or pattern in canonical form, any other name as given.
    public var allNames: [String] { table.withLock { $0.entries }.map(\.key.name) }

    /// A number that differs after every change of policies and of ``unknownHosts``, before ``changes()`` reports it.
    package var generation: UInt64 { table.withLock { $0.generation } }

    /// The number of times that the policy of a host was looked up, for tests.
    package var lookups: UInt64 { table.withLock { $0.lookups } }

    private func replaceAll(with policies: [String: any TrustPolicy]) {
        let added = policies.sorted { $0.key < $1.key }
            .map { (key: PolicyTable.Key(name: $0.key, allowingTopLevel: true), policy: observed($0.value)) }
        // If two names mean the same host, the later policy is used; the other one is released with the old table,
        // outside the lock.
        let (old, new, _) = table.withLock { table in
            let old = table
            table = PolicyTable(after: old)
            let superseded = added.map { table.set($0.policy, for: $0.key) }
            return (old, table, superseded)
        }
        let removed = old.entries.filter { new[$0.key] == nil }.map { ($0.key, TrustPolicyChange.Kind.removed) }
        let present = new.entries.map { ($0.key, old[$0.key] == nil ? TrustPolicyChange.Kind.added : .replaced) }
        tell((removed + present).map { TrustPolicyChange(kind: $1, hostName: $0.name, pattern: $0.pattern) })
    }

    private func observed(_ policy: any TrustPolicy) -> ObservedPolicy {
        ObservedPolicy(policy.unwrapped, observers: observers)
    }

    // MARK: Decisions

    /// Evaluates a server with the policy for the host that was dialed.
    ///
    /// It evaluates certificates, not the handshake in which they came; see ``TrustDecision/hasProofOfPossession``. One
    /// policy decides: the one that the host has when the decision is made. If a policy is removed or replaced while it
    /// evaluates, its result is dropped and its successor evaluates.
    /// - Parameters:
    ///   - trust: the evidence of the handshake; without a host, and for a client, it is rejected with `hostUnknown`.
    ///   - time: the time for which to decide; nil for the manager's clock.
    /// - Returns: the decision, which every observer gets too.
    public func evaluate(_ trust: ServerTrust, at time: Date? = nil) -> TrustDecision {
        handedOut(judgment(of: trust, at: time ?? clock.now), about: trust)
    }

    func handedOut(_ decision: TrustDecision, about trust: ServerTrust) -> TrustDecision {
        tell(decision)
        trust.tell(decision)
        return decision
    }

    /// Evaluates without notifying the observers, for adapters that notify them once the handshake has proved the key.
    package func judgment(of trust: ServerTrust, at time: Date) -> TrustDecision {
        if let host = trust.host { return lookUp(host).judgment(of: trust, at: time) }
        let failure =
            trust.purpose == .client
            ? TrustFailure(
                .hostUnknown, expected: "a server", found: "a client",
                remedy: "Judge clients by a policy of their own, given to the adapter.")
            : .hostUnknown(expected: "the host that was dialed")
        return DecisionDraft("", trust, time).rejected(failure)
    }

    /// Notifies the policy that made a decision, unless another one has replaced it, and the observers.
    package func tell(_ decision: TrustDecision) {
        if let host = decision.host, let registration = decision.registration {
            table.withLock { $0.policy(for: host, registeredAs: registration) }?.policy.tell(decision)
        }
        for observer in observers.all { observer(decision) }
    }

    // MARK: Watching

    /// From now on, calls an observer with every decision that this manager makes, or that a policy from this manager
    /// is notified of.
    ///
    /// It is called on the thread that decides, before the caller gets the decision, with no lock held: it may call the
    /// manager, and should return quickly. Adapters report a decision to trust only when the handshake has proved the
    /// peer's key. ``TrustDecision/hasProofOfPossession`` shows which decisions were made without that proof.
    @discardableResult
    public func addObserver(_ observer: @escaping @Sendable (TrustDecision) -> Void) -> ObserverToken {
        observers.add(observer)
    }

    /// Ends an observation; a decision under way may still be reported.
    public func removeObserver(_ token: ObserverToken) { observers.remove(token) }

    /// Every change of policies from now on. Each call returns a separate stream.
    ///
    /// If a listener does not keep up, the latest 256 changes are kept for it. To end connections after each change,
    /// listen continuously or compare the policies.
    public func changes() -> AsyncStream<TrustPolicyChange> { watchers.stream() }

    private func tell(_ changes: [TrustPolicyChange]) {
        for watcher in watchers.all {
            for change in changes { watcher(change) }
        }
    }
}
