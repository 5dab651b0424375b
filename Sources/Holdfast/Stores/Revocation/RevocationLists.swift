import Foundation

/// The lists of one place: one per issuer and scope (RFC 5280 5.2.5).
///
/// Anyone on the network path can replay any list that the authority has ever signed, as the first list of a place or
/// later. So each list is evaluated against the certificates that name the place, and against the existing lists:
/// - A list replaces those of its own scope, and of narrower ones, if it is newer and in force. Lists of other scopes
///   stay next to it.
/// - An older list never replaces a newer one.
/// - A list that is out of date, or of an unsupported kind, replaces nothing. If no better list exists, only its
///   entries count: they stay revoked until a newer list in force that covers the certificate states otherwise.
struct RevocationLists: Sendable {
    /// The verified lists.
    private(set) var all: [CertificateRevocationList] = []

    /// The maximum number of lists of one place. Authorities use one or two scopes for one place.
    static let maximumCount = 8

    /// The size of all lists, in bytes.
    var byteCount: Int { Self.byteCount(of: all) }

    /// The size of the lists that are kept if a list replaces the one of its scope, in bytes.
    func byteCount(besides list: RevocationListHeader) -> Int {
        Self.byteCount(of: all.filter { !Self.isSameScope($0.header, list) })
    }

    private static func byteCount(of lists: [CertificateRevocationList]) -> Int {
        lists.reduce(0) { $0 + $1.der.count }
    }

    /// The newest list that counts at a time, in Unix seconds; otherwise the newest of all.
    func main(at time: Int64) -> CertificateRevocationList? {
        let counting = all.filter { Self.counts($0, at: time) }
        return (counting.isEmpty ? all : counting).max { $0.thisUpdateSeconds < $1.thisUpdateSeconds }
    }

    /// The reason why no list counts at a time, in Unix seconds; nil if one counts.
    func objection(at time: Int64) -> String? {
        if all.contains(where: { Self.counts($0, at: time) }) { return nil }
        guard let main = main(at: time) else { return "none" }
        return main.unsupported ?? ListRule.validityObjection(to: main, at: time)
    }

    /// The time at which the first list that counts must be replaced.
    func soonestEnd(at time: Int64) -> Date? {
        all.filter { Self.counts($0, at: time) }.compactMap(\.nextUpdate).min() ?? main(at: time)?.nextUpdate
    }

    private static func counts(_ list: CertificateRevocationList, at time: Int64) -> Bool {
        !list.revokesOnly && ListRule.validityObjection(to: list, at: time) == nil
    }

    private static func isSameScope(_ one: RevocationListHeader, _ other: RevocationListHeader) -> Bool {
        one.scope == other.scope && one.isDelta == other.isDelta && one.issuer.matches(other.issuer)
    }

    // MARK: A new list

    /// Returns the lists with one more, which its authority signed.
    /// - Parameters:
    ///   - certificates: the certificates that name the place.
    ///   - time: the trusted time, in Unix seconds.
    /// - Throws: ``DocumentError`` if the list is not accepted here.
    func adding(
        _ list: CertificateRevocationList, for certificates: NamingCertificates, at time: Int64
    ) throws(DocumentError) -> RevocationLists {
        guard list.thisUpdateSeconds <= time else { throw RevocationListObjection.future(list) }
        if let found = certificates.objection(to: list.scope) { throw RevocationListObjection.otherScope(found) }
        let isUsable = list.unsupported == nil && ListRule.validityObjection(to: list, at: time) == nil
        if all.contains(where: { $0.der == list.der && !($0.revokesOnly && isUsable) }) { return self }
        for old in all where Self.isSameScope(old.header, list.header) {
            // A list that only revokes does not prevent a list that can vouch.
            if isUsable, old.revokesOnly, list.isOlder(than: old) { continue }
            try RevocationListObjection.checkOrder(of: list, after: old)
        }
        let added =
            isUsable
            ? try addingUsable(list, for: certificates, at: time)
            : try addingEntries(of: list, for: certificates, at: time)
        return try added.bounded(keeping: list, at: time)
    }

    private func addingUsable(
        _ list: CertificateRevocationList, for certificates: NamingCertificates, at time: Int64
    ) throws(DocumentError) -> RevocationLists {
        for other in all where Self.counts(other, at: time) && other.issuer.matches(list.issuer) {
            guard !Self.isSameScope(other.header, list.header), other.thisUpdateSeconds >= list.thisUpdateSeconds,
                certificates.isScope(other.scope, asWideAs: list.scope)
            else { continue }
            throw RevocationListObjection.older(list, than: other)
        }
        var lists = self
        lists.all.removeAll { old in
            old.thisUpdateSeconds <= list.thisUpdateSeconds && list.scope.contains(old.scope)
                && old.issuer.matches(list.issuer)
        }
        lists.all.append(list)
        return lists
    }

