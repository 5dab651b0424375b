public import struct Foundation.Date

/// Builds certification paths from a presented chain to an anchor and validates them (RFC 5280 section 6, RFC 9525).
///
/// ``PathValidator`` is Holdfast's own; on Apple platforms the operating system is another. Implementations keep no
/// decision about pins or policy, and may be called from any thread.
///
/// A validator of the application's own that wraps another one passes on what that one says of itself:
/// ```swift
/// struct CountingValidator: ChainValidator {
///     let base: PathValidator
///     var pathValidator: PathValidator? { base }
///     …
/// }
/// ```
public protocol ChainValidator: Sendable {
    /// Whose profile, limits and revocation lists count where pins alone decide (`certificatePinOnly`), and no path to
    /// the anchors of the trust is asked for.
    ///
    /// A validator that wraps a ``PathValidator`` returns that one: its revocation lists would be lost otherwise. One that
    /// knows of no revocation returns a plain ``PathValidator``. By default it is nil, and a policy whose pins alone decide
    /// rejects, because nobody can tell what the validator would have checked.
    var pathValidator: PathValidator? { get }

    /// Looks for a valid path that the caller accepts.
    ///
    /// Several paths can be valid, as with cross-signed roots. Each valid one is shown to `accepting`, the first that
    /// it accepts ends the search; the search ends as well when no further path exists or the budget is spent.
    /// - Parameters:
    ///   - chain: what was presented, leaf first.
    ///   - purpose: what the path must be good for.
    ///   - time: the time at which every certificate of the path must be valid, to the second.
    ///   - accepting: whether a valid path holds what the caller wants, for example a pin.
    func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date,
        accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome
}

extension ChainValidator {
    /// nil: the validator does not say what it checks.
    public var pathValidator: PathValidator? { nil }
}

/// What a path must be good for.
public enum ValidationPurpose: Sendable, Hashable {
    /// A TLS server (extendedKeyUsage serverAuth) of this identity; nil leaves the name unchecked, which
    /// `sslValidateHostName = false` asks for.
    case server(identity: DialledHost?)
    /// A TLS client (extendedKeyUsage clientAuth); its name is the application's to judge.
    case client
    /// Whatever an extendedKeyUsage of one's own stands for, given as a dotted object identifier such as
    /// `1.3.6.1.4.1.32473.1.7`; its name is the application's to judge. What is no object identifier is in no certificate.
    case extendedKeyUsage(String)
}

/// What came of a validation: the path found, or why there is none, and the work it took.
public struct ValidationOutcome: Sendable {
    /// The first valid path that the caller accepted.
    public let path: ValidatedPath?
    /// Valid paths that the caller did not accept, in the order found.
    public let otherPaths: [ValidatedPath]
    /// Why no path is valid, the most telling reason of the search; nil when a valid path was found and the search was
    /// not cut short.
    public let failure: TrustFailure?
    /// The work that the search took.
    public let effort: ValidationEffort
    /// Presented certificates that could not be used, and why; they do not end a search that succeeds without them.
    public let unusable: [UnusableCertificate]

    /// Puts an outcome together; for implementations of ``ChainValidator``.
    public init(
        path: ValidatedPath?, otherPaths: [ValidatedPath] = [], failure: TrustFailure?,
        effort: ValidationEffort = ValidationEffort(), unusable: [UnusableCertificate] = []
    ) {
        self.path = path
        self.otherPaths = otherPaths
        self.failure = failure
        self.effort = effort
        self.unusable = unusable
    }
}

/// Counted work: what bounds a search and what tests assert, never a clock.
public struct ValidationEffort: Sendable, Hashable {
    /// Signatures that were verified.
    public var signatures = 0
    /// What they cost, in signatures of P-256; see ``ValidationLimits/signatureWork``.
    public var signatureWork = 0
    /// Everything together, in thousandths of a signature of P-256; see ``ValidationLimits/work``.
    public var work = 0
    /// Candidate issuers that were considered.
    public var steps = 0
    /// Names that were compared with name constraints, and policies with those that authorities require.
    public var nameConstraintComparisons = 0
    /// Whether a remembered path answered, so that nothing had to be built or verified.
    public var usedCachedPath = false

    /// No work at all.
    public init() {}
}

/// A presented certificate that no path can use, and why.
public struct UnusableCertificate: Sendable, Hashable {
    /// Its place in the presented chain, the leaf being 0.
    public let position: Int
    /// Why it cannot be used.
    public let reason: CertificateError

    /// Names a certificate and the reason.
    public init(position: Int, reason: CertificateError) {
        self.position = position
        self.reason = reason
    }
}
