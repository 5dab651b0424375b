import Crypto

/// Whether and how revocation is checked (RFC 5280 6.3). Nothing is fetched: lists are given.
public struct Revocation: Sendable {
    /// The lists to check, by whom they speak of.
    private let lists: [[UInt8]: [CertificateRevocationList]]
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
        self.lists = Dictionary(grouping: lists) { Self.key($0.issuer) }
        self.isRequired = isRequired
        var hash = SHA256()
        hash.update(data: [isRequired ? 1 : 0])
        for list in lists { hash.update(data: Array(SHA256.hash(data: list.der))) }
        digest = Array(hash.finalize())
    }

    /// The lists of an issuer, whichever way a certificate spells its name (RFC 5280 7.1): a list that is not found would
    /// revoke nothing.
    func lists(of issuer: DistinguishedName) -> [CertificateRevocationList] { lists[Self.key(issuer)] ?? [] }

    private static func key(_ name: DistinguishedName) -> [UInt8] { name.comparableOctets ?? Array(name.der) }

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
    let revocation: Revocation
    let time: Int64

    enum Outcome {
        case good
        case violation(Violation)
        case overBudget
    }

    /// - Parameter verify: verifies a list's signature under the issuer's key; nil when the budget is spent.
    func outcome(
        of certificate: X509Certificate, issuedBy issuer: X509Certificate,
        verify: (CertificateRevocationList) -> Bool?
    ) -> Outcome {
        let named = revocation.lists(of: certificate.issuer)
        guard !named.isEmpty else {
            return revocation.isRequired ? unknown(certificate, "no list of its issuer") : .good
        }
        var objection = "lists for other certificates of its issuer only"
        var isCovered = false
        for list in named where speaks(list, of: certificate) {
            if let unusable = unusable(list, issuer: issuer) {
                objection = unusable
                continue
            }
            guard let isSigned = verify(list) else { return .overBudget }
            guard isSigned else {
                objection = "a list whose signature does not verify under the issuer's key"
                continue
            }
            if list.lists(certificate.serialNumber) {
                return .violation(
                    Violation(.revoked, certificate) {
                        ("a certificate that is not revoked", "it on its issuer's list")
                    })
            }
            isCovered = true
        }
        if isCovered { return .good }
        let speaksOfIt = named.contains { speaks($0, of: certificate) }
        return speaksOfIt || revocation.isRequired ? unknown(certificate, objection) : .good
    }

    private func unknown(_ certificate: X509Certificate, _ found: String) -> Outcome {
        .violation(Violation(.revocationUnknown, certificate) { ("a revocation list that can be used", found) })
    }

    /// RFC 5280 6.3.3 (b): whether the certificate is in the list's scope. Serial numbers are unique for an issuer: one on
    /// his list is revoked, whichever part of his the list is for.
    private func speaks(_ list: CertificateRevocationList, of certificate: X509Certificate) -> Bool {
        if list.lists(certificate.serialNumber) { return true }
        let isAuthority = (try? certificate.basicConstraints)?.isCertificateAuthority ?? false
        if list.scope.onlyEndEntities, isAuthority { return false }
        if list.scope.onlyAuthorities, !isAuthority { return false }
        let points = list.scope.distributionPoint
        return points.isEmpty || certificate.distributionPointNames.contains { points.contains($0) }
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
