public import struct Foundation.Date

/// The decision of a policy about one trust, with the evidence it is based on.
///
/// It does not apply to any other connection or time.
public struct TrustDecision: Sendable {
    /// The result: trusted, or rejected with a reason.
    public enum Verdict: Sendable, Hashable {
        /// The peer is trusted.
        case trusted
        /// The peer is not trusted, for this reason.
        case rejected(TrustFailure)
    }

    /// The verdict.
    public let verdict: Verdict
    /// The name of the policy that decided: its host name or pattern as configured.
    public let policyName: String
    /// The host that was dialed, if it is known.
    public let host: DialedHost?
    /// The time for which the decision was made.
    public let time: Date
    /// The chain as presented; nil if there was no trust.
    public let chain: PresentedChain?
    /// The validated path that the decision is based on; nil if the peer was rejected before one was found, and for
    /// policies that validate no path.
    public let path: ValidatedPath?
    /// The pins that the policy looks for.
    public let configuredPins: [Pin]
    /// The pins that were found.
    public let matchedPins: [Pin]
    /// Failures that were accepted on purpose: a mismatch in report-only mode, an
    /// expired pin set that falls back to standard validation, validation that is disabled.
    public let notices: [TrustFailure]
    /// The work that the validation took.
    public let effort: ValidationEffort
    /// The first instant at which the decision may no longer hold: the earliest end of everything it is based on.
    ///
    /// From then on, a pool, a cache or an application that keeps using a connection must evaluate again;
    /// ``holds(at:)`` compares the times. A decision ends
    /// - after the last second (notAfter) of the certificate of its path that ends first, the leaf included
    /// - after the last second (nextUpdate) of the revocation list that ends first, if lists were checked
    /// - when the pins expire, if they are enforced
    /// - after the last second of the ``CertStore`` entry that matched
    /// - when the grace period of a ``TrustServerStore``'s document ends.
    ///
    /// A composite's decision ends with the first of the decisions that it is based on. Only the basis of the decision
    /// counts: pins that have expired and gave way to standard validation no longer matter, nor does the validity of a
    /// certificate if pins alone decide. It is `.distantFuture` for a decision whose basis has no end, and for every
    /// rejection.
    public let holdsUntil: Date
    /// Whether the handshake has proved that the peer holds the private key of the leaf (proof of possession: the
    /// CertificateVerify of TLS 1.3, the signed key exchange or CertificateVerify of TLS 1.2).
    ///
    /// A policy evaluates certificates, and certificates are public: anyone can replay a trusted chain without its key.
    /// Policies, ``TrustManager/evaluate(_:at:)`` and the certificate callbacks of TLS libraries decide before that
    /// proof. In their decisions this is false, and nothing may rely on them until the handshake is complete. Adapters
    /// that see the end of the handshake set it to true, and report a decision to trust only then.
    public package(set) var hasProofOfPossession = false

    /// Findings that sources of pins may act on once the decision is final; see ``TrustPolicy/tell(_:)``.
    public package(set) var findings: [PinFinding] = []
    /// Paths whose certificates name download places of revocation lists, to be followed once the decision is final;
    /// see ``ServerTrust/tell(_:)`` and ``ValidationOutcome/pathsToFollow``.
    public package(set) var pathsToFollow: [[X509Certificate]] = []
    /// The decisions of the composite's members that were evaluated, in their order; empty for any other policy.
    public package(set) var members: [TrustDecision] = []
    /// The entry about the host in the document that the pins are from; nil without such a document or entry.
    package internal(set) var entry: DocumentEntry?
    /// The registration of the policy, in a manager, that made the decision; see ``HostLookup``.
    package var registration: UInt64?

    /// Makes a decision, for implementations of ``TrustPolicy``.
    ///
    /// Leave out `holdsUntil` if nothing ends before the path does. Without a path, a decision to trust then ends when
    /// the first of the presented certificates that are still valid expires.
    public init(
        _ verdict: Verdict, policyName: String, host: DialedHost?, time: Date, chain: PresentedChain?,
        path: ValidatedPath? = nil, configuredPins: [Pin] = [], matchedPins: [Pin] = [],
        notices: [TrustFailure] = [], effort: ValidationEffort = ValidationEffort(), holdsUntil: Date? = nil
    ) {
        self.verdict = verdict
        self.policyName = policyName
        self.host = host
        self.time = time
        self.chain = chain
        self.path = path
        self.configuredPins = configuredPins
        self.matchedPins = matchedPins
        self.notices = notices
        self.effort = effort
        self.holdsUntil =
            switch verdict {
            case .rejected: .distantFuture
            case .trusted: holdsUntil ?? path?.holdsUntil ?? chain?.earliestEnd(after: time) ?? .distantFuture
            }
    }

    /// Whether the decision still holds at a time, considering time alone.
    public func holds(at time: Date) -> Bool {
        // Written so that NaN is past every end.
        time < holdsUntil
    }

    /// The same decision after the handshake has proved the key of the leaf.
    package var provedByHandshake: TrustDecision {
        var decision = self
        decision.hasProofOfPossession = true
        decision.members = members.map(\.provedByHandshake)
        return decision
    }

    /// Whether the peer is trusted.
    public var isTrusted: Bool {
        if case .trusted = verdict { true } else { false }
    }

    /// The reason why the peer is not trusted; nil if it is trusted.
    public var failure: TrustFailure? {
        if case .rejected(let failure) = verdict { failure } else { nil }
    }
}
