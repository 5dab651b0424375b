import struct Foundation.Date

/// One search for a valid path, depth first from the leaf toward the anchors. Every rule is checked before the
/// signature that it could save, and each certificate's own result and each signature is computed once (RFC 5280 6.1,
/// RFC 4158).
struct PathSearch {
    /// A certificate of the search with its known properties.
    struct Node {
        let certificate: X509Certificate
        let isAnchor: Bool
        /// Equal for certificates with the same name and key.
        let authority: Int
        /// Its possible issuers; nil until they are needed.
        var issuersByOctets: [Int]?
        var issuersFolded: [Int]?
        /// Outer nil: not checked yet; inner nil: it may be an issuer.
        var issuerOutcome: Violation??
        /// Outer nil: not computed yet; inner nil: a name that cannot be folded.
        var foldedIssuer: FoldedName??
        var constraints: NameConstraintCheck??
        var names: [ConstrainedName]?
        /// Whether no path leads from it to an anchor, no matter which certificates are below it.
        var isDeadEnd = false
    }

    enum Extent {
        case accepted, overBudget
        /// No path was found, for reasons that apply at every position of the certificate.
        case deadEnd
        /// No path was accepted here, but one may be accepted below other certificates.
        case blocked
    }

    /// The input of a search.
    struct Request {
        let chain: PresentedChain
        let anchors: TrustAnchors
        /// The presented certificates that count as anchors as well.
        var isTrusted: ((X509Certificate) -> Bool)?
        /// Whether the leaf may be an anchor itself, and so its own path.
        var leafMayBeAnchor = true
        let rules: PathRules
        let profile: ValidationProfile
        let revocation: Revocation
        /// Whether to collect paths whose certificates name places of revocation lists.
        var collectsPaths = false
        let certificatePolicies: CertificatePolicies
        let context: PathRuleContext
        /// The identity that the leaf must prove (RFC 9525); nil if none is required.
        let host: DialedHost?
        /// Whether a list counts if another certificate of the issuer's name signed it. False if presented certificates
        /// count as anchors: the peer could then certify any key as the issuer's.
        var asksOtherListSigners = true
        /// The timestamps that the leaf must have.
        var transparency: TransparencyDemand?
    }

    struct VerifiedSignature {
        let subject: Int
        let issuer: Int
        let violation: Violation?
    }

    let request: Request
    let accepting: (ValidatedPath) -> Bool
    var context: PathRuleContext
    var meter: WorkMeter

    var nodes: [Node] = []
    var authorities = SmallDictionary<Authority, Int>()
    /// Nodes of presented issuers by subject; nil until needed.
    var presented: SmallDictionary<DistinguishedName, [Int]>?
    var presentedFolded: [FoldedName: [Int]]?
    /// Verified signatures, at most `limits.signatures`: few enough for a linear search.
    var signatures: [VerifiedSignature] = []
    /// The state about revocation lists and their signers.
    var revocation = RevocationMemory()
    /// The violation of the leaf's timestamps, by the authority that issued it; a nil value if they are sufficient.
    var transparency: [Int: Violation?] = [:]
    private var worst: Violation?
    /// The last second at which every revocation list is as usable as now; nil until a path needs it.
    private var endOfLists: Int64?

    private(set) var validPaths: [ValidatedPath] = []
    private(set) var accepted: ValidatedPath?
    private(set) var pathsToFollow: [[X509Certificate]] = []
    /// The nodes of the first valid path, whether or not it was accepted.
    private(set) var firstValid: [Int]?
    var unusable: [UnusableCertificate] = []

    /// Valid paths that are kept for the report when the caller accepts none.
    private static let maximumReportedPaths = 8

    init(_ request: Request, meter: WorkMeter, accepting: @escaping (ValidatedPath) -> Bool) {
        context = request.context
        self.request = request
        self.meter = meter
        self.accepting = accepting
        nodes.reserveCapacity(4)
        signatures.reserveCapacity(4)
    }

    var limits: ValidationLimits { meter.limits }

    /// Searches from a leaf.
    /// - Returns: the reason why no path was valid; nil if a valid one was found, even if the caller accepted none.
    mutating func run(from leaf: X509Certificate) -> Violation? {
        _ = add(leaf, isAnchor: false)
        if let violation = leafViolation(of: leaf) { return violation }
        guard !request.anchors.isEmpty || request.isTrusted != nil else {
            return Violation(.noAnchors, nil, "anchors to build a path to", "none")
        }
        if isLeafAnchor, offer([0]) == .accepted { return nil }
        var path = [0]
        path.reserveCapacity(4)
        switch extend(&path, intermediates: 0) {
        case .accepted: return nil
        case .overBudget: return worst
        case .deadEnd, .blocked: return validPaths.isEmpty ? worst : nil
        }
    }

    private var isLeafAnchor: Bool { request.leafMayBeAnchor && request.anchors.contains(nodes[0].certificate) }

    private mutating func leafViolation(of leaf: X509Certificate) -> Violation? {
        guard meter.spend(leaf.rulesWork(request.profile)) else { return Self.budgetExceeded("the limit for work") }
        for rule in request.rules.leaf {
            if let violation = rule.violation(of: leaf, in: context) { return violation }
        }
        return request.host.flatMap { ServerIdentity.violation(of: leaf, for: $0) }
    }

