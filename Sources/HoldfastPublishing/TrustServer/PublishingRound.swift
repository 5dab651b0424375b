public import Foundation
public import Holdfast
public import HoldfastSigning

/// Decides what to publish after every host was probed once. It uses no network, files or clock.
///
/// A host is published with the pins of every path that was validated for it within the overlap, at any of its
/// addresses: while certificates are renewed one node at a time, clients reach old and new ones. A pin ages only in
/// rounds that validated its host without seeing the pin, and by at most 25 hours per round. Therefore neither an
/// outage of the publisher nor a wrong clock withdraws a pin.
///
/// A host that fails keeps its pins for as long as the rules specify. A host without pins is left out; this locks out
/// no client that could connect before. If too many hosts changed at once, the round is held: the previous content is
/// published again.
public struct PublishingRound: Sendable {
    /// The certificates of a validated path that are published.
    public enum Included: String, Sendable, CaseIterable {
        /// The server's own certificate.
        case leaf
        /// The certificates above it, including the anchor.
        case issuers
        /// All of them.
        case all
    }

    /// The rules for every round.
    public struct Rules: Sendable {
        /// The certificates that are published.
        public var included: Included
        /// How long after its last validation a host that fails keeps its pins, in whole seconds. A negative span is
        /// treated as zero.
        public var keep: Duration
        /// How long a host is still published with a pin that it no longer presents, in whole seconds. A negative span
        /// is treated as zero, which withdraws such a pin at once.
        public var overlap: Duration
        /// Maximum number of changes in one round (``PublishingRound/changes``); nil for half the number of hosts that
        /// were known before, but at least ten.
        public var maximumChanges: Int?
        /// The pins that every host gets in addition to its own.
        public var backups: TrustServerBackups

        /// Makes rules; the defaults are those of `holdfastctl trust-server publish`.
        public init(
            included: Included = .leaf, keep: Duration = .seconds(7 * 86_400), overlap: Duration = .seconds(7 * 86_400),
            maximumChanges: Int? = nil, backups: TrustServerBackups = TrustServerBackups()
        ) {
            self.included = included
            self.keep = keep
            self.overlap = overlap
            self.maximumChanges = maximumChanges
            self.backups = backups
        }
    }

    /// A problem when a host was probed, at one of its addresses or in total.
    public struct Problem: Sendable, Hashable {
        /// The kinds of problems, a set that may grow.
        public typealias Kind = OpenCode<Problem>

        /// A description of the problem.
        public let reason: String
        /// Its kind.
        public let kind: Kind

        /// Describes a problem.
        public init(_ reason: String, _ kind: Kind) {
            self.reason = reason
            self.kind = kind
        }
    }

    /// The result of probing a host, at all its addresses.
    public struct Answer: Sendable {
        /// Every path that was validated for the host that was dialed.
        public let paths: [ValidatedPath]
        /// The other findings, and the addresses that could not be probed.
        public let problems: [Problem]

        /// Describes the result for a host. If both arrays are empty, the host was not probed.
        public init(paths: [ValidatedPath], problems: [Problem]) {
            self.paths = paths
            self.problems = problems
        }

        /// The chains of the host were validated for the name that was dialed.
        public static func validated(_ paths: ValidatedPath...) -> Answer { Answer(paths: paths, problems: []) }
        /// It presented a chain that is not trusted.
        public static func untrusted(_ reason: String) -> Answer {
            Answer(paths: [], problems: [Problem(reason, .untrusted)])
        }
        /// It could not be probed.
        public static func unreachable(_ reason: String) -> Answer {
            Answer(paths: [], problems: [Problem(reason, .unreachable)])
        }
    }

    /// A host whose addresses were not all validated.
    public struct Failure: Sendable, Hashable {
        /// The part of the host that is published nevertheless.
        public struct Consequence: Sendable, Hashable {
            /// The parts that may be published, a set that may grow.
            public typealias Kind = OpenCode<Consequence>

