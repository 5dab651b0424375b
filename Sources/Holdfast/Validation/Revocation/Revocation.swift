import Crypto

/// Whether and how revocation is checked (RFC 5280 6.3). Nothing is fetched: lists are given.
public struct Revocation: Sendable {
    /// The lists to check, by whom they speak of.
    private let lists: [OctetString: [CertificateRevocationList]]
    /// Whether a certificate that no list speaks of is refused.
    public let isRequired: Bool
    /// SHA-256 of the lists and the setting; equal for equal checks.
    let digest: [UInt8]

    /// Revocation is not checked.
    public static let none = Revocation(lists: [], isRequired: false)

    /// Certificates are checked against the lists of their issuer.
    ///
    /// A list that names the issuer and cannot be used (its signature does not verify, its issuer may not sign lists, its
    /// nextUpdate has passed, it is of a kind that is not understood) is no answer; an issuer for whom there are only
    /// such lists cannot vouch, and its certificates are refused.
    /// - Parameters:
    ///   - lists: any number for each issuer.
    ///   - isRequired: whether certificates are refused for which no list is given.
    public static func crls(_ lists: [CertificateRevocationList], isRequired: Bool = false) -> Revocation {
        Revocation(lists: lists, isRequired: isRequired)
    }

    private init(lists: [CertificateRevocationList], isRequired: Bool) {
        self.lists = Dictionary(grouping: lists) { Self.key($0.issuer, $0.issuer.folded) }
        self.isRequired = isRequired
        var hash = SHA256()
        hash.update(data: [isRequired ? 1 : 0])
        for list in lists { hash.update(data: Array(SHA256.hash(data: list.der))) }
        digest = Array(hash.finalize())
    }

    /// The lists of an issuer, whichever way a certificate spells its name (RFC 5280 7.1): a list that is not found would
    /// revoke nothing.
    func lists(of issuer: DistinguishedName) -> [CertificateRevocationList] { lists(of: issuer, folded: issuer.folded) }

    /// - Parameter folded: the issuer's name, folded.
    func lists(of issuer: DistinguishedName, folded: FoldedName?) -> [CertificateRevocationList] {
        lists[Self.key(issuer, folded)] ?? []
    }

    private static func key(_ name: DistinguishedName, _ folded: FoldedName?) -> OctetString {
        OctetString(folded.map { $0.octets[...] } ?? name.der)
    }

    /// How long, from a time on, every list stays as usable as it is then: until one begins to count or is out of date.
    func unchanged(from time: Int64) -> ClosedRange<Int64> {
        var end = Int64.max
        for list in lists.values.joined() {
            if list.thisUpdateSeconds > time { end = min(end, list.thisUpdateSeconds - 1) }
            if let next = list.nextUpdateSeconds, next >= time { end = min(end, next) }
        }
        return time...end
    }

    /// Whether anything is checked at all.
    var isChecked: Bool { isRequired || !lists.isEmpty }
}

/// The revocation status of one certificate under an issuer whose signature on it has been verified.
struct RevocationCheck {
    static let name = "revocation"
    static let reference = "RFC 5280 6.3"

    let revocation: Revocation
    let time: Int64

    enum Outcome {
        case good
        case violation(Violation)
        case overBudget
    }

    /// What is looked for in the lists, read once.
    private struct Subject {
        let serialNumber: ArraySlice<UInt8>
        let isAuthority: Bool
        let distributionPoints: [GeneralNameSlice]
    }

    /// What ``outcome(of:issuedBy:lists:verify:)`` costs beside signatures, in the unit of ``ValidationLimits/work``.
    func work(of certificate: X509Certificate, against lists: [CertificateRevocationList]) -> Int {
        guard !lists.isEmpty else { return 1 }
        let points = lists.reduce(0) { $0 + $1.scope.distributionPoint.count }
        let length = certificate.distributionPointLength
        return 10 + lists.count * (8 + 2 * certificate.serialNumber.count / WorkMeter.octetsOfUnit) + length / 2
            + points * length / 2
    }

    /// - Parameters:
    ///   - named: the lists that name the certificate's issuer.
    ///   - verify: verifies a list's signature under the issuer's key; nil when the budget is spent.
    func outcome(
        of certificate: X509Certificate, issuedBy issuer: X509Certificate, lists named: [CertificateRevocationList],
        verify: (CertificateRevocationList) -> Bool?
    ) -> Outcome {
        guard !named.isEmpty else {
            return revocation.isRequired ? unknown(certificate, "no list of its issuer") : .good
        }
        let subject = Subject(
            serialNumber: certificate.serialNumber,
            isAuthority: (try? certificate.basicConstraints)?.isCertificateAuthority ?? false,
            distributionPoints: named.allSatisfy(\.scope.distributionPoint.isEmpty)
                ? [] : certificate.distributionPointNames)
        let speaking = named.filter { speaks($0, of: subject) }
        var objection = "lists for other certificates of its issuer only"
        var isCovered = false
        for list in speaking {
            if let unusable = unusable(list, issuer: issuer) {
                objection = unusable
                continue
            }
            guard let isSigned = verify(list) else { return .overBudget }
            guard isSigned else {
                objection = "a list whose signature does not verify under the issuer's key"
                continue
            }
            if list.lists(subject.serialNumber) {
                return .violation(
                    Violation(.revoked, certificate) {
                        ("a certificate that is not revoked", "it on its issuer's list")
                    })
            }
            isCovered = true
        }
        if isCovered { return .good }
        return !speaking.isEmpty || revocation.isRequired ? unknown(certificate, objection) : .good
    }

    private func unknown(_ certificate: X509Certificate, _ found: String) -> Outcome {
        .violation(Violation(.revocationUnknown, certificate) { ("a revocation list that can be used", found) })
    }

    /// RFC 5280 6.3.3 (b): whether the certificate is in the list's scope. Serial numbers are unique for an issuer: one on
    /// his list is revoked, whichever part of his the list is for.
    private func speaks(_ list: CertificateRevocationList, of subject: Subject) -> Bool {
        if list.lists(subject.serialNumber) { return true }
        if list.scope.onlyEndEntities, subject.isAuthority { return false }
        if list.scope.onlyAuthorities, !subject.isAuthority { return false }
        let points = list.scope.distributionPoint
        return points.isEmpty || subject.distributionPoints.contains { points.contains($0) }
    }

    private func unusable(_ list: CertificateRevocationList, issuer: X509Certificate) -> String? {
        if let unsupported = list.unsupported { return "a list that is not understood: \(unsupported)" }
        if list.thisUpdateSeconds > time { return "a list of the future" }
        // RFC 5280 5.1.2.5: conforming lists say when the next one is due; without it nobody knows how old is too old.
        guard let next = list.nextUpdateSeconds, next >= time else { return "a list that is out of date" }
        do throws(DERError) {
            // RFC 5280 6.3.3 (f)
            if let usage = try issuer.keyUsage, !usage.contains(.cRLSign) {
                return "a list of an issuer whose keyUsage lacks cRLSign"
            }
        } catch {
            return "a list of an issuer whose keyUsage cannot be read"
        }
        return nil
    }
}