    private mutating func extend(_ path: inout [Int], intermediates: Int) -> Extent {
        guard let current = path.last else { return .deadEnd }
        if nodes[current].isDeadEnd { return .deadEnd }
        if let violation = SignatureRule.algorithmViolation(of: nodes[current].certificate) {
            note(violation)
            return .deadEnd
        }
        var extent = Extent.deadEnd
        var isAlone = true
        for comparison in NameComparison.allCases {
            guard let candidates = candidates(for: current, by: comparison) else {
                return overBudget("the limit for work")
            }
            isAlone = isAlone && candidates.isEmpty
            switch attempt(candidates, above: &path, intermediates: intermediates) {
            case .accepted: return .accepted
            case .overBudget: return .overBudget
            case .blocked: extent = .blocked
            case .deadEnd: break
            }
        }
        if isAlone { note(Self.unknownIssuer(of: nodes[current].certificate)) }
        if extent == .deadEnd { nodes[current].isDeadEnd = true }
        return extent
    }

    private mutating func attempt(_ candidates: [Int], above path: inout [Int], intermediates: Int) -> Extent {
        var extent = Extent.deadEnd
        for candidate in candidates {
            guard meter.spendStep(Self.unitsOfStep + path.count / 4) else {
                return overBudget("\(limits.steps) candidate issuers")
            }
            switch consider(candidate, above: path, intermediates: intermediates) {
            case .deadEnd: continue
            case .blocked:
                extent = .blocked
                continue
            case .overBudget: return .overBudget
            case .accepted: break
            }
            if nodes[candidate].isAnchor {
                let offered = offer(path + [candidate])
                guard offered == .blocked else { return offered }
                extent = .blocked
                // This certificate is itself trusted, but the caller may require another one above it.
            }
            path.append(candidate)
            let counted = nodes[candidate].certificate.isSelfIssued ? 0 : 1
            let above = extend(&path, intermediates: intermediates + counted)
            path.removeLast()
            switch above {
            case .accepted, .overBudget: return above
            case .blocked: extent = .blocked
            case .deadEnd: break
            }
        }
        return extent
    }

    /// The cost of examining a candidate: its basicConstraints and its known properties.
    private static let unitsOfStep = 20

    /// Whether `candidate` may extend `path` as the issuer of its last certificate: `accepted` if so.
    private mutating func consider(_ candidate: Int, above path: [Int], intermediates: Int) -> Extent {
        guard let current = path.last else { return .deadEnd }
        // Do not pass the same authority (the same name and key) twice: a path gains nothing by that (RFC 4158 2.4.2).
        if path.contains(where: { nodes[$0].authority == nodes[candidate].authority }) {
            note(Self.unknownIssuer(of: nodes[current].certificate))
            return .blocked
        }
        if let violation = revocation.revoked[Link(subject: current, issuer: candidate)] {
            note(violation)
            return .deadEnd
        }
        for check in LinkCheck.allCases {
            switch outcome(of: check, of: candidate, above: path, intermediates: intermediates) {
            case .kept: continue
            case .violated(let violation, let anywhere):
                note(violation)
                return anywhere ? .deadEnd : .blocked
            case .overBudget(let what): return overBudget(what)
            }
        }
        return .accepted
    }

    private mutating func offer(_ path: [Int]) -> Extent {
        let certificates = path.map { nodes[$0].certificate }
        if let violation = PolicyCheck.violation(
            of: certificates, requiring: request.certificatePolicies, meter: &meter)
        {
            note(violation)
            return violation.code == .budgetExceeded ? .overBudget : .blocked
        }
        var unknown: Violation?
        for place in path.indices.dropLast() {
            switch revocationOutcome(at: place, of: path) {
            case .kept: continue
            case .violated(let violation, _) where violation.code == .revoked:
                note(violation)
                return .blocked
            case .violated(let violation, _): unknown = unknown ?? violation
            case .overBudget(let what): return overBudget(what)
            }
        }
        if let violation = transparencyViolation(of: path) {
            note(violation)
            return violation.code == .budgetExceeded ? .overBudget : .blocked
        }
        // Collect the path even if the status is unknown: without a list that has yet to be fetched, no path is valid.
        // A revoked certificate names no download places, and neither does a peer that may name its own anchors.
        if request.collectsPaths, request.isTrusted == nil { pathsToFollow.append(certificates) }
        if let unknown {
            note(unknown)
            return .blocked
        }
        // A caller that looks for pins hashes the path.
        guard meter.spend(certificates.reduce(0) { $0 + $1.hashingWork }) else {
            return overBudget("the limit for work")
        }
        let valid = ValidatedPath(
            certificates: certificates, holdsUntil: end(of: certificates),
            certificatePolicies: request.certificatePolicies)
        firstValid = firstValid ?? path
        if accepting(valid) {
            accepted = valid
            return .accepted
        }
        if validPaths.count < Self.maximumReportedPaths { validPaths.append(valid) }
        return .blocked
    }

    private mutating func end(of path: [X509Certificate]) -> Date {
        let validity = context.checksValidity ? path.lazy.map(\.layout.end).min() : nil
        return Date(end: min(validity ?? .max, endOfRevocation(), revocation.endOfSigners))
    }

    private mutating func endOfRevocation() -> Int64 {
        guard request.revocation.isChecked else { return .max }
        if let endOfLists { return endOfLists }
        let end = request.revocation.nextChange(after: context.time)
        endOfLists = end
        return end
    }

    private mutating func note(_ violation: Violation) {
        if worst.map({ violation.rank > $0.rank }) ?? true { worst = violation }
    }

    private mutating func overBudget(_ what: String) -> Extent {
        note(Self.budgetExceeded(what))
        return .overBudget
    }

    static func budgetExceeded(_ what: String) -> Violation {
        Violation(.budgetExceeded, nil, "an answer within \(what)", "more to try")
    }

    static func unknownIssuer(of certificate: X509Certificate) -> Violation {
        Violation(
            .unknownIssuer, certificate,
            "the issuer \(certificate.issuer) among the anchors or the presented certificates",
            certificate.isSelfIssued ? "a self-issued certificate that is no anchor" : "none")
    }
}
