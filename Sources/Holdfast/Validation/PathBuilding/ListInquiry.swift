/// The lists that may cover one certificate, and their entries about it.
///
/// If several verified lists have the same key and the same scope (equal issuingDistributionPoint), the newest one
/// counts; see ``RevocationListHeader/age(beside:)``. A certificate is therefore revoked if a list names it, unless
/// - a newer list of the same key and scope vouches for it, because it was only on hold, or
/// - the list that names it is out of date, and a list of another key or scope that was issued later vouches for it:
///   numbers of different keys or scopes cannot be compared.
///
/// An attacker who blocks one source of lists and replays old lists of another can only leave lists out. A list vouches
/// for a certificate if it covers it, is understood, is in force, and no other list of its key and scope contradicts
/// its age. A delta list vouches, together with its base, for the certificates that it removes from the base.
struct ListInquiry {
    enum Verdict {
        /// - Parameter isFinal: whether the issuer's own key signed the list, and no other path could change the
        ///   result.
        case revoked(isFinal: Bool)
        case good
        case unknown
    }

    /// The inquiry needs more work than the budget allows.
    struct Overrun: Error {
        let limit: String
    }

    /// Evidence that the certificate is not revoked: from a list that does not name it, or from a delta list that
    /// removes it from its base, together with that base.
    struct Clearance {
        let list: Int
        let delta: Int?

        var newest: Int { delta ?? list }
    }

    struct Signer {
        let key: OctetString
        let isIssuer: Bool
    }

    let lists: [CertificateRevocationList]
    let listings: [RevocationEntries.Listing]
    let subject: RevocationSubject
    let node: Int
    let issuers: ArraySlice<Int>
    let isOfSigner: Bool
    /// The signers of the lists that were verified so far; nil for a list without an authorized signer.
    var signers: [Int: Signer?] = [:]
    var objections: [PathSearch.ListObjection] = []
    /// Whether a list covers the certificate, even if it cannot vouch for it.
    var isCovered = false

    init(
        _ lists: [CertificateRevocationList], about subject: RevocationSubject, at node: Int,
        below issuers: ArraySlice<Int>, isOfSigner: Bool
    ) {
        self.lists = lists
        listings = lists.map { $0.listing(of: subject.serialNumber) }
        self.subject = subject
        self.node = node
        self.issuers = issuers
        self.isOfSigner = isOfSigner
    }

    /// Whether a list names the certificate. Attribute certificates have separate serial numbers.
    func names(_ list: Int) -> Bool { listings[list] == .revoked && !lists[list].scope.onlyAttributeCertificates }

    /// Whether a list was in force and no longer is.
    func isOutOfDate(_ list: Int) -> Bool {
        lists[list].thisUpdateSeconds <= subject.time
            && lists[list].endSecond.map { $0 <= subject.time } ?? true
    }

    /// Whether a list is understood and in force.
    func isUsable(_ list: Int) -> Bool {
        lists[list].unsupported == nil && ListRule.validityObjection(to: lists[list], at: subject.time) == nil
    }

    func covers(_ list: Int) -> Bool { ListRule.scopeObjection(to: lists[list], about: subject) == nil }

    /// Whether a delta list cancels an entry of a complete list (RFC 5280 5.2.4): the complete list contains at least
    /// the entries of the base, and the delta list is newer.
    func takesBack(_ delta: Int, from list: Int) -> Bool {
        let (later, earlier) = (lists[delta], lists[list])
        guard listings[delta] == .removed, later.isDeltaAlone, !earlier.header.isDelta,
            ListRule.validityObjection(to: later, at: subject.time) == nil,
            let base = later.header.baseNumber, let number = earlier.header.number, base <= number
        else { return false }
        return later.scope == earlier.scope && later.header.age(beside: earlier.header) == .newer
    }
}

extension PathSearch {
    mutating func verdict(of inquiry: inout ListInquiry) throws(ListInquiry.Overrun) -> ListInquiry.Verdict {
        let naming = inquiry.lists.indices.filter(inquiry.names)
        if !naming.isEmpty { inquiry.isCovered = true }
        for list in naming {
            guard let signer = try signer(of: list, &inquiry) else { continue }
            if try isSuperseded(list, of: signer, &inquiry) { continue }
            return .revoked(isFinal: signer.isIssuer && !inquiry.isOutOfDate(list))
        }
        for list in inquiry.lists.indices where !inquiry.names(list) {
            if try vouches(list, &inquiry) { return .good }
        }
        for delta in inquiry.lists.indices where inquiry.listings[delta] == .removed {
            try spendLook(&inquiry)
            for list in naming where inquiry.covers(list) && inquiry.isUsable(list) {
                guard inquiry.takesBack(delta, from: list) else { continue }
                if try authority(for: .init(list: list, delta: delta), &inquiry) != nil { return .good }
            }
        }
        return .unknown
    }

