public import Holdfast

/// What is published after every host was asked once: a decision, without network, file or clock.
///
/// A host that was validated gets a new entry. One that failed keeps the entry of the last time that it was validated,
/// for as long as the rules say. A document with fewer hosts than its list is one that locks clients out of the others,
/// and is published only where the rules allow it. A value; safe to use from any thread.
public struct PublishingRound: Sendable {
    /// Which certificates of a validated path are published.
    public enum Included: String, Sendable, CaseIterable {
        /// The server's own.
        case leaf
        /// Those above it, the anchor included.
        case issuers
        /// All.
        case all
    }

    /// What holds for every round.
    public struct Rules: Sendable {
        /// Which certificates are published.
        public var included: Included
        /// For how many seconds after it was last validated a host that fails keeps its entry; negative counts as 0.
        public var keep: Int64
        /// Whether a document may have fewer hosts than its list; one without any is never published.
        public var allowsFewerHosts: Bool
        /// What every host gets besides its own.
        public var backups: TrustServerBackups

        /// The rules, by default those of the command.
        public init(
            included: Included = .leaf, keep: Int64 = 7 * 86_400, allowsFewerHosts: Bool = false,
            backups: TrustServerBackups = TrustServerBackups()
        ) {
            self.included = included
            self.keep = keep
            self.allowsFewerHosts = allowsFewerHosts
            self.backups = backups
        }
    }

    /// What came of asking a host.
    public enum Answer: Sendable {
        /// Its chain was validated for the host that was dialled.
        case validated(ValidatedPath)
        /// It showed a chain that is not trusted.
        case untrusted(String)
        /// It could not be asked.
        case unreachable(String)
    }

    /// A host that was not validated this time.
    public struct Failure: Sendable, Hashable {
        /// The host.
        public let host: DialledHost
        /// Why.
        public let reason: String
        /// Whether it answered with a chain that is not trusted, or not at all.
        public let isUntrusted: Bool
        /// When the entry was made that it is published with, in Unix seconds; nil when there is none for this time.
        public let keptSince: Int64?
    }

    /// What there is to publish, in the order of the list, backups included.
    public let hosts: [TrustServerHost]
    /// What is to be remembered for the next round, without backups: entries too that are not published, since it may
    /// be the clock that is wrong.
    public let remembered: [TrustServerHost]
    /// The hosts that failed, in the order of the list.
    public let failures: [Failure]
    /// Whether the hosts may be published.
    public let isPublishable: Bool

    /// Decides.
    /// - Parameters:
    ///   - answers: each host of the list once, with its answer.
    ///   - earlier: what was remembered of the round before.
    ///   - rules: what holds for every round.
    ///   - time: in Unix seconds.
    public init(
        _ answers: [(host: DialledHost, answer: Answer)], earlier: [TrustServerHost], rules: Rules, at time: Int64
    ) {
        var published: [TrustServerHost] = []
        var remembered: [TrustServerHost] = []
        var failures: [Failure] = []
        let known = Dictionary(earlier.map { (Place(hostname: $0.hostname, port: $0.port), $0) }) { first, _ in first }
        for (host, answer) in answers {
            let old = known[Place(hostname: host.name, port: host.port ?? 443)]
            let kept = old.flatMap { entry in
                // One of the future is no evidence of anything: the clock was wrong then or is now.
                (0...max(0, rules.keep)).contains(time.subtractingReportingOverflow(entry.seen).partialValue)
                    ? entry : nil
            }
            func fail(_ reason: String, isUntrusted: Bool) {
                // Whatever its age: a clock that is wrong once must not cost the entry.
                if let old { remembered.append(old) }
                if let kept { published.append(kept) }
                failures.append(
                    Failure(host: host, reason: reason, isUntrusted: isUntrusted, keptSince: kept?.seen))
            }
            switch answer {
            case .validated(let path):
                let certificates = Self.certificates(rules.included, of: path)
                if certificates.isEmpty {
                    fail("its path has no issuers: the certificate is trusted by itself", isUntrusted: true)
                } else {
                    let entry = TrustServerHost(host, certificates: certificates, seen: time)
                    remembered.append(entry)
                    published.append(entry)
                }
            case .untrusted(let reason): fail(reason, isUntrusted: true)
            case .unreachable(let reason): fail(reason, isUntrusted: false)
            }
        }
        self.remembered = remembered
        self.failures = failures
        hosts = published.map { host in
            var host = host
            host.add(rules.backups)
            return host
        }
        isPublishable = !published.isEmpty && (published.count == answers.count || rules.allowsFewerHosts)
    }

    private struct Place: Hashable {
        let hostname: String
        let port: Int
    }

    private static func certificates(_ included: Included, of path: ValidatedPath) -> ArraySlice<X509Certificate> {
        switch included {
        case .leaf: path.certificates.prefix(1)
        case .issuers: path.certificates.dropFirst()
        case .all: path.certificates[...]
        }
    }
}
