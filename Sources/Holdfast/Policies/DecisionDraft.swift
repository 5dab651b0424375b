import struct Foundation.Date

/// The common part of all decisions of a policy about one trust, so that no failure lacks the host, the chain and the
/// pins.
struct DecisionDraft {
    let policyName: String
    let trust: ServerTrust
    /// The requested time, or the trusted time of a source of pins.
    var time: Date
    /// The host that was dialed, or the one that an exact policy assumes for a bare trust.
    var host: DialedHost?
    var pins: [Pin] = []
    var notices: [TrustFailure] = []
    var effort = ValidationEffort()
    /// Findings that a source of pins may act on.
    var findings: [PinFinding] = []
    /// The entry about the host in the document of the pins.
    var entry: DocumentEntry?
    /// Paths whose certificates name places of revocation lists, for a source of lists.
    var pathsToFollow: [[X509Certificate]] = []
    /// The decisions of the members of a composite.
    var members: [TrustDecision] = []
    /// The earliest end of everything, except the path, that a decision to trust is based on.
    private var end = Date.distantFuture

    init(_ policyName: String, _ trust: ServerTrust, _ time: Date) {
        self.policyName = policyName
        self.trust = trust
        self.time = time
        host = trust.host
    }

    func trusted(path: ValidatedPath?, matching matched: [Pin] = []) -> TrustDecision {
        decision(.trusted, path: path, matched: matched)
    }

    func rejected(_ failure: TrustFailure) -> TrustDecision {
        decision(.rejected(complete(failure)), path: nil, matched: [])
    }

    mutating func note(_ failure: TrustFailure) { notices.append(complete(failure)) }

    /// Notes that a decision to trust is based on something that ends at an instant.
    mutating func restsOnWhat(endsAt instant: Date) { end = min(end, instant) }

    /// Adds the cost, the notices and the paths of a validation.
    private mutating func take(_ outcome: ValidationOutcome) {
        effort += outcome.effort
        pathsToFollow += outcome.pathsToFollow
        for notice in outcome.notices { note(notice) }
    }

    /// The cost of the whole decision so far.
    var spent: ValidationEffort { trust.spent ?? effort }

    /// Counts work done outside of ``validate(for:accepting:)``.
    mutating func charge(_ work: ValidationEffort) {
        effort += work
        trust.charge(work)
    }

    /// Lets the validator look for a path with the rest of the decision's budget.
    mutating func validate(for purpose: ValidationPurpose, accepting: (ValidatedPath) -> Bool) -> ValidationOutcome {
        let outcome = trust.validate(for: purpose, at: time, spent: effort, accepting: accepting)
        take(outcome)
        return outcome
    }

    /// Decides by standard validation alone.
    mutating func standardDecision(for purpose: ValidationPurpose) -> TrustDecision {
        let outcome = validate(for: purpose) { _ in true }
        guard let path = outcome.path else { return rejected(outcome.failure ?? Self.unexplained) }
        return trusted(path: path)
    }

    /// A validator that finds no path and gives no reason is broken.
    static let unexplained = TrustFailure(
        .unknownIssuer, expected: "a valid path", found: "none, and no reason from the validator")

    private func complete(_ failure: TrustFailure) -> TrustFailure {
        var failure = failure
        failure.host = failure.host ?? host
        failure.chain = failure.chain ?? trust.chain
        if failure.pins.isEmpty { failure.pins = pins }
        return failure
    }

    private func decision(_ verdict: TrustDecision.Verdict, path: ValidatedPath?, matched: [Pin]) -> TrustDecision {
        var decision = TrustDecision(
            verdict, policyName: policyName, host: host, time: time,
            chain: trust.chain, path: path, configuredPins: pins, matchedPins: matched, notices: notices,
            effort: effort, holdsUntil: min(end, path?.holdsUntil ?? .distantFuture))
        decision.findings = findings
        decision.entry = entry
        decision.pathsToFollow = pathsToFollow
        decision.members = members
        return decision
    }
}
