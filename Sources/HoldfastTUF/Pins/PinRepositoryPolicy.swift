public import Foundation
public import Holdfast

/// Trusts a server if it matches the pins that a ``PinRepository`` has for the host that was dialled.
///
/// The policy uses the pin file that the repository has at the moment of the decision, and in it the most specific
/// entry for the host. It rejects a host without an entry with `noUsablePins`, and every host while there is no pin
/// file. A decision never waits for a download; it only starts one in the background, and ``prepare()`` waits for it.
public struct PinRepositoryPolicy: TrustPolicy {
    /// The hosts that the policy is for.
    public let scope: PolicyScope
    /// Where the pins come from.
    public let repository: PinRepository

    /// The host or pattern in canonical form (A-labels, lower case).
    public var hostName: String { scope.name }
    /// The repository's clock.
    public var clock: any WallClock { repository.clock }
    /// Always `PolicyEvidence.pathForHost`.
    public var evidence: PolicyEvidence { .pathForHost }
    /// Grows with every reset, and whenever the repository accepts something, even if only metadata is new.
    public var revision: UInt64 { repository.documents.revision }

    /// The policy may be part of an all-of, but not of an any-of: a document may put a host in report mode, in which
    /// nobody is refused.
    public func objection(asMemberOf rule: CompositePolicy.Rule) -> String? {
        rule == .any ? "pins whose document may fall back to standard validation" : nil
    }

    /// Whether ``prepare()`` would wait: there are no usable pins, or they are in their grace period and a renewal is
    /// due, or a mismatch has started an update.
    public var needsPreparation: Bool { repository.documents.needsPreparation }

    /// Waits for usable pins, for at most ``PinRepositoryConfiguration/preparationTimeout``.
    ///
    /// Before the `notAfter` of the pins, it returns at once, unless a mismatch has started an update. Otherwise there
    /// is one download, which all callers share. If it fails, pins in their grace period are enough, and later calls do
    /// not wait again until a download succeeds.
    /// - Throws: `StoreError` if there are no usable pins; `CancellationError` if the task is cancelled.
    public func prepare() async throws {
        try await repository.documents.prepare(
            within: repository.configuration.preparationTimeout, from: "repository")
    }

    /// Evaluates a server's chain at a time, or at the repository's trusted time if that is later.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        let documents = repository.documents
        let snapshot = documents.snapshot
        let time = snapshot.trustedTime.time(asked: time, clock: clock.now)
        let host: DialledHost
        do throws(TrustFailure) {
            host = try scope.server(of: trust)
        } catch {
            return rejected(error, trust, trust.host, time)
        }
        documents.updateIfDue()
        guard let pins = snapshot.content?.pins else {
            let last = repository.lastUpdate?.error.map { "; the last update failed: \($0.code.rawValue), \($0.found)" }
            let failure = TrustFailure(
                .noUsablePins, expected: "a pin file of the repository", found: "none\(last ?? "")",
                remedy: "Let the app reach its repository once, or ship a bundle with it.")
            return rejected(failure, trust, host, time)
        }
        guard let policy = pins.hosts.policy(for: host) else {
            // An entry may have been published a moment ago.
            documents.updateAfterMismatch()
            let failure = TrustFailure(
                .noUsablePins, expected: "an entry for \(host.name) in the pin file", found: "none",
                remedy: "Publish pins for the host; a host without pins is not trusted.")
            return rejected(failure, trust, host, time)
        }
        let decision = policy.evaluate(trust, at: time)
        if decision.failure?.code == .pinMismatch {
            documents.updateAfterMismatch()
        } else if decision.notices.contains(where: { $0.code == .pinMismatch }) {
            repository.updateAfterReport()
        }
        return decision.isTrusted ? noted(decision, pins, host, time) : decision
    }

    /// Reports pins in their grace period, and adds a notice to the decision.
    private func noted(
        _ decision: TrustDecision, _ pins: VerifiedPins, _ host: DialledHost, _ time: Date
    ) -> TrustDecision {
        guard pins.state(at: time) == .grace else { return decision }
        repository.reportGrace(pins, for: host, age: time.timeIntervalSince(pins.graceBegins))
        let notice = TrustFailure(
            .pinsPastTheirTime, expected: "a pin file before its notAfter",
            found: "one that ended at \(pins.graceBegins.formatted(.iso8601)); its pins expire at "
                + pins.end.formatted(.iso8601))
        return TrustDecision(
            decision.verdict, policyName: decision.policyName, validationType: decision.validationType,
            host: decision.host, time: decision.time, chain: decision.chain, path: decision.path,
            configuredPins: decision.configuredPins, matchedPins: decision.matchedPins,
            notices: decision.notices + [notice], effort: decision.effort, holdsUntil: decision.holdsUntil)
    }

    private func rejected(
        _ failure: TrustFailure, _ trust: ServerTrust, _ host: DialledHost?, _ time: Date
    ) -> TrustDecision {
        TrustDecision(
            .rejected(failure), policyName: hostName, validationType: .pinPublicKey, host: host, time: time,
            chain: trust.chain)
    }
}

extension PinRepository {
    /// Makes a policy that uses the repository's pins, for a `TrustManager` and every adapter.
    /// - Parameter host: a host, a URL (which stands for its host), or a pattern. Pins are looked up by the host that
    ///   is dialled.
    /// - Throws: `PolicyConfigurationError` `invalidHostName`.
    public func policy(for host: String) throws(PolicyConfigurationError) -> PinRepositoryPolicy {
        do throws(HostPatternError) {
            return policy(for: try HostPattern(publishedName: host))
        } catch {
            throw PolicyConfigurationError(error, hostName: host)
        }
    }

    /// Makes a policy for a host or a pattern that was parsed before.
    public func policy(for host: HostPattern) -> PinRepositoryPolicy {
        PinRepositoryPolicy(scope: .hosts(host), repository: self)
    }
}
