/// A certificate and a possible issuer of it.
struct Link: Hashable {
    let subject: Int
    let issuer: Int
}

/// The state of a search about revocation lists and their signers.
struct RevocationMemory {
    /// Equal for the same bytes: two lists may have the same signature, which is valid for at most one of them.
    struct SignedList: Hashable {
        let der: [UInt8]
        let signature: Range<Int>
        let signer: Int

        /// Hashes only the signature: lists are long and come from the application, and signatures distinguish nearly
        /// all of them.
        func hash(into hasher: inout Hasher) {
            hasher.combine(octets: der[signature])
            hasher.combine(signer)
        }
    }

    /// The question whether a signer has a path to an anchor that does not pass an authority.
    struct SignerQuestion: Hashable {
        let signer: Int
        let anchor: Int
        let avoiding: Int?
    }

    var signatures: [SignedList: Bool] = [:]
    /// The number of times that a list was hashed, by its signature.
    var hashings: [OctetString: Int] = [:]
    /// The first path found; empty if none was found.
    var paths: [SignerQuestion: [Int]] = [:]
    /// Nodes of the certificates given with the lists, by the name for which they were looked up.
    var given: [OctetString: [Int]] = [:]
    /// Certificates that the issuer's own key has revoked, at any position in a path.
    var revoked: [Link: Violation] = [:]
    /// The last second at which all signers that vouched for something are valid.
    var endOfSigners = Int64.max
}

extension PathSearch {
    static let revocationRule = "revocation"
    static let revocationReference = "RFC 5280 6.3"

    /// The result of checking a list.
    enum ListAnswer {
        /// Signed by the key of a node.
        case signed(by: Int, isIssuer: Bool)
        case unusable(ListObjection)
        case overBudget(String)
    }

    struct ListObjection {
        let rule: ListRule
        let found: String
        /// Whether the list was not verified because of its algorithm or its signer's kind of key.
        let isUnsupported: Bool

        init(_ rule: ListRule, _ found: String, isUnsupported: Bool = false) {
            (self.rule, self.found, self.isUnsupported) = (rule, found, isUnsupported)
        }
    }

    mutating func revocationOutcome(at place: Int, of path: [Int]) -> Outcome {
        var findings: [RuleOutcome]?
        return revocationOutcome(at: place, of: path, findings: &findings)
    }

    /// Checks revocation (RFC 5280 6.3.3) of the certificate at a position of a path whose signatures have been
    /// verified.
    ///
    /// A certificate that a list of its issuer names is revoked, even if the list covers only other certificates of the
    /// issuer: serial numbers are unique for an issuer. Lists that cannot vouch for a certificate can still revoke it.
    /// ``ListInquiry`` determines which of several lists counts.
    /// - Parameters:
    ///   - isOfSigner: whether the path is that of a list's signer. The status of its certificates is checked only with
    ///     the lists that issuers on it sign.
    ///   - findings: if not nil, gets the result of each rule for each list that was needed.
    mutating func revocationOutcome(
        at place: Int, of path: [Int], isOfSigner: Bool = false, findings: inout [RuleOutcome]?
    ) -> Outcome {
        guard request.revocation.isChecked, place + 1 < path.count else { return .kept }
        let unknown = place == 0 && !isOfSigner ? request.revocation.unknownLeaf : request.revocation.unknownIssuer
        guard let folded = foldedIssuer(of: path[place]) else { return .overBudget("the limit for work") }
        let certificate = nodes[path[place]].certificate
        let named = request.revocation.lists(of: certificate.issuer, folded: folded)
        guard let lists = own(named, about: path[place], by: path[(place + 1)...], isOfSigner: isOfSigner) else {
            return .overBudget("the limit for work")
        }
        guard !lists.isEmpty else {
            guard unknown == .fails else { return .kept }
            return .violated(Self.unknownStatus(certificate, "no list of its issuer"), anywhere: false)
        }
        guard meter.spend(Self.work(of: certificate, against: lists.count)) else {
            return .overBudget("the limit for work")
        }
        var work = 0
        let subject = RevocationSubject(certificate, at: context.time, work: &work)
        guard meter.account(work) else { return .overBudget("the limit for work") }

        var inquiry = ListInquiry(
            lists, about: subject, at: path[place], below: path[(place + 1)...], isOfSigner: isOfSigner)
        let verdict: ListInquiry.Verdict
        do throws(ListInquiry.Overrun) {
            verdict = try self.verdict(of: &inquiry)
        } catch {
            return .overBudget(error.limit)
        }
        switch verdict {
        case .revoked(let isFinal): return revoked(at: place, of: path, isFinal: isFinal)
        case .good:
            findings = findings.map { $0 + self.findings(nil, for: certificate) }
            return .kept
        case .unknown: break
        }
        let isRefused =
            switch unknown {
            case .passes: false
            case .passesWithoutList: inquiry.isCovered
            case .fails: true
            }
        guard isRefused else { return .kept }
        for objection in inquiry.objections where findings != nil {
            findings = findings.map { $0 + self.findings(objection, for: certificate) }
        }
        let telling = inquiry.objections.last { $0.rule.name != ListRule.scope.name } ?? inquiry.objections.last
        return .violated(Self.unknownStatus(certificate, telling?.found ?? "no list of its issuer"), anywhere: false)
    }

