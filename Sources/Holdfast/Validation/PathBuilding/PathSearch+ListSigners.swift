extension PathSearch {
    /// Whether the signer of a list has a separate valid path.
    enum SignerPath {
        /// The first second at which a certificate of the path is no longer valid.
        case found(Int64)
        /// The found value for a message, if no path is valid.
        case none(String)
        case overBudget(String)
    }

    /// Certificates of the list's issuer, presented or given with the lists, other than those on the path: first those
    /// whose key identifier matches the list's. nil if the budget is not sufficient.
    mutating func otherSigners(of list: RevocationListHeader, besides path: [Int]) -> [Int]? {
        let name = list.issuer
        var work = 0
        let folded = name.folded(work: &work)
        guard meter.account(work), let presented = presentedIssuers(), let alike = foldedIssuers() else { return nil }
        let named = folded.map { alike[$0] ?? [] } ?? presented[name] ?? []
        let on = Set(path.map { nodes[$0].certificate })
        let found = (named + given(name, folded)).filter { !on.contains(nodes[$0].certificate) }
        guard meter.spend(2 * found.count) else { return nil }
        return inOrder(found, of: list.keyIdentifier)
    }

    /// Nodes of the certificates with a name that were given with the lists.
    private mutating func given(_ name: DistinguishedName, _ folded: FoldedName?) -> [Int] {
        let key = OctetString(folded.map { $0.octets[...] } ?? name.der)
        if let known = revocation.given[key] { return known }
        let found = request.revocation.certificates(of: name, folded: folded).map { certificate in
            nodes.firstIndex { !$0.isAnchor && $0.certificate == certificate } ?? add(certificate, isAnchor: false)
        }
        revocation.given[key] = found
        return found
    }

    /// Looks for a path from a list's signer to the anchor of the certificate that the list covers (RFC 5280 6.3.3
    /// (f)): with the rules, signatures and names of any other path, and with a known status.
    mutating func signerPath(_ question: RevocationMemory.SignerQuestion) -> SignerPath {
        if let known = revocation.paths[question] { return answer(known) }
        let signer = nodes[question.signer].certificate
        guard meter.spend(signer.rulesWork(.standard)) else { return .overBudget("the limit for work") }
        context.isAnchor = false
        let isFit =
            SignatureRule.algorithmViolation(of: signer) == nil
            && PathRules.listSigner.allSatisfy { $0.violation(of: signer, in: context) == nil }
        var path: [Int] = []
        if isFit {
            var attempt = [question.signer]
            switch extendSigner(&attempt, intermediates: 0, question) {
            case .accepted: path = attempt
            case .overBudget: return .overBudget("the budget for the signers of lists")
            case .deadEnd, .blocked: break
            }
        }
        revocation.paths[question] = path
        return answer(path)
    }

    private func answer(_ path: [Int]) -> SignerPath {
        guard !path.isEmpty else { return .none("a list of a signer without a valid path to the same anchor") }
        guard context.checksValidity else { return .found(.max) }
        return .found(path.map { nodes[$0].certificate.layout.end }.min() ?? .max)
    }

    /// Searches depth first, like the main search, but without recording failures.
    private mutating func extendSigner(
        _ path: inout [Int], intermediates: Int, _ question: RevocationMemory.SignerQuestion
    ) -> Extent {
        guard let current = path.last,
            SignatureRule.algorithmViolation(of: nodes[current].certificate) == nil
        else { return .deadEnd }
        guard let candidates = signerCandidates(for: current) else { return .overBudget }
        for candidate in candidates {
            guard meter.spendStep(20 + path.count / 4) else { return .overBudget }
            let authority = nodes[candidate].authority
            if authority == question.avoiding || path.contains(where: { nodes[$0].authority == authority }) { continue }
            var isKept = true
            for check in LinkCheck.allCases where isKept {
                switch outcome(of: check, of: candidate, above: path, intermediates: intermediates) {
                case .kept: continue
                case .violated: isKept = false
                case .overBudget: return .overBudget
                }
            }
            guard isKept else { continue }
            path.append(candidate)
            let counted = nodes[candidate].certificate.isSelfIssued ? 0 : 1
            let above =
                candidate == question.anchor
                ? isValidSignerPath(path) : extendSigner(&path, intermediates: intermediates + counted, question)
            switch above {
            case .accepted, .overBudget: return above
            case .deadEnd, .blocked: path.removeLast()
            }
        }
        return .blocked
    }

    /// The issuers that the main search would find, and those given with the lists.
    private mutating func signerCandidates(for node: Int) -> [Int]? {
        var found: [Int] = []
        for comparison in NameComparison.allCases {
            guard let some = candidates(for: node, by: comparison) else { return nil }
            found += some
        }
        guard let folded = foldedIssuer(of: node) else { return nil }
        for one in given(nodes[node].certificate.issuer, folded) where one != node && !found.contains(one) {
            found.append(one)
        }
        return inOrder(found, of: nodes[node].certificate.authorityKeyIdentifier)
    }

    /// The checks of a whole path: the policies that its authorities require, and the status of each certificate by
    /// lists that issuers on the path sign. Other signers of such lists are not searched for.
    private mutating func isValidSignerPath(_ path: [Int]) -> Extent {
        if let violation = PolicyCheck.violation(of: path.map { nodes[$0].certificate }, meter: &meter) {
            return violation.code == .budgetExceeded ? .overBudget : .blocked
        }
        var findings: [RuleOutcome]?
        for place in path.indices.dropLast() {
            switch revocationOutcome(at: place, of: path, isOfSigner: true, findings: &findings) {
            case .kept: continue
            case .violated: return .blocked
            case .overBudget: return .overBudget
            }
        }
        return .accepted
    }
}