    /// Whether a list that does not name the certificate vouches for it; if not, the reason is noted.
    private mutating func vouches(_ list: Int, _ inquiry: inout ListInquiry) throws(ListInquiry.Overrun) -> Bool {
        let (one, subject) = (inquiry.lists[list], inquiry.subject)
        // Anyone on the network path can replay such a list: it must not refuse certificates that it does not name.
        if one.provenance?.revokesOnly == true { return false }
        let scope = ListRule.scopeObjection(to: one, about: subject).map { ListObjection(.scope, $0) }
        if scope == nil { inquiry.isCovered = true }
        let objection =
            scope ?? one.unsupported.map { ListObjection(.kind, $0) }
            ?? ListRule.validityObjection(to: one, at: subject.time).map { ListObjection(.validity, $0) }
        if let objection {
            inquiry.objections.append(objection)
            return false
        }
        guard let signer = try signer(of: list, &inquiry) else { return false }
        guard try !isContradicted(list, of: signer, &inquiry) else {
            inquiry.objections.append(
                ListObjection(
                    .order,
                    "a list that is newer than another by its number or its thisUpdate, and older by the other"))
            return false
        }
        return true
    }

    /// Whether a list is superseded by another list that vouches for the certificate.
    private mutating func isSuperseded(
        _ naming: Int, of signer: ListInquiry.Signer, _ inquiry: inout ListInquiry
    ) throws(ListInquiry.Overrun) -> Bool {
        for list in inquiry.lists.indices where !inquiry.lists[list].header.isDelta {
            try spendLook(&inquiry, at: 1)
            guard inquiry.isUsable(list) else { continue }
            var clearances: [ListInquiry.Clearance] = []
            if !inquiry.names(list) { clearances.append(.init(list: list, delta: nil)) }
            for delta in inquiry.lists.indices where inquiry.listings[delta] == .removed {
                try spendLook(&inquiry, at: 1)
                if inquiry.takesBack(delta, from: list) { clearances.append(.init(list: list, delta: delta)) }
            }
            for clearance in clearances where try supersedes(clearance, naming, of: signer, &inquiry) { return true }
        }
        return false
    }

    private mutating func supersedes(
        _ clearance: ListInquiry.Clearance, _ naming: Int, of signer: ListInquiry.Signer, _ inquiry: inout ListInquiry
    ) throws(ListInquiry.Overrun) -> Bool {
        let (newer, older) = (inquiry.lists[clearance.newest], inquiry.lists[naming])
        let isOfScope = newer.scope == older.scope
        let takesPlace = isOfScope && newer.header.age(beside: older.header) == .newer
        let isLater =
            inquiry.isOutOfDate(naming) && newer.thisUpdateSeconds > older.thisUpdateSeconds
            && inquiry.covers(clearance.list)
        // Check this first, because it needs no verification.
        guard takesPlace || isLater, let key = try authority(for: clearance, &inquiry) else { return false }
        return isOfScope && key == signer.key ? takesPlace : isLater
    }

    /// The key of a clearance that counts: its lists are verified, and no other list contradicts their age.
    private mutating func authority(
        for clearance: ListInquiry.Clearance, _ inquiry: inout ListInquiry
    ) throws(ListInquiry.Overrun) -> OctetString? {
        guard let signer = try signer(of: clearance.list, &inquiry),
            try !isContradicted(clearance.list, of: signer, &inquiry)
        else { return nil }
        guard let delta = clearance.delta else { return signer.key }
        guard let other = try self.signer(of: delta, &inquiry), other.key == signer.key,
            try !isContradicted(delta, of: signer, &inquiry)
        else { return nil }
        return signer.key
    }

    /// Whether another list of the same key and scope contradicts this one about which of the two is newer.
    private mutating func isContradicted(
        _ list: Int, of signer: ListInquiry.Signer, _ inquiry: inout ListInquiry
    ) throws(ListInquiry.Overrun) -> Bool {
        try spendLook(&inquiry)
        let header = inquiry.lists[list].header
        for other in inquiry.lists.indices {
            let beside = inquiry.lists[other].header
            guard header.age(beside: beside) == .contradictory, header.scope == beside.scope else { continue }
            if try self.signer(of: other, &inquiry, isNoted: false)?.key == signer.key { return true }
        }
        return false
    }

    /// The signer of a list; nil if no authorized signer signed it.
    /// - Parameter isNoted: whether a problem with it is recorded as a reason why the status is unknown.
    private mutating func signer(
        of list: Int, _ inquiry: inout ListInquiry, isNoted: Bool = true
    ) throws(ListInquiry.Overrun) -> ListInquiry.Signer? {
        if let known = inquiry.signers[list] { return known }
        let header = inquiry.lists[list].header
        switch answer(of: header, about: inquiry.node, by: inquiry.issuers, isOfSigner: inquiry.isOfSigner) {
        case .overBudget(let limit): throw ListInquiry.Overrun(limit: limit)
        case .unusable(let objection):
            if isNoted { inquiry.objections.append(objection) }
            inquiry.signers[list] = .some(nil)
            return nil
        case .signed(let node, let isIssuer):
            let signer = ListInquiry.Signer(key: nodes[node].certificate.keyIdentity, isIssuer: isIssuer)
            inquiry.signers[list] = signer
            return signer
        }
    }

    /// Charges the cost of examining all lists, or `count` of them.
    private mutating func spendLook(_ inquiry: inout ListInquiry, at count: Int? = nil) throws(ListInquiry.Overrun) {
        guard meter.spend(count ?? inquiry.lists.count) else { throw ListInquiry.Overrun(limit: "the limit for work") }
    }
}
