/// The purpose that a peer's certificate must prove; every certificate of a path must allow it.
public enum ValidationPurpose: Sendable, Hashable {
    /// A TLS server (extendedKeyUsage serverAuth) of this identity: the host that was dialed.
    ///
    /// In a ``ServerTrust`` nil means that the caller did not state the host (as with a bare `SecTrust`); a policy
    /// determines it before it validates, see ``PolicyScope/purpose(of:)``. To a ``ChainValidator`` nil leaves the name
    /// unchecked, as `sslValidateHostName = false` requires.
    case server(identity: DialedHost?)
    /// A TLS client (extendedKeyUsage clientAuth); the application decides what its name means.
    case client
    /// A purpose of your own: an extendedKeyUsage, given as a dotted object identifier such as `1.3.6.1.4.1.32473.1.7`;
    /// the application decides what its name means. A text that is not an object identifier matches no certificate.
    case extendedKeyUsage(String)

    /// The host whose identity the leaf must prove; nil if it is unknown or the peer is not a server.
    var host: DialedHost? {
        if case .server(let identity) = self { identity } else { nil }
    }

    /// The same purpose, without the server's name if the host is not checked.
    func checkingHost(_ checksHost: Bool) -> ValidationPurpose {
        if !checksHost, case .server = self { .server(identity: nil) } else { self }
    }
}

/// The result of a validation: the path that was found or the reason why there is none, and the work it took.
public struct ValidationOutcome: Sendable {
    /// The first valid path that the caller accepted.
    public let path: ValidatedPath?
    /// Valid paths that the caller did not accept, in the order found.
    public let otherPaths: [ValidatedPath]
    /// The reason why no path is valid, the most informative one of the search; nil if a valid path was found and the
    /// search was not cut short.
    public let failure: TrustFailure?
    /// The work that the search took.
    public internal(set) var effort: ValidationEffort
    /// Presented certificates that could not be used, and the reasons; they do not end a search that succeeds without
    /// them.
    package let unusable: [UnusableCertificate]
    /// Requirements that were skipped, such as timestamps while the log list is too old.
    public let notices: [TrustFailure]
    /// Paths, leaf first and anchor last, that satisfy every rule except that of revocation, which is checked
    /// afterward. The places that their certificates name for revocation lists can be trusted to that extent. Empty if
    /// the validator has no ``RevocationSource`` that fetches lists.
    public let pathsToFollow: [[X509Certificate]]

    /// Makes an outcome, for implementations of ``ChainValidator``. A validator that wraps another one forwards the
    /// notices and the paths to follow.
    public init(
        path: ValidatedPath?, otherPaths: [ValidatedPath] = [], failure: TrustFailure?, notices: [TrustFailure] = [],
        pathsToFollow: [[X509Certificate]] = []
    ) {
        self.init(
            path: path, otherPaths: otherPaths, failure: failure, effort: ValidationEffort(), unusable: [],
            notices: notices, pathsToFollow: pathsToFollow)
    }

    init(
        path: ValidatedPath?, otherPaths: [ValidatedPath] = [], failure: TrustFailure?, effort: ValidationEffort,
        unusable: [UnusableCertificate] = [], notices: [TrustFailure] = [], pathsToFollow: [[X509Certificate]] = []
    ) {
        self.path = path
        self.otherPaths = otherPaths
        self.failure = failure
        self.effort = effort
        self.unusable = unusable
        self.notices = notices
        self.pathsToFollow = pathsToFollow
    }
}

/// Counted work. It limits a search and is asserted in tests, unlike time.
public struct ValidationEffort: Sendable, Hashable {
    /// Signatures that were verified.
    package var signatures = 0
    /// The cost of the signatures, in signatures of P-256; see ``ValidationLimits/signatureWork``.
    package var signatureWork = 0
    /// All work together, in thousandths of a signature of P-256; see ``ValidationLimits/work``.
    public var work = 0
    /// Candidate issuers that were considered.
    package var steps = 0
    /// Names that were compared with name constraints, and policies with those that authorities require.
    package var nameConstraintComparisons = 0
    /// Whether a cached path was used, so that nothing had to be built or verified.
    public var usedCachedPath = false

    /// No work.
    public init() {}

    static func - (left: ValidationEffort, right: ValidationEffort) -> ValidationEffort {
        var rest = left
        rest -= right
        return rest
    }

    /// Subtracts the cost of an earlier part of the work.
    static func -= (left: inout ValidationEffort, right: ValidationEffort) {
        left.signatures -= right.signatures
        left.signatureWork -= right.signatureWork
        left.work -= right.work
        left.steps -= right.steps
        left.nameConstraintComparisons -= right.nameConstraintComparisons
    }

    static func += (left: inout ValidationEffort, right: ValidationEffort) {
        left.signatures += right.signatures
        left.signatureWork += right.signatureWork
        left.work += right.work
        left.steps += right.steps
        left.nameConstraintComparisons += right.nameConstraintComparisons
        left.usedCachedPath = left.usedCachedPath || right.usedCachedPath
    }
}

/// A presented certificate that no path can use, and the reason.
package struct UnusableCertificate: Sendable, Hashable {
    /// Its position in the presented chain; the leaf is 0.
    package let position: Int
    /// The reason why it cannot be used.
    package let reason: CertificateError
}
