import struct Foundation.Date

/// One search for a valid path: depth first from the leaf towards the anchors, every rule checked before the signature
/// it would cost, each certificate's own outcome and each signature worked out once (RFC 5280 6.1, RFC 4158).
struct PathSearch {
    /// A certificate of the search and what has been found out about it.
    private struct Node {
        let certificate: X509Certificate
        let isAnchor: Bool
        let authority: Authority
        /// Who may have issued it, as far as somebody asked.
        var issuersByOctets: [Int]?
        var issuersFolded: [Int]?
        /// Outer nil: not asked yet; inner nil: fit to be an issuer.
        var issuerOutcome: Violation??
        var constraints: NameConstraints??
        var names: [GeneralName]?
        /// No path leads from it to an anchor, whatever is below it.
        var isDeadEnd = false
    }

    private enum Extent {
        case accepted, overBudget
        /// Nothing found, for reasons that hold wherever the certificate stands.
        case deadEnd
        /// Nothing accepted here; below other certificates it may be otherwise.
        case blocked
    }

    /// Equal for the same octets: two lists may bear one signature, of which at most one is theirs.
    private struct SignedList: Hashable {
        let der: [UInt8]
        let signature: Range<Int>
        let issuer: Int

        /// Lists are long; their signatures tell nearly all apart.
        func hash(into hasher: inout Hasher) {
            hasher.combine(octets: der[signature])
            hasher.combine(issuer)
        }
    }

    /// A certificate by all its octets: whoever makes certificates can give many one signature.
    private struct Presented: Hashable {
        let der: [UInt8]

        func hash(into hasher: inout Hasher) { hasher.combine(octets: der[...]) }
    }

    /// How an issuer's name finds a certificate. Nearly always the octets are the same; comparing as RFC 5280 7.1 has it
    /// costs more and comes when that led nowhere.
    private enum NameComparison: CaseIterable {
        case octets, folded
    }

    private struct VerifiedSignature {
        let subject: Int
        let issuer: Int
        let isGood: Bool
    }

    private let chain: PresentedChain
    private let anchors: TrustAnchors
    private let limits: ValidationLimits
    private let rules: [any PathRule]
    private let revocation: Revocation
    private var context: PathRuleContext
    private let accepting: (ValidatedPath) -> Bool

    private var nodes: [Node] = []
    /// Nodes of presented issuers by subject; nil until somebody asks.
    private var presented: [DistinguishedName: [Int]]?
    private var presentedFolded: [[UInt8]: [Int]]?
    /// Few enough to be searched from end to end: `limits.signatures` at most.
    private var signatures: [VerifiedSignature] = []
    private var lists: [SignedList: Bool] = [:]
    private var worst: Violation?
    /// The last second at which every revocation list is as usable as now; nil until a path asks.
    private var lastSecondOfLists: Int64?

    private(set) var effort = ValidationEffort()
    private(set) var validPaths: [ValidatedPath] = []
    private(set) var accepted: ValidatedPath?
    private(set) var unusable: [UnusableCertificate] = []

    /// Valid paths that are kept for the report when the caller accepts none.
    private static let maximumReportedPaths = 8

    /// - Parameter rules: what every issuer must keep.
    init(
        _ chain: PresentedChain, anchors: TrustAnchors, limits: ValidationLimits, rules: [any PathRule],
        revocation: Revocation, context: PathRuleContext,
        accepting: @escaping (ValidatedPath) -> Bool
    ) {
        self.chain = chain
        self.anchors = anchors
        self.limits = limits
        self.rules = rules
        self.revocation = revocation
        self.context = context
        self.accepting = accepting
        nodes.reserveCapacity(4)
        signatures.reserveCapacity(4)
    }