            /// The part that is published.
            public let kind: Kind
            /// When the host was last validated with the pins that are kept; nil if none are kept.
            public private(set) var since: Date?

            package static var partial: Self { Self(kind: .partial) }
            package static func kept(since: Date) -> Self { Self(kind: .kept, since: since) }
            package static var omitted: Self { Self(kind: .omitted) }
        }

        /// The host.
        public let host: DialedHost
        /// The problems.
        public let problems: [Problem]
        /// The part of the host that is published nevertheless.
        public let consequence: Consequence

        /// Whether it presented a chain that is not trusted.
        public var isUntrusted: Bool { problems.contains { $0.kind == .untrusted } }
        /// Whether the only problem is that this machine has no route to some of the addresses.
        public var isHarmless: Bool { consequence == .partial && problems.allSatisfy { $0.kind == .unroutable } }
    }

    /// The hosts that can be published, in the order of the list, including backups.
    public let hosts: [TrustServerHost]
    /// The previously published hosts, to be published again if nothing new can be; the same as `hosts` when the round
    /// is held.
    public let previous: [TrustServerHost]
    /// The hosts to remember for the next round, without backups. This includes hosts that are not published, because
    /// the clock may be wrong.
    public let remembered: [SeenHost]
    /// The hosts to remember if the previous content is published again: its pins, and which hosts were validated with
    /// some of them. The same as `remembered` when the round is held.
    public let rememberedOfPrevious: [SeenHost]
    /// The hosts that failed, in the order of the list.
    public let failures: [Failure]
    /// The hosts with pins with which they were never seen before, and the hosts that left the list.
    public let changed: [String]
    /// The hosts of ``changed`` that left the list.
    public let left: [String]
    /// The number of changes. Hosts count as one change if they were last seen with the same certificates and got the
    /// same new pins, because that is the renewal of a shared certificate. Hosts that did not share a certificate
    /// before count separately, even if they share one now.
    public let changes: Int
    /// The maximum number of changes, if it was exceeded; nil if the round proceeds.
    public let heldAt: Int?

    /// Whether too many hosts changed: nothing new is published, and the previous content is published again.
    public var isHeld: Bool { heldAt != nil }
    /// Whether any host can be published.
    public var isPublishable: Bool { !hosts.isEmpty }

    /// Makes the decision.
    /// - Parameters:
    ///   - answers: each host of the list once, with its answer.
    ///   - earlier: the hosts that the previous round remembered.
    ///   - rules: the rules for every round.
    ///   - time: the current time; a fraction of a second is cut off.
    public init(
        _ answers: [(host: DialedHost, answer: Answer)], earlier: [SeenHost], rules: Rules, at time: Date
    ) {
        let time = time.cutToSeconds
        let known = Dictionary(earlier.map { (Place($0), $0) }) { first, _ in first }
        let listed = Set(answers.map { Place($0.host) })
        var seen: [SeenHost] = []
        var failures: [Failure] = []
        var changed: [String] = []
        var renewals: Set<Renewal> = []
        var asBefore: Set<Place> = []
        for (host, answer) in answers {
            let old = known[Place(host)]
            var problems = answer.problems
            let certificates = answer.paths.flatMap { Self.certificates(rules.included, of: $0) }
            if certificates.isEmpty, !answer.paths.isEmpty {
                problems.append(
                    Problem("its path has no issuers: the certificate is trusted by itself", .untrusted))
            }
            var consequence = Failure.Consequence.partial
            if certificates.isEmpty {
                // Remember it regardless of its age, because a temporarily wrong clock must not remove the entry.
                if let old { seen.append(old) }
                consequence =
                    old.flatMap { Self.isKept($0, rules, time) ? .kept(since: $0.validated) : nil } ?? .omitted
            } else {
                let new = SeenHost(
                    host, seen: certificates, earlier: old, overlap: .seconds(max(0, rules.overlap.components.seconds)),
                    at: time)
                if let old {
                    if let renewal = Renewal(of: old, by: new) {
                        changed.append(Place(host).text)
                        renewals.insert(renewal)
                    }
                    if certificates.contains(where: old.has) { asBefore.insert(Place(host)) }
                }
                // Clients accept no more, so they refuse servers whose pins do not fit.
                let count = Set(certificates.map(\.certificatePin)).count
                if count > SeenHost.maximumPins {
                    problems.append(
                        Problem(
                            "it showed \(count) certificates, and clients accept \(SeenHost.maximumPins) of a host",
                            .unreachable))
                }
                seen.append(new)
            }
            if certificates.isEmpty || !problems.isEmpty {
                failures.append(Failure(host: host, problems: problems, consequence: consequence))
            }
        }
        left = earlier.filter { !listed.contains(Place($0)) && Self.isKept($0, rules, time) }.map { Place($0).text }
        self.failures = failures
        self.changed = changed + left
        let limit = rules.maximumChanges ?? max(10, earlier.count / 2)
        changes = renewals.count + left.count
        let isHeld = changes > limit
        heldAt = isHeld ? limit : nil
        func published(_ hosts: [SeenHost]) -> [TrustServerHost] {
            hosts.filter { Self.isKept($0, rules, time) }.map { TrustServerHost($0, rules.backups) }
        }
        // Without a new time, an unchanged host would be dropped together with the changed ones.
        rememberedOfPrevious = earlier.map { asBefore.contains(Place($0)) ? $0.validated(at: time) : $0 }
        previous = published(rememberedOfPrevious)
        remembered = isHeld ? rememberedOfPrevious : seen
        hosts = isHeld ? previous : published(seen)
    }

