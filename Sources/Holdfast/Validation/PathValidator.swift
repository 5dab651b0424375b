public import struct Foundation.Date

/// Standard validation by Holdfast itself: path building and path validation (RFC 5280 section 6) against a set of
/// anchors, server identity (RFC 9525).
///
/// It performs no I/O, never blocks, and does no more work than its limits allow. A value; safe to use from any thread.
public struct PathValidator: ChainValidator {
    /// The certificates that are trusted to begin with.
    public let anchors: TrustAnchors
    /// Which rules a path must keep.
    public let profile: ValidationProfile
    /// The budget of one validation.
    public let limits: ValidationLimits
    /// Where verified paths are remembered; nil remembers none.
    public let cache: VerifiedPathCache?
    /// The suffixes under which strangers register names; with `.strict` no wildcard may stand above one. nil leaves
    /// that unchecked.
    public let publicSuffixes: PublicSuffixList?
    /// Whether and how revocation is checked.
    public let revocation: Revocation
    private let checksValidity: Bool

    /// Makes a validator.
    /// - Parameters:
    ///   - anchors: what is trusted to begin with; an empty set makes every validation fail with `noAnchors`.
    ///   - profile: which rules a path must keep.
    ///   - limits: the budget of one validation.
    ///   - revocation: whether and how revocation is checked; by default it is not.
    ///   - publicSuffixes: the suffixes above which `.strict` allows no wildcard.
    ///   - cache: where verified paths are remembered, shared between validators as one likes.
    public init(
        anchors: TrustAnchors, profile: ValidationProfile = .standard, limits: ValidationLimits = ValidationLimits(),
        revocation: Revocation = .none, publicSuffixes: PublicSuffixList? = nil, cache: VerifiedPathCache? = nil
    ) {
        self.anchors = anchors
        self.profile = profile
        self.limits = limits
        self.revocation = revocation
        self.publicSuffixes = publicSuffixes
        self.cache = cache
        checksValidity = true
    }

    /// Every rule but that of validity, to anchors that a policy pins: for policies whose pins alone decide about trust
    /// and expiry. It remembers nothing, since a remembered path would count as valid in time.
    init(
        ignoringValidityTo anchors: TrustAnchors, profile: ValidationProfile, limits: ValidationLimits,
        revocation: Revocation
    ) {
        self.anchors = anchors
        self.profile = profile
        self.limits = limits
        self.revocation = revocation
        publicSuffixes = nil
        cache = nil
        checksValidity = false
    }

    /// Looks for a valid path that the caller accepts; see ``ChainValidator/validate(_:for:at:accepting:)``.
    public func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date,
        accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        let seconds = Self.wholeSeconds(time)
        if let violation = sizeViolation(of: chain) {
            return ValidationOutcome(path: nil, failure: violation.failure(host: purpose.host, chain: chain))
        }
        let key = cache == nil ? nil : VerifiedPathCache.Key(chain, for: purpose, by: self)
        if let key, let path = cache?.path(for: key, at: seconds), accepting(path) {
            var effort = ValidationEffort()
            effort.usedCachedPath = true
            return ValidationOutcome(path: path, failure: nil, effort: effort)
        }
        let outcome = search(chain, for: purpose, at: seconds, accepting: accepting)
        if let key, let path = outcome.path {
            cache?.remember(path, for: key, since: revocation.isChecked ? seconds : .min)
        }
        return outcome
    }

    private func search(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Int64,
        accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        let leaf: X509Certificate
        do throws(CertificateError) {
            leaf = try X509Certificate(der: chain.certificates.first ?? [])
        } catch {
            let failure = TrustFailure(
                .unreadableCertificate, expected: "a leaf that is \(error.expected)", found: error.found,
                host: purpose.host, chain: chain)
            return ValidationOutcome(path: nil, failure: failure)
        }
        let context = context(for: purpose, at: time)
        if let violation = leafViolation(of: leaf, for: purpose, in: context) {
            return ValidationOutcome(path: nil, failure: violation.failure(host: purpose.host, chain: chain))
        }
        guard !anchors.isEmpty else {
            let failure = TrustFailure(
                .noAnchors, expected: "anchors to build a path to", found: "none", host: purpose.host, chain: chain)
            return ValidationOutcome(path: nil, failure: failure)
        }
        return withoutActuallyEscaping(accepting) { accepting in
            var search = PathSearch(
                chain, anchors: anchors, limits: limits, rules: PathRules.rules(of: profile).issuer,
                revocation: revocation, context: context, accepting: accepting)
            let violation = search.run(from: leaf)
            var failure = violation?.failure(host: purpose.host, chain: chain)
            failure?.unusable = search.unusable
            return ValidationOutcome(
                path: search.accepted, otherPaths: search.validPaths, failure: failure, effort: search.effort,
                unusable: search.unusable)
        }
    }

    func context(for purpose: ValidationPurpose, at time: Int64) -> PathRuleContext {
        PathRuleContext(
            time: time, isServer: purpose != .client, checksValidity: checksValidity, publicSuffixes: publicSuffixes)
    }

    private func leafViolation(
        of leaf: X509Certificate, for purpose: ValidationPurpose, in context: PathRuleContext
    ) -> Violation? {
        for rule in PathRules.rules(of: profile).leaf {
            if let violation = rule.violation(of: leaf, in: context) { return violation }
        }
        return purpose.host.flatMap { ServerIdentity.violation(of: leaf, for: $0) }
    }

    func sizeViolation(of chain: PresentedChain) -> Violation? {
        let certificates = chain.certificates
        guard !certificates.isEmpty else {
            return Violation(.emptyChain) { ("at least the peer's own certificate", "no certificate") }
        }
        let limits = limits
        guard certificates.count <= limits.presentedCertificates else {
            return Violation(.chainTooLarge) {
                ("at most \(limits.presentedCertificates) certificates", "\(certificates.count)")
            }
        }
        let bytes = certificates.reduce(0) { $0 + $1.count }
        guard bytes <= limits.presentedBytes else {
            return Violation(.chainTooLarge) { ("at most \(limits.presentedBytes) bytes", "\(bytes)") }
        }
        return nil
    }

    /// Validity is stated in whole seconds, so the fraction does not count. A time that is no number is past every
    /// notAfter.
    static func wholeSeconds(_ time: Date) -> Int64 {
        let seconds = time.timeIntervalSince1970.rounded(.down)
        guard seconds.isFinite, abs(seconds) < 1e15 else { return .max }
        return Int64(seconds)
    }
}

extension ValidationPurpose {
    /// The host whose identity the leaf must prove; nil where none is checked.
    var host: DialledHost? {
        if case .server(let identity) = self { identity } else { nil }
    }
}