    /// Adds the entries of a list that cannot vouch for a certificate.
    private func addingEntries(
        of list: CertificateRevocationList, for certificates: NamingCertificates, at time: Int64
    ) throws(DocumentError) -> RevocationLists {
        let validity = ListRule.validityObjection(to: list, at: time)
        for old in all where old.issuer.matches(list.issuer) {
            let isBetter =
                old.revokesOnly
                ? Self.isSameScope(old.header, list.header) && validity != nil
                : certificates.isScope(old.scope, asWideAs: list.scope)
                    && (list.unsupported != nil || Self.counts(old, at: time))
            guard isBetter else { continue }
            throw list.unsupported.map(RevocationListObjection.otherKind)
                ?? RevocationListObjection.outOfDate(validity ?? "an older list")
        }
        var list = list
        list.provenance?.revokesOnly = true
        var lists = self
        lists.all.removeAll { $0.revokesOnly && Self.isSameScope($0.header, list.header) }
        lists.all.append(list)
        return lists
    }

    /// Returns the lists without those that exceed the limits: first those that only revoke are left out, then those
    /// that are out of date, the oldest first.
    private func bounded(
        keeping list: CertificateRevocationList, at time: Int64
    ) throws(DocumentError) -> RevocationLists {
        var lists = self
        while lists.all.count > Self.maximumCount || lists.byteCount > CertificateRevocationList.maximumBytes {
            let dispensable = lists.all.indices.filter {
                lists.all[$0].der != list.der && !Self.counts(lists.all[$0], at: time)
            }
            let first = dispensable.min { one, other in
                let (one, other) = (lists.all[one], lists.all[other])
                return one.revokesOnly == other.revokesOnly
                    ? one.thisUpdateSeconds < other.thisUpdateSeconds : one.revokesOnly
            }
            guard let first else { throw RevocationListObjection.noRoom }
            lists.all.remove(at: first)
        }
        return lists
    }

    /// Throws unless these lists, which another store may have stored, may replace others: a list that counts may be
    /// replaced only by one that is as wide and not older.
    func checkReplaces(_ others: RevocationLists, at time: Int64) throws(DocumentError) {
        let isFull = all.count == Self.maximumCount || byteCount > CertificateRevocationList.maximumBytes / 2
        for old in others.all where !old.revokesOnly && !(isFull && !Self.counts(old, at: time)) {
            let isKept = all.contains { list in
                list.der == old.der
                    || !list.revokesOnly && list.thisUpdateSeconds >= old.thisUpdateSeconds
                        && list.scope.contains(old.scope) && list.issuer.matches(old.issuer)
            }
            guard isKept else { throw RevocationListObjection.older(all.first ?? old, than: old) }
        }
    }
}

extension CertificateRevocationList {
    /// Whether only its entries count, see ``RevocationListHeader/Provenance/revokesOnly``.
    var revokesOnly: Bool { provenance?.revokesOnly == true }

    /// Whether it is older than another list by its time and, if both have one, by its number.
    fileprivate func isOlder(than other: CertificateRevocationList) -> Bool {
        header.age(beside: other.header) == .older
    }
}

// The stored form: the DER of each list, one after another; of a list that only revokes, inside [0].
extension RevocationLists {
    private static let revokesOnlyTag = DERTag.contextConstructed(0)

    /// Lists that were verified again.
    init(restored lists: [CertificateRevocationList]) { all = lists }

    /// The stored form.
    var encoded: Data {
        Data(all.flatMap { $0.revokesOnly ? DEREncoding.element(Self.revokesOnlyTag, $0.der) : $0.der })
    }

    /// The DER of each list in the stored form, and whether it only revokes; nothing is verified.
    static func parts(of encoded: Data) throws(DERError) -> [(der: [UInt8], revokesOnly: Bool)] {
        var reader = DERReader([UInt8](encoded))
        var parts: [(der: [UInt8], revokesOnly: Bool)] = []
        while !reader.isAtEnd, parts.count < maximumCount {
            let element = try reader.next()
            let revokesOnly = element.tag == revokesOnlyTag
            parts.append((Array(reader.bytes[revokesOnly ? element.content : element.encoded]), revokesOnly))
        }
        return parts
    }
}
