public import struct Foundation.Date

/// Standard validation by Holdfast itself: path building and path validation (RFC 5280 section 6) against a set of
/// anchors, and server identity (RFC 9525).
///
/// It performs no I/O, never blocks, and does no more work than its limits allow.
public struct PathValidator: ChainValidator {
    /// The source of the anchors, read once in each validation.
    private var source: any AnchorSource
    /// The rules that a path must satisfy.
    package let profile: ValidationProfile
    /// The budget of one validation.
    package let limits: ValidationLimits
    /// The cache of verified paths; nil if none are remembered.
    package private(set) var cache: VerifiedPathCache?
    /// The suffixes under which strangers register names. With `.strict` no wildcard may be directly above one; nil
    /// switches that check off.
    package private(set) var publicSuffixes: PublicSuffixList?
    /// The source of the revocation lists, read once in each validation.
    package let revocationSource: any RevocationSource
    /// Whether it may fetch lists, so that outcomes contain the paths to follow.
    private let fetchesLists: Bool
    /// The certificate policies that a path must have.
    package let certificatePolicies: CertificatePolicies
    /// The timestamps of transparency logs that the leaf of a server must have.
    package private(set) var transparency: Transparency
    private var checksValidity = true

    /// The certificates that are trusted from the start, as of now.
    package var anchors: TrustAnchors { source.current }
    /// Whether and how revocation is checked, as of now.
    package var revocation: Revocation { revocationSource.current }

    /// This validator.
    public var pathValidator: PathValidator? { self }

    /// Makes a validator.
    /// - Parameters:
    ///   - anchors: the certificates that are trusted from the start: ``TrustAnchors``, or a ``TrustAnchorStore``,
    ///     whose new anchors are used from the next validation on. An empty set makes every validation fail with
    ///     `noAnchors`.
    ///   - profile: the rules that a path must satisfy.
    ///   - limits: the budget of one validation.
    ///   - revocation: whether and how revocation is checked: ``Revocation``, or a ``RevocationStore``, whose new lists
    ///     are used from the next validation on. By default it is not checked.
    ///   - certificatePolicies: the certificate policies that a path must have; by default those that its authorities
    ///     require.
    ///   - transparency: whether the leaf of a server must have timestamps of transparency logs; by default none are
    ///     required.
    ///   - publicSuffixes: the suffixes above which `.strict` allows no wildcard.
    ///   - cache: the cache of verified paths, which several validators may share.
    public init(
        anchors: any AnchorSource, profile: ValidationProfile = .standard,
        limits: ValidationLimits = ValidationLimits(), revocation: some RevocationSource = Revocation.none,
        certificatePolicies: CertificatePolicies = .any, transparency: Transparency = .none,
        publicSuffixes: PublicSuffixList? = nil, cache: VerifiedPathCache? = nil
    ) {
        source = anchors
        self.profile = profile
        self.limits = limits
        revocationSource = revocation
        fetchesLists = !(revocation is Revocation)
        self.certificatePolicies = certificatePolicies
        self.transparency = transparency
        self.publicSuffixes = publicSuffixes
        self.cache = cache
    }

    /// Returns a validator with every rule but that of validity, and with anchors that a policy pins: for policies
    /// whose pins alone decide about trust and expiry. It has no cache, because a cached path would count as valid in
    /// time.
    func ignoringValidity(to anchors: TrustAnchors) -> PathValidator {
        var validator = self
        validator.source = anchors
        // Pins alone decide, so paths to their anchors are not reported.
        validator.transparency = .none
        validator.publicSuffixes = nil
        validator.cache = nil
        validator.checksValidity = false
        return validator
    }