    /// Maximum time by which a clock may be set back without casting doubt on a host.
    private static let clockTolerance = Duration.seconds(300)

    private static func isKept(_ host: SeenHost, _ rules: Rules, _ time: Date) -> Bool {
        // A validation in the future proves nothing: the clock was wrong then, or is wrong now.
        (.zero - clockTolerance...max(.zero, rules.keep)).contains(time.elapsed(since: host.validated))
    }

    private struct Place: Hashable {
        let hostname: String
        let port: Int

        init(_ host: DialedHost) { (hostname, port) = (host.name, host.port ?? 443) }
        init(_ host: SeenHost) { (hostname, port) = (host.hostname, host.port) }

        var text: String { hostname.contains(":") ? "[\(hostname)]:\(port)" : "\(hostname):\(port)" }
    }

    /// The certificates with which a host was last seen, and the new pins.
    private struct Renewal: Hashable {
        let before: Set<String>
        let new: Set<String>

        /// - Returns: nil if no pin is new.
        init?(of old: SeenHost, by new: SeenHost) {
            self.new = new.pins.subtracting(old.pins)
            guard !self.new.isEmpty else { return nil }
            before = Set(old.certificates.filter { $0.unseen == .zero }.map(\.text))
        }
    }

    private static func certificates(_ included: Included, of path: ValidatedPath) -> ArraySlice<X509Certificate> {
        switch included {
        case .leaf: path.certificates.prefix(1)
        case .issuers: path.certificates.dropFirst()
        case .all: path.certificates[...]
        }
    }
}

extension PublishingRound.Problem.Kind {
    /// The host presented a chain that is not trusted.
    public static var untrusted: Self { Self() }
    /// The host could not be probed.
    public static var unreachable: Self { Self() }
    /// This machine has no route to the address, for example because it has no IPv6. This is not a failure of the host,
    /// and is a problem only if no other address was validated.
    public static var unroutable: Self { Self() }
}

extension PublishingRound.Failure.Consequence.Kind {
    /// The pins that were validated now, at other addresses or for the other kind of key.
    public static var partial: Self { Self() }
    /// The pins with which it was last validated, at ``PublishingRound/Failure/Consequence/since``.
    public static var kept: Self { Self() }
    /// Nothing: the host was never validated, or too long ago.
    public static var omitted: Self { Self() }
}
