import Foundation
import Holdfast

/// The content of one decision that reports use.
struct Observation: Sendable {
    /// The sampling fractions of reports.
    struct Sampling: Sendable, Hashable {
        let failures: Double
        let successes: Double
    }

    /// The destination that the document of the pins specifies.
    enum Destination: Sendable, Hashable {
        /// No document exists that could specify one.
        case unstated
        /// Nothing must be sent.
        case nowhere
        /// The document names an address.
        case named(String, Sampling)
    }

    /// The dialed host, or the pattern that covers it.
    let host: String
    let documentVersion: String
    let destination: Destination
    /// The failures, none for most decisions; a candidate that did not match is one of them.
    let failures: [(failure: TrustFailure, outcome: ReportOutcome)]
    /// Whether a pin accepted the connection.
    let isSuccess: Bool
    /// Whether the connection was refused, or would have been if its pins were enforced and had not expired.
    let isFailure: Bool

    private let decision: TrustDecision
    private let pattern: HostPattern
    private let dialed: DialedHost

    /// The text for an unknown version.
    static let unknownVersion = "-"

    /// Makes an observation; nil for a decision without pins, and for one by a developer's debug anchors.
    /// - Parameter namesHosts: whether hosts under a pattern are named.
    init?(_ decision: TrustDecision, namesHosts: Bool) {
        guard let dialed = decision.host, Self.isAboutPins(decision),
            let pattern = decision.entry?.pattern
                ?? (try? HostPattern(decision.policyName, allowingTopLevel: true)),
            !decision.notices.contains(where: { $0.code == .debugAnchorUsed })
        else { return nil }
        (self.decision, self.pattern, self.dialed) = (decision, pattern, dialed)
        host = namesHosts ? dialed.name : pattern.description
        documentVersion = decision.entry?.version ?? Self.unknownVersion
        destination = Self.destination(of: decision)
        if let failure = decision.failure {
            failures = [(failure, .rejected)]
        } else {
            let reported: [TrustFailure.Code] = [.pinMismatch, .pinsExpired, .candidatePinMismatch]
            failures = decision.notices.filter { reported.contains($0.code) }.map { ($0, .accepted) }
        }
        isFailure = failures.contains { $0.failure.code != .candidatePinMismatch }
        isSuccess = !isFailure
    }

    private static func isAboutPins(_ decision: TrustDecision) -> Bool {
        decision.entry != nil || !decision.configuredPins.isEmpty || !decision.findings.isEmpty
    }

    private static func destination(of decision: TrustDecision) -> Destination {
        guard let entry = decision.entry else { return .unstated }
        guard let named = entry.destination else { return .nowhere }
        return .named(
            named.url, Sampling(failures: named.failureFraction, successes: named.successFraction))
    }

    /// The content of a report about one of the failures.
    func facts(
        of failure: TrustFailure, _ outcome: ReportOutcome, by application: ReportedApplication, at time: Date,
        fraction: Double, withChains includesChains: Bool
    ) -> FailureFacts {
        let entry = decision.entry
        let known = failure.code == .candidatePinMismatch ? failure.pins : decision.configuredPins
        let pins = entry.map { $0.pins.map(NamedPin.init) } ?? known.map(NamedPin.init)
        let path = decision.path ?? failure.paths.first
        return FailureFacts(
            time: time.wholeSeconds, host: host, port: dialed.port ?? 0,
            notedHost: pattern.scope == .oneLabel ? pattern.description : pattern.base.name,
            includesSubdomains: pattern.scope == .subtree, code: failure.code.rawValue, outcome: outcome,
            isEnforced: isEnforced, documentVersion: documentVersion,
            end: entry?.end?.wholeSeconds,
            knownPins: known.prefix(NamedPin.mostPins).map(\.description),
            pins: Array(pins.prefix(NamedPin.mostPins)),
            served: includesChains ? ChainText.of(decision.chain?.certificates ?? []) : [],
            validated: includesChains ? ChainText.of(path?.certificates.map(\.der) ?? []) : [],
            application: application, fraction: fraction)
    }

    private var isEnforced: Bool {
        if let entry = decision.entry { return entry.enforcement == .enforce }
        return !decision.findings.contains { $0.enforcement == .reportOnly }
    }
}