    /// Looks for a valid path that the caller accepts; see ``ChainValidator/validate(_:for:at:accepting:)``.
    public func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date,
        accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        validate(chain, for: purpose, at: time, spent: ValidationEffort(), accepting: accepting)
    }

    /// Looks for a valid path with the rest of the decision's budget; see
    /// ``ChainValidator/validate(_:for:at:spent:accepting:)``.
    public func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date, spent: ValidationEffort,
        accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        let seconds = time.wholeSeconds
        // Read once, so that a path found with one set is not remembered for another.
        let (anchors, revocation) = (anchors, revocation)
        var query = Query(chain: chain, purpose: purpose, time: seconds, anchors: anchors, revocation: revocation)
        query.spent = spent
        query.transparency = demand(for: purpose)
        let key = cache == nil || sizeViolation(of: chain) != nil ? nil : cacheKey(&query, anchors, revocation)
        if let key, let path = cache?.path(for: key, at: seconds), accepting(path) {
            var effort = query.spent - spent
            effort.usedCachedPath = true
            effort.work += path.certificates.reduce(0) { $0 + $1.hashingWork }
            return ValidationOutcome(
                path: path, failure: nil, effort: effort, notices: query.notices(about: path),
                pathsToFollow: fetchesLists ? [path.certificates] : [])
        }
        var trace: [RuleOutcome]?
        var outcome = search(query, trace: &trace, accepting: accepting)
        outcome.effort -= spent
        if let key, let path = outcome.path {
            // The results of lists and logs hold from the time of this check.
            let isTimeless = !revocation.isChecked && query.transparency == nil
            cache?.remember(path, for: key, since: isTimeless ? .min : seconds)
        }
        return outcome
    }

    /// Notifies the sources of revocation lists and of logs that a decision by this validator is final, so that they
    /// may fetch missing data. Validating starts nothing.
    public func noteUse(following paths: [[X509Certificate]]) {
        revocationSource.noteUse(following: paths)
        transparency.noteUse()
    }

    private func cacheKey(
        _ query: inout Query, _ anchors: TrustAnchors, _ revocation: Revocation
    ) -> VerifiedPathCache.Key {
        query.spent.work += query.chain.certificates.reduce(0) { $0 + 4 + $1.count / WorkMeter.octetsOfUnit }
        return VerifiedPathCache.Key(
            query.chain, for: query.purpose, under: anchors, checking: revocation, asking: query.transparency, by: self)
    }

    /// The timestamps that are required now, which only servers need.
    func demand(for purpose: ValidationPurpose) -> TransparencyDemand? {
        if case .server = purpose { transparency.demand } else { nil }
    }

    /// The input of one validation.
    struct Query {
        let chain: PresentedChain
        let purpose: ValidationPurpose
        let time: Int64
        /// The anchors; nil for the current ones.
        var anchors: TrustAnchors?
        /// The revocation lists; nil for the current ones.
        var revocation: Revocation?
        /// The presented certificates that count as anchors as well, such as pinned ones.
        var isTrusted: ((X509Certificate) -> Bool)?
        /// Whether the rules for certificates are left out, so that only signatures and revocation are checked.
        var skipsRules = false
        /// The timestamps that the leaf must have, whatever the list's age.
        var transparency: TransparencyDemand?
        /// The cost of the decision so far.
        var spent = ValidationEffort()

        /// The notices of a decision for a path.
        func notices(about path: ValidatedPath?) -> [TrustFailure] {
            path.flatMap { transparency?.notice(about: $0, at: time) }.map { [$0] } ?? []
        }
    }

    /// The only entry point of the search, for decisions and explanations.
    /// - Parameter trace: if not nil, gets the result of each rule.
    func search(_ query: Query, trace: inout [RuleOutcome]?, accepting: (ValidatedPath) -> Bool) -> ValidationOutcome {
        let (chain, host) = (query.chain, query.purpose.host)
        var meter = WorkMeter(limits, effort: query.spent)
        func refused(_ violation: Violation) -> ValidationOutcome {
            ValidationOutcome(path: nil, failure: violation.failure(host: host, chain: chain), effort: meter.effort)
        }
        if let violation = sizeViolation(of: chain) { return refused(violation) }
        let first = chain.certificates.first ?? []
        guard meter.spend(X509Certificate.readingWork(first.count)) else {
            return refused(PathSearch.budgetExceeded("the limit for work"))
        }
        let leaf: X509Certificate
        do throws(CertificateError) {
            leaf = try X509Certificate(der: first)
        } catch {
            let failure = TrustFailure(
                .unreadableCertificate, expected: "a leaf that is \(error.expected)", found: error.found,
                host: host, chain: chain)
            return ValidationOutcome(path: nil, failure: failure, effort: meter.effort)
        }
        return withoutActuallyEscaping(accepting) { accepting in
            let request = PathSearch.Request(
                chain: chain, anchors: query.anchors ?? anchors, isTrusted: query.isTrusted,
                leafMayBeAnchor: !query.skipsRules,
                rules: query.skipsRules ? .none : PathRules.rules(of: profile), profile: profile,
                revocation: query.revocation ?? revocation, collectsPaths: fetchesLists,
                certificatePolicies: query.skipsRules ? .any : certificatePolicies,
                context: context(for: query.purpose, at: query.time), host: host,
                asksOtherListSigners: !query.skipsRules,
                transparency: query.transparency.flatMap { $0.isEnforced(at: query.time) ? $0 : nil })
            var search = PathSearch(request, meter: meter, accepting: accepting)
            let violation = search.run(from: leaf)
            let effort = search.meter.effort
            if trace != nil { trace = search.trace() }
            var failure = violation?.failure(host: host, chain: chain)
            failure?.unusable = search.unusable
            return ValidationOutcome(
                path: search.accepted, otherPaths: search.validPaths, failure: failure, effort: effort,
                unusable: search.unusable, notices: query.notices(about: search.accepted ?? search.validPaths.first),
                pathsToFollow: search.pathsToFollow)
        }
    }

    private func context(for purpose: ValidationPurpose, at time: Int64) -> PathRuleContext {
        var context = PathRuleContext(
            time: time, isServer: false, checksValidity: checksValidity, publicSuffixes: publicSuffixes)
        switch purpose {
        case .server: context.isServer = true
        case .client: break
        case .extendedKeyUsage(let identifier): context.purpose = ObjectIdentifier.content(of: identifier) ?? []
        }
        return context
    }

    func sizeViolation(of chain: PresentedChain) -> Violation? {
        let certificates = chain.certificates
        guard !certificates.isEmpty else {
            return Violation(.emptyChain, nil, "at least the peer's own certificate", "no certificate")
        }
        let limits = limits
        guard certificates.count <= limits.presentedCertificates else {
            return Violation(
                .chainTooLarge, nil, "at most \(limits.presentedCertificates) certificates", "\(certificates.count)")
        }
        let bytes = certificates.reduce(0) { $0 + $1.count }
        guard bytes <= limits.presentedBytes else {
            return Violation(.chainTooLarge, nil, "at most \(limits.presentedBytes) bytes", "\(bytes)")
        }
        return nil
    }
}