    private mutating func revoked(at place: Int, of path: [Int], isFinal: Bool) -> Outcome {
        let violation = Violation(
            .revoked, nodes[path[place]].certificate, "a certificate that is not revoked", "it on its issuer's list")
        if isFinal { revocation.revoked[Link(subject: path[place], issuer: path[place + 1])] = violation }
        return .violated(violation, anywhere: false)
    }

    static func unknownStatus(_ certificate: X509Certificate, _ found: String) -> Violation {
        Violation(.revocationUnknown, certificate, "a revocation list that can be used", found)
    }

    /// The cost of reading lists, without signatures, in the unit of ``ValidationLimits/work``.
    private static func work(of certificate: X509Certificate, against lists: Int) -> Int {
        let octets = certificate.distributionPointLength + lists * 2 * certificate.serialNumber.count
        return 20 + lists * 20 + octets / WorkMeter.octetsOfUnit
    }

    /// The rules that a list satisfied, and the rule that it broke.
    private func findings(_ objection: ListObjection?, for certificate: X509Certificate) -> [RuleOutcome] {
        var findings: [RuleOutcome] = []
        for rule in ListRule.all {
            let isBroken = objection?.rule.name == rule.name
            let violation = isBroken ? Self.unknownStatus(certificate, objection?.found ?? "") : nil
            findings.append(outcome(rule.name, rule.reference, certificate, violation))
            if isBroken { break }
        }
        return findings
    }

    // MARK: Signers

    /// Returns the lists without those that were fetched for another authority of the same name. Such a list does not
    /// concern the certificate, and an authority that uses another authority's name must not be able to have the
    /// other's certificates refused. A list counts if it was fetched for the issuer's key, if a known certificate's key
    /// signed it, or if the certificate names its place. If presented certificates are treated as anchors, every list
    /// counts, because the peer that presents them chooses the issuer's key.
    /// - Parameter issuers: the certificates above this one on the path.
    /// - Returns: nil if the budget is not sufficient.
    private mutating func own(
        _ lists: [CertificateRevocationList], about subject: Int, by issuers: ArraySlice<Int>, isOfSigner: Bool
    ) -> [CertificateRevocationList]? {
        guard request.isTrusted == nil, let issuer = issuers.first, lists.contains(where: { $0.provenance != nil })
        else { return lists }
        let certificate = nodes[subject].certificate
        let key = nodes[issuer].certificate.keyIdentity
        // These are rarely needed, so the first list that needs them reads them once.
        var places: Set<OctetString>?
        var signers: Set<OctetString>?
        var own: [CertificateRevocationList] = []
        for list in lists {
            guard let provenance = list.provenance, provenance.signer != key, provenance.authority != key else {
                own.append(list)
                continue
            }
            if places == nil {
                guard meter.spend(octets: certificate.distributionPointLength) else { return nil }
                places = Set(CertificateDistributionPoints.addresses(of: certificate).map(OctetString.init))
            }
            if signers == nil {
                var nodesOfSigners = issuers.dropFirst().filter { mayBeNamed($0, as: list.header) }
                if !isOfSigner, request.asksOtherListSigners {
                    guard let others = otherSigners(of: list.header, besides: [subject] + issuers) else { return nil }
                    nodesOfSigners += others
                }
                guard meter.spend(2 * nodesOfSigners.count) else { return nil }
                signers = Set(nodesOfSigners.map { nodes[$0].certificate.keyIdentity })
            }
            if places?.contains(provenance.address) == true || signers?.contains(provenance.signer) == true {
                own.append(list)
            }
        }
        return own
    }

