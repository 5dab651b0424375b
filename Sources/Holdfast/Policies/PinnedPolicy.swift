public import struct Foundation.Date

/// Trusts a server whose chain validates and has a valid path that meets the requirements of a ``PinSource`` for the
/// host. Every policy with pins is one.
///
/// ```swift
/// let policy = try PinnedPolicy(
///     host: HostPattern("**.example.com"),
///     pins: PinSet(pins: [Pin("sha256/TwyNzy19zZi7cKfPsucs1E+h8ODOCPMrT8681sFWJvw=")]))
/// let followed = PinnedPolicy(scope: .hosts(try HostPattern("**.example.com")), source: store)
/// ```
/// It queries the source for each decision, so new pins count from the next decision on. A host without pins is
/// rejected. Evaluating starts no download: the decision contains its findings, and the recipient of the decision
/// passes it to the source (``TrustPolicy/tell(_:)``).
///
/// Pins are matched against validated paths, never against certificates as presented: a pinned certificate that an
/// attacker appends to a chain is not on a valid path. If several paths are valid, as with cross-signed roots, Holdfast
/// looks for one with a pin within the budget of the validation.
///
/// With `certificatePinOnly` the pins are the only anchors, and no certificate's validity matters. A pinned leaf is
/// enough, since the handshake proves its key. A pin above the leaf counts only if every signer from the leaf up to it
/// satisfies the rules for issuers (version 3, a CA with keyCertSign, path length, name constraints; RFC 5280 6.1.4)
/// and the leaf names the dialed host: otherwise anyone with an ordinary certificate of that issuer could sign another
/// one. Revocation lists of the trust's ``PathValidator`` are still checked; the issuer of a pinned leaf must then be
/// presented, be an anchor, or be given with the pins. An attacker who holds a pinned key can put it into another
/// certificate, which no list mentions: if a key is pinned, only required lists or removing the pin protect against its
/// theft. A key pin above the leaf trusts only that key; the rest of the certificate around it is only the peer's
/// claim. A certificate pin fixes the certificate as well.
///
/// With `validatesHostName` false a pin counts only for the server's own certificate, for the same reason.
public struct PinnedPolicy: TrustPolicy {
    /// The hosts or clients that the policy applies to.
    public let scope: PolicyScope
    /// The source of the pins.
    package let source: any PinSource
    /// The kind of pins that count, of keys or of certificates; nil for both.
    package let pinning: Pin.Subject?
    /// Whether the leaf must name the dialed host.
    package let validatesHostName: Bool
    /// Whether pins alone decide about trust and expiry.
    package let certificatePinOnly: Bool
    /// The certificates from which the pins were made, if they are known. With `certificatePinOnly` the server need not
    /// send these issuers.
    private let certificates: [X509Certificate]
    /// The anchors of a debug build that enables them. A chain to one of them needs no pin, as with Android's
    /// debug-overrides.
    private let debugAnchors: TrustAnchors?
    private let log: PolicyLog

    /// Makes a policy that follows a source.
    ///
    /// If host checking is off, or if pins alone decide, some requirements of the source would prove nothing: pins that
    /// are only reported on, or standard validation after their end. In that case the policy rejects with
    /// `invalidConfiguration`.
    /// - Parameters:
    ///   - scope: the hosts or clients that it applies to, such as `.hosts(pattern)`.
    ///   - source: the source of the pins.
    ///   - pinning: the kind of pins that count; nil for those of keys and of certificates.
    ///   - validatesHostName: whether the leaf must name the dialed host; leave it true.
    ///   - certificatePinOnly: whether pins alone decide about trust and expiry, self-signed certificates included.
    public init(
        scope: PolicyScope, source: any PinSource, pinning: Pin.Subject? = nil, validatesHostName: Bool = true,
        certificatePinOnly: Bool = false
    ) {
        self.init(
            scope: scope, source: source, pinning: pinning, validatesHostName: validatesHostName,
            certificatePinOnly: certificatePinOnly, certificates: [])
    }

