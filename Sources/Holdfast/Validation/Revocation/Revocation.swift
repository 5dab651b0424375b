import Crypto

/// Whether and how revocation is checked (RFC 5280 6.3), against lists that are given. A ``RevocationStore`` fetches
/// them.
public struct Revocation: Sendable {
    /// The rule for a certificate whose status is unknown.
    public enum UnknownStatus: Sendable, Hashable {
        /// It passes, even if lists cover it and none of them can be used.
        case passes
        /// It passes if no list covers it. If lists do, but none of them can be used, it is refused.
        case passesWithoutList
        /// It is refused.
        case fails
    }

    /// The lists to check, by the issuer whose certificates they cover.
    private let lists: [OctetString: [CertificateRevocationList]]
    /// Certificates of list signers, by subject.
    private let certificates: [OctetString: [X509Certificate]]
    /// The rule for a leaf whose status is unknown.
    package let unknownLeaf: UnknownStatus
    /// The rule for an issuer whose status is unknown, and for a certificate whose key signs only lists.
    package let unknownIssuer: UnknownStatus
    /// SHA-256 of the lists and the settings; equal for equal checks.
    package let digest: [UInt8]

    init(
        lists: [CertificateRevocationList], certificates: [X509Certificate], leaf: UnknownStatus, issuer: UnknownStatus
    ) {
        self.lists = Dictionary(grouping: lists) { Self.key($0.issuer, $0.issuer.folded) }
        self.certificates = Dictionary(grouping: certificates) { Self.key($0.subject, $0.subject.folded) }
        (unknownLeaf, unknownIssuer) = (leaf, issuer)
        var hash = SHA256()
        // The counts are included, so that a list cannot be confused with a certificate.
        hash.update(data: Array("\(leaf) \(issuer) \(lists.count) \(certificates.count)".utf8))
        for list in lists {
            hash.update(data: list.provenance?.digest ?? SHA256Digest.of(list.der))
            guard let provenance = list.provenance else { continue }
            for part in [provenance.signer, provenance.authority, provenance.address] {
                hash.update(data: SHA256Digest.of(part.octets))
            }
            hash.update(data: [provenance.revokesOnly ? 1 : 0])
        }
        for certificate in certificates { hash.update(data: SHA256Digest.of(certificate.der)) }
        digest = Array(hash.finalize())
    }

    /// The lists of an issuer, regardless of how a certificate spells its name (RFC 5280 7.1): a missed list would
    /// revoke nothing.
    func lists(of issuer: DistinguishedName) -> [CertificateRevocationList] { lists(of: issuer, folded: issuer.folded) }

    /// - Parameter folded: the issuer's name, folded.
    func lists(of issuer: DistinguishedName, folded: FoldedName?) -> [CertificateRevocationList] {
        lists[Self.key(issuer, folded)] ?? []
    }

    /// The given certificates that bear a name.
    func certificates(of subject: DistinguishedName, folded: FoldedName?) -> [X509Certificate] {
        certificates[Self.key(subject, folded)] ?? []
    }

    private static func key(_ name: DistinguishedName, _ folded: FoldedName?) -> OctetString {
        OctetString(folded.map { $0.octets[...] } ?? name.der)
    }

    /// The first second after a time at which a list begins to count or no longer counts.
    func nextChange(after time: Int64) -> Int64 {
        lists.values.joined().flatMap { [$0.thisUpdateSeconds, $0.endSecond ?? .max] }.filter { $0 > time }.min()
            ?? .max
    }

    /// Whether anything is checked at all.
    var isChecked: Bool { unknownLeaf == .fails || unknownIssuer == .fails || !lists.isEmpty }
}

extension Revocation: RevocationSource {
    /// This value itself; it does not change.
    public var current: Revocation { self }

    fileprivate static let unchecked = Revocation(
        lists: [], certificates: [], leaf: .passesWithoutList, issuer: .passesWithoutList)
}

extension RevocationSource where Self == Revocation {
    /// Revocation is not checked.
    public static var none: Revocation { Revocation.unchecked }

    /// Certificates are checked against the lists of their issuer.
    ///
    /// A list counts if the issuer's key signed it, or the key of another certificate of the issuer's name: the
    /// authority's new or old key, or a key that signs only lists. That certificate must be among those that were
    /// presented or among `certificates`, and its own path must lead to the same anchor.
    ///
    /// A list that names the issuer but cannot be used (its signature does not verify, its signer may not sign lists,
    /// its nextUpdate has passed, or its kind is not understood) states no status. If a certificate has only such
    /// lists, it is refused.
    /// - Parameters:
    ///   - lists: any number for each issuer.
    ///   - certificates: certificates of list signers, and of issuers above these; this does not make them trusted.
    ///   - isRequired: whether certificates without a list are refused.
    public static func crls(
        _ lists: [CertificateRevocationList], certificates: [X509Certificate] = [], isRequired: Bool = false
    ) -> Revocation {
        let unknown: Revocation.UnknownStatus = isRequired ? .fails : .passesWithoutList
        return Revocation(lists: lists, certificates: certificates, leaf: unknown, issuer: unknown)
    }

    /// Certificates are checked against the lists of their issuer, with one rule for leaves of unknown status and
    /// another for issuers; see ``crls(_:certificates:isRequired:)``.
    /// - Parameters:
    ///   - lists: any number for each issuer.
    ///   - certificates: certificates of list signers, and of issuers above these; this does not make them trusted.
    ///   - unknownLeaf: the rule for a leaf whose status is unknown.
    ///   - unknownIssuer: the rule for an issuer whose status is unknown.
    public static func crls(
        _ lists: [CertificateRevocationList], certificates: [X509Certificate] = [],
        unknownLeaf: Revocation.UnknownStatus,
        unknownIssuer: Revocation.UnknownStatus
    ) -> Revocation {
        Revocation(lists: lists, certificates: certificates, leaf: unknownLeaf, issuer: unknownIssuer)
    }
}