    /// The signer of a list: the issuer at hand, another certificate of that name further up the path, or one with a
    /// separate path to the same anchor.
    /// - Parameters:
    ///   - subject: the certificate whose status is checked; nil if the list is checked alone.
    ///   - issuers: the certificates above it on the path, the anchor last.
    mutating func answer(
        of list: RevocationListHeader, about subject: Int?, by issuers: ArraySlice<Int>, isOfSigner: Bool = false
    ) -> ListAnswer {
        if let found = ListRule.algorithmObjection(to: list) {
            return .unusable(ListObjection(.signature, found, isUnsupported: true))
        }
        var objection: ListObjection?
        for above in issuers.indices {
            let isIssuer = above == issuers.startIndex
            guard isIssuer || mayBeNamed(issuers[above], as: list) else { continue }
            switch answer(of: list, by: issuers[above], isIssuer: isIssuer) {
            case .signed: return .signed(by: issuers[above], isIssuer: isIssuer)
            case .overBudget(let what): return .overBudget(what)
            case .unusable(let found): objection = objection ?? found
            }
        }
        if !isOfSigner, request.asksOtherListSigners, let anchor = issuers.last, nodes[anchor].isAnchor {
            guard let others = otherSigners(of: list, besides: [subject].compactMap(\.self) + issuers) else {
                return .overBudget("the limit for work")
            }
            for other in others {
                if let found = ListRule.signerObjection(to: nodes[other].certificate, isIssuer: false) {
                    objection = objection ?? ListObjection(.signer, found)
                    continue
                }
                let question = RevocationMemory.SignerQuestion(
                    signer: other, anchor: anchor, avoiding: subject.map { nodes[$0].authority })
                switch signerPath(question) {
                case .overBudget(let what): return .overBudget(what)
                case .none(let found):
                    objection = ListObjection(.signer, found)
                case .found(let end):
                    switch answer(of: list, by: other, isIssuer: false) {
                    case .signed:
                        revocation.endOfSigners = min(revocation.endOfSigners, end)
                        return .signed(by: other, isIssuer: false)
                    case .overBudget(let what): return .overBudget(what)
                    case .unusable(let found): objection = objection ?? found
                    }
                }
            }
        }
        let nobody = "a list that nobody is known to have signed"
        return .unusable(objection ?? ListObjection(.signer, nobody))
    }

    /// Whether this certificate's key signed the list, and may sign lists.
    private mutating func answer(of list: RevocationListHeader, by signer: Int, isIssuer: Bool) -> ListAnswer {
        if let found = ListRule.signerObjection(to: nodes[signer].certificate, isIssuer: isIssuer) {
            return .unusable(ListObjection(.signer, found))
        }
        if let found = ListRule.keyObjection(to: nodes[signer].certificate) {
            return .unusable(ListObjection(.signature, found, isUnsupported: true))
        }
        guard let isSigned = verify(list, by: signer) else { return .overBudget("the limits for signatures") }
        if isSigned { return .signed(by: signer, isIssuer: isIssuer) }
        let found = "a list whose signature does not verify under the issuer's key"
        return .unusable(ListObjection(.signature, found))
    }

    private func mayBeNamed(_ node: Int, as list: RevocationListHeader) -> Bool {
        nodes[node].certificate.subject.matches(list.issuer)
    }

    /// The number of times that hashing a long list of the application is free: as often as a legitimate chain needs
    /// it.
    private static let freeHashings = 4

    /// Verifies a list's signature; nil if the budget is spent.
    private mutating func verify(_ list: RevocationListHeader, by signer: Int) -> Bool? {
        if let provenance = list.provenance { return provenance.signer == nodes[signer].certificate.keyIdentity }
        let key = RevocationMemory.SignedList(der: list.der, signature: list.signature, signer: signer)
        if let known = revocation.signatures[key] { return known }
        let name = OctetString(list.der[list.signature])
        let times = revocation.hashings[name] ?? 0
        revocation.hashings[name] = times + 1
        guard spendSignature(under: signer, over: times < Self.freeHashings ? 0 : list.toBeSigned.count) else {
            return nil
        }
        let isSigned = list.signatureCheck(by: nodes[signer].certificate) == .valid
        revocation.signatures[key] = isSigned
        return isSigned
    }
}