    package init(
        scope: PolicyScope, source: any PinSource, pinning: Pin.Subject? = nil, validatesHostName: Bool = true,
        certificatePinOnly: Bool = false, certificates: [X509Certificate],
        debugAnchors: TrustAnchors? = nil, log: PolicyLog = .shared
    ) {
        self.scope = scope
        self.source = source
        self.pinning = pinning
        self.validatesHostName = validatesHostName
        self.certificatePinOnly = certificatePinOnly
        self.certificates = certificates
        self.debugAnchors = debugAnchors
        self.log = log
    }

    /// The same as for standard validation; with `certificatePinOnly` the leaf, because a pin of the leaf is enough.
    public var evidence: PolicyEvidence {
        if certificatePinOnly { return .leaf }
        return validatesHostName ? .pathForHost : .path
    }

    /// The revision of the source.
    public var revision: UInt64 { source.revision }
    /// Whether the source waits for something, such as a first document.
    public var needsPreparation: Bool { source.needsPreparation }
    /// Waits for what the source needs; see ``PinSource/prepare()``.
    public func prepare() async throws { try await source.prepare() }

    /// Not allowed in any-of if the source may let a server in without a pin: that would decide for all the others.
    public func objection(asMemberOf rule: CompositePolicy.Rule) -> String? {
        rule == .any && source.mayAdmitWithoutPins ? "pins that may let a server in that has none of them" : nil
    }

    /// Passes a final decision to the source.
    public func tell(_ decision: TrustDecision) {
        // A decision about a client has no host.
        if let host = decision.host {
            guard case .hosts(let pattern) = scope, pattern.matches(host) else { return }
        }
        source.tell(decision)
    }

    /// Evaluates a trust for a time, or for the source's trusted time if that is later; see
    /// ``TrustPolicy/evaluate(_:at:)``.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        var draft = DecisionDraft(hostName, trust, time)
        let purpose: ValidationPurpose
        do throws(TrustFailure) {
            purpose = try scope.purpose(of: trust)
        } catch {
            return draft.rejected(error)
        }
        draft.host = purpose.host
        let answer = source.answer(to: PinQuestion(about: trust, of: purpose.host, at: time, subject: pinning))
        draft.time = answer.time
        draft.entry = answer.entry
        if let age = answer.age { draft.findings.append(.pastTheirTime(age)) }
        for notice in answer.notices { draft.note(notice) }
        switch answer.content {
        case .none(let absence, let failure):
            draft.findings.append(.noPins(absence))
            return draft.rejected(failure)
        case .exempt(let notice):
            draft.findings.append(.exempt)
            draft.note(notice)
            return draft.standardDecision(for: purpose.checkingHost(validatesHostName))
        case .required(let pins):
            let decision = judged(pins, purpose, &draft)
            guard !decision.isTrusted, let debugAnchors, let host = purpose.host else { return decision }
            return debugDecision(by: debugAnchors, host, &draft) ?? decision
        }
    }
}

extension PinnedPolicy {
    private func judged(_ pins: PinSet, _ purpose: ValidationPurpose, _ draft: inout DecisionDraft) -> TrustDecision {
        draft.pins = pins.pins(at: draft.time)
        if let error = conflict(with: pins) { return draft.rejected(error.failure) }
        guard !pins.isExpired(at: draft.time) else { return expired(pins, purpose, &draft) }
        let leafOnly = purpose.host != nil && !validatesHostName
        if certificatePinOnly {
            return PinOnlyValidation(
                pins: pins, certificates: certificates, purpose: purpose, leafOnly: leafOnly
            ).decide(&draft)
        }
        let time = draft.time
        var accepted: (path: ValidatedPath, match: PinMatch)?
        let outcome = draft.validate(for: purpose.checkingHost(validatesHostName)) { path in
            guard let match = pins.match(in: path, at: time, leafOnly: leafOnly) else { return false }
            accepted = (path, match)
            return true
        }
        // Only the matching path counts, however a validator uses the closure.
        if let path = outcome.path, let accepted, accepted.path == path {
            // Pins that are only reported on never cause a rejection, so the decision does not depend on them.
            if pins.enforcement == .enforce { draft.restsOnWhat(endsAt: accepted.match.holdsUntil) }
            noteTrial(of: pins, in: path, &draft)
            return draft.trusted(path: path, matching: accepted.match.pins)
        }
        let paths = [outcome.path].compactMap(\.self) + outcome.otherPaths
        guard let first = paths.first else { return draft.rejected(outcome.failure ?? DecisionDraft.unexplained) }
        var failure = outcome.failure ?? pins.mismatch(in: paths, at: time, leafOnly: leafOnly)
        failure.paths = paths
        failure.unusable = outcome.unusable
        if failure.code == .pinMismatch { draft.findings.append(.mismatch(pins.enforcement)) }
        guard pins.enforcement == .reportOnly else { return draft.rejected(failure) }
        draft.note(failure)
        noteTrial(of: pins, in: first, &draft)
        return draft.trusted(path: first)
    }