    /// Searches from a leaf that already passed the rules for leaves.
    /// - Returns: why no path was accepted; nil when one was, and when all that was wrong with the valid ones is that the
    ///   caller accepted none.
    mutating func run(from leaf: X509Certificate) -> Violation? {
        _ = add(leaf, isAnchor: false)
        if anchors.contains(leaf), offer([0]) == .accepted { return nil }
        var path = [0]
        path.reserveCapacity(4)
        switch extend(&path, intermediates: 0) {
        case .accepted: return nil
        case .overBudget: return worst
        case .deadEnd, .blocked: return validPaths.isEmpty ? worst : nil
        }
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
            let candidates = candidates(for: current, by: comparison)
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
            guard effort.steps < limits.steps else { return overBudget("\(limits.steps) candidate issuers") }
            effort.steps += 1
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
                // One that is trusted for itself may stand below another that the caller wants.
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

    /// Whether `candidate` may stand above `path` as the issuer of its last certificate: `accepted` if so.
    private mutating func consider(_ candidate: Int, above path: [Int], intermediates: Int) -> Extent {
        guard let current = path.last else { return .deadEnd }
        let issuer = nodes[candidate].certificate
        // The same name and key again is the same authority: a path gains nothing by passing it twice (RFC 4158 2.4.2).
        if path.contains(where: { nodes[$0].authority == nodes[candidate].authority }) {
            note(Self.unknownIssuer(of: nodes[current].certificate))
            return .blocked
        }
        if let violation = issuerViolation(of: candidate) {
            note(violation)
            return .deadEnd
        }
        let length = PathLengthRule(limits: limits)
        if let violation = length.violation(
            of: issuer, isAnchor: nodes[candidate].isAnchor, intermediates: intermediates)
        {
            note(violation)
            return .blocked
        }
        switch nameConstraintOutcome(of: candidate, over: path) {
        case .allowed: break
        case .overBudget: return overBudget("\(limits.nameConstraintComparisons) name constraint comparisons")
        case .violation(let code, let expected, let found):
            note(Violation(code, issuer) { (expected, found) })
            return .blocked
        }
        let signed = verifySignature(of: current, by: candidate)
        return signed == .accepted ? checkRevocation(of: current, by: candidate) : signed
    }

    private mutating func offer(_ path: [Int]) -> Extent {
        let certificates = path.map { nodes[$0].certificate }
        let valid = ValidatedPath(certificates: certificates, holdsUntil: end(of: certificates))
        var comparisons = effort.nameConstraintComparisons
        let limit = limits.nameConstraintComparisons
        let violation = PolicyCheck.violation(of: valid.certificates, comparisons: &comparisons, limit: limit)
        effort.nameConstraintComparisons = min(comparisons, limit)
        if let violation {
            note(violation)
            return violation.code == .budgetExceeded ? .overBudget : .blocked
        }
        if accepting(valid) {
            accepted = valid
            return .accepted
        }
        if validPaths.count < Self.maximumReportedPaths { validPaths.append(valid) }
        return .blocked
    }

    private mutating func end(of path: [X509Certificate]) -> Date {
        let validity = context.checksValidity ? path.lazy.map(\.layout.notAfter).min() : nil
        return Date(end: min(validity ?? .max, lastSecondOfRevocation()))
    }

    private mutating func lastSecondOfRevocation() -> Int64 {
        guard revocation.isChecked else { return .max }
        if let lastSecondOfLists { return lastSecondOfLists }
        let last = revocation.unchanged(from: context.time).upperBound
        lastSecondOfLists = last
        return last
    }

    private mutating func note(_ violation: Violation) {
        if worst.map({ violation.rank > $0.rank }) ?? true { worst = violation }
    }

    private mutating func overBudget(_ what: String) -> Extent {
        note(Violation(.budgetExceeded) { ("an answer within \(what)", "more to try") })
        return .overBudget
    }

    static func unknownIssuer(of certificate: X509Certificate) -> Violation {
        Violation(.unknownIssuer, certificate) {
            (
                "the issuer \(certificate.issuer) among the anchors or the presented certificates",
                certificate.isSelfIssued ? "a self-issued certificate that is no anchor" : "none"
            )
        }
    }

    // MARK: Candidates

    /// Certificates that bear the issuer's name: anchors first, then presented ones whose key identifier agrees.
    private mutating func candidates(for node: Int, by comparison: NameComparison) -> [Int] {
        let known = comparison == .octets ? nodes[node].issuersByOctets : nodes[node].issuersFolded
        if let known { return known }
        let certificate = nodes[node].certificate
        let issuer = certificate.issuer
        var trusted: [X509Certificate] = []
        var others: [Int] = []
        switch comparison {
        case .octets:
            trusted = anchors.named(issuer)
            others = presentedIssuers()[issuer] ?? []
        case .folded:
            if let name = issuer.comparableOctets {
                trusted = anchors.namedAlike(name).filter { $0.subject != issuer }
                others = foldedIssuers()[name]?.filter { nodes[$0].certificate.subject != issuer } ?? []
            }
        }
        others.removeAll { $0 == node || trusted.contains(nodes[$0].certificate) }
        let keyIdentifier = certificate.authorityKeyIdentifier
        let ends = trusted.map { anchorNode($0) }
        let found = inOrder(ends, of: keyIdentifier) + inOrder(others, of: keyIdentifier)
        switch comparison {
        case .octets: nodes[node].issuersByOctets = found
        case .folded: nodes[node].issuersFolded = found
        }
        return found
    }

    /// Certificates that bear the key identifier, those that bear none, those that bear another.
    private func inOrder(_ candidates: [Int], of keyIdentifier: ArraySlice<UInt8>?) -> [Int] {
        guard candidates.count > 1, let keyIdentifier else { return candidates }
        var (same, none, other): ([Int], [Int], [Int]) = ([], [], [])
        for one in candidates {
            switch nodes[one].certificate.subjectKeyIdentifier {
            case keyIdentifier?: same.append(one)
            case nil: none.append(one)
            default: other.append(one)
            }
        }
        return same + none + other
    }

    /// Reads what else was presented, once, when an issuer is looked for that is no anchor.
    private mutating func presentedIssuers() -> [DistinguishedName: [Int]] {
        if let presented { return presented }
        var bySubject: [DistinguishedName: [Int]] = [:]
        var seen: Set<Presented> = []
        // The leaf and one more differ as a rule, and hashing both costs more than to compare them.
        let isHashed = chain.certificates.count > 2
        if isHashed { seen.insert(Presented(der: nodes[0].certificate.der)) }
        for (position, der) in chain.certificates.enumerated().dropFirst() {
            do throws(CertificateError) {
                let isNew = isHashed ? seen.insert(Presented(der: der)).inserted : der != nodes[0].certificate.der
                guard isNew else { continue }
                let node = add(try X509Certificate(der: der), isAnchor: false)
                bySubject[nodes[node].certificate.subject, default: []].append(node)
            } catch {
                unusable.append(UnusableCertificate(position: position, reason: error))
            }
        }
        presented = bySubject
        return bySubject
    }

    private mutating func foldedIssuers() -> [[UInt8]: [Int]] {
        if let presentedFolded { return presentedFolded }
        var bySubject: [[UInt8]: [Int]] = [:]
        for (subject, issuers) in presentedIssuers() {
            guard let name = subject.comparableOctets else { continue }
            bySubject[name, default: []] += issuers
        }
        // Those of different octets come together in the order of the chain.
        presentedFolded = bySubject.mapValues { $0.sorted() }
        return presentedFolded ?? [:]
    }

    private mutating func anchorNode(_ certificate: X509Certificate) -> Int {
        nodes.firstIndex { $0.isAnchor && $0.certificate == certificate } ?? add(certificate, isAnchor: true)
    }

    private mutating func add(_ certificate: X509Certificate, isAnchor: Bool) -> Int {
        nodes.append(Node(certificate: certificate, isAnchor: isAnchor, authority: Authority(certificate)))
        return nodes.count - 1
    }

    // MARK: Rules

    private mutating func issuerViolation(of node: Int) -> Violation? {
        if let known = nodes[node].issuerOutcome { return known }
        let certificate = nodes[node].certificate
        context.isAnchor = nodes[node].isAnchor
        var violation: Violation?
        for rule in rules {
            violation = rule.violation(of: certificate, in: context)
            if violation != nil { break }
        }
        nodes[node].issuerOutcome = .some(violation)
        return violation
    }

    private mutating func nameConstraintOutcome(of issuer: Int, over path: [Int]) -> NameConstraintCheck.Outcome {
        let constraints: NameConstraints
        do throws(DERError) {
            guard let read = try self.constraints(of: issuer) else { return .allowed }
            constraints = read
        } catch {
            return .violation(.malformedExtension, expected: "name constraints in DER", found: error.description)
        }
        var check = NameConstraintCheck(
            constraints: constraints, limit: limits.nameConstraintComparisons,
            comparisons: effort.nameConstraintComparisons)
        defer { effort.nameConstraintComparisons = min(check.comparisons, limits.nameConstraintComparisons) }
        for (place, node) in path.enumerated() {
            // RFC 5280 6.1.3 (b), (c): a self-issued intermediate is the CA itself under another key.
            if place > 0, nodes[node].certificate.isSelfIssued { continue }
            let names: [GeneralName]
            if let known = nodes[node].names {
                names = known
            } else {
                do throws(DERError) {
                    names = try NameConstraintCheck.names(of: nodes[node].certificate)
                } catch {
                    return .violation(.malformedExtension, expected: "names in DER", found: error.description)
                }
                nodes[node].names = names
            }
            switch check.check(names) {
            case .allowed: continue
            case let other: return other
            }
        }
        return .allowed
    }

    private mutating func constraints(of node: Int) throws(DERError) -> NameConstraints? {
        if let known = nodes[node].constraints { return known }
        let constraints = try nodes[node].certificate.nameConstraints
        nodes[node].constraints = .some(constraints)
        return constraints
    }

    // MARK: Signatures

    private mutating func verifySignature(of subject: Int, by issuer: Int) -> Extent {
        if let known = signatures.first(where: { $0.subject == subject && $0.issuer == issuer }) {
            return known.isGood ? .accepted : .deadEnd
        }
        guard spendSignature(under: issuer, over: nodes[subject].certificate.layout.toBeSigned.count) else {
            return overBudget("the limits for signatures")
        }
        let violation = SignatureRule.violation(of: nodes[subject].certificate, by: nodes[issuer].certificate)
        signatures.append(VerifiedSignature(subject: subject, issuer: issuer, isGood: violation == nil))
        guard let violation else { return .accepted }
        note(violation)
        return .deadEnd
    }

    private mutating func spendSignature(under issuer: Int, over length: Int) -> Bool {
        let hashing = length / ValidationLimits.bytesHashedForOne
        let work = hashing + ((try? nodes[issuer].certificate.publicKey.verificationWork) ?? 0)
        guard effort.signatures < limits.signatures, effort.signatureWork + work <= limits.signatureWork else {
            return false
        }
        effort.signatures += 1
        effort.signatureWork += work
        return true
    }

    // MARK: Revocation

    private mutating func checkRevocation(of subject: Int, by issuer: Int) -> Extent {
        guard revocation.isChecked else { return .accepted }
        let (certificate, signer) = (nodes[subject].certificate, nodes[issuer].certificate)
        let check = RevocationCheck(revocation: revocation, time: context.time)
        switch check.outcome(of: certificate, issuedBy: signer, verify: { verify($0, by: issuer) }) {
        case .good: return .accepted
        case .overBudget: return overBudget("the limits for signatures")
        case .violation(let violation):
            note(violation)
            return .deadEnd
        }
    }

    /// nil when the budget is spent. The length of a list costs nothing: lists come from the application, not the peer.
    private mutating func verify(_ list: CertificateRevocationList, by issuer: Int) -> Bool? {
        let key = SignedList(der: list.der, signature: list.signature, issuer: issuer)
        if let known = lists[key] { return known }
        guard spendSignature(under: issuer, over: 0) else { return nil }
        let isSigned = SignatureRule.verifies(
            list.der[list.signature], over: list.der[list.toBeSigned], with: list.signatureAlgorithm,
            by: nodes[issuer].certificate)
        lists[key] = isSigned
        return isSigned
    }
}