    private func noteTrial(of pins: PinSet, in path: ValidatedPath, _ draft: inout DecisionDraft) {
        guard pins.trial(in: path, at: draft.time) == false else { return }
        var notice = TrustFailure(
            .candidatePinMismatch, expected: "a candidate in the path", found: "a path without one")
        let time = draft.time
        notice.pins = pins.pins(of: { $0.isCandidate && $0.counts(at: time) })
        draft.findings.append(.candidateMismatch)
        draft.note(notice)
    }

    private func expired(_ pins: PinSet, _ purpose: ValidationPurpose, _ draft: inout DecisionDraft) -> TrustDecision {
        let failure = TrustFailure(
            .pinsExpired, expected: "pins that still hold",
            found: pins.end.map { "pins that expired at \($0.formatted(.iso8601))" } ?? "expired pins")
        draft.findings.append(.noPins(.expired))
        guard pins.afterExpiry == .standardValidation || pins.enforcement == .reportOnly else {
            log.pinsExpired(for: hostName, outcome: "connections are rejected")
            return draft.rejected(failure)
        }
        log.pinsExpired(for: hostName, outcome: "standard validation alone decides")
        draft.note(failure)
        return draft.standardDecision(for: purpose.checkingHost(validatesHostName))
    }

    /// - Returns: nil if the debug anchors do not trust the chain either.
    private func debugDecision(
        by anchors: TrustAnchors, _ host: DialedHost, _ draft: inout DecisionDraft
    ) -> TrustDecision? {
        // Debug anchors exist only for this build and have no revocation lists.
        let own = draft.trust.validator.pathValidator
        let validator = PathValidator(
            anchors: anchors, profile: own?.profile ?? .standard, limits: own?.limits ?? ValidationLimits())
        let outcome = validator.validate(
            draft.trust.chain, for: .server(identity: host), at: draft.time, spent: draft.spent
        ) { _ in true }
        draft.charge(outcome.effort)
        guard let path = outcome.path, let anchor = path.anchor else { return nil }
        let name = anchor.subject.description
        log.debugAnchorUsed(for: host.name, anchor: name)
        draft.note(
            TrustFailure(
                .debugAnchorUsed, expected: "the pins of a release build", found: "the debug anchor \(name.quoted)"))
        return draft.trusted(path: path)
    }

    /// The reason why a requirement would prove nothing under the settings of the policy; nil if it proves something.
    func conflict(with pins: PinSet) -> PolicyConfigurationError? {
        if pins.enforcement == .reportOnly, certificatePinOnly {
            return error(
                .reportOnlyWithPinsOnly, expected: "enforced pins where pins alone decide",
                found: "pins in report-only",
                remedy: "Enforce the pins (enforcement .enforce), or leave certificatePinOnly false.")
        }
        guard case .hosts = scope, !validatesHostName else { return nil }
        if pins.enforcement == .reportOnly {
            return error(
                .reportOnlyWithoutHostCheck, expected: "host checking where pins are only reported on",
                found: "host checking off",
                remedy: "Leave validatesHostName true, or enforce the pins (enforcement .enforce).")
        }
        guard pins.end != nil, pins.afterExpiry == .standardValidation else { return nil }
        return error(
            .standardValidationWithoutHostCheck,
            expected: "host checking where standard validation follows the expiry of the pins",
            found: "host checking off",
            remedy: "Leave validatesHostName true, or let the expired set reject (afterExpiry .reject).")
    }

    func error(
        _ code: PolicyConfigurationError.Code, expected: String, found: String, remedy: String
    ) -> PolicyConfigurationError {
        PolicyConfigurationError(code, hostName: hostName, expected: expected, found: found, remedy: remedy)
    }
}
