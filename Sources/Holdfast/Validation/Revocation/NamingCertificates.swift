/// The certificates that name a place of revocation lists, in the detail that the scope of a list distinguishes (RFC
/// 5280 5.2.5).
///
/// Revocation lists often travel unprotected, so anyone on the network path can replay any list that the authority has
/// ever signed. A list counts for a place only if it covers at least one of these certificates.
struct NamingCertificates: Sendable, Hashable {
    /// For a place that the configuration names: no certificate is known.
    static let any = NamingCertificates(endEntities: [], authorities: [])

    /// The names of the distribution points of end entities; empty if no end entity names the place.
    private var endEntities: Set<DistributionPointName>
    /// The names of the distribution points of CAs; empty if no CA names the place.
    private var authorities: Set<DistributionPointName>

    /// The maximum number of names that are kept of one place.
    private static let maximumNames = 256

    private init(endEntities: Set<DistributionPointName>, authorities: Set<DistributionPointName>) {
        (self.endEntities, self.authorities) = (endEntities, authorities)
    }

    /// Makes the value of one certificate.
    /// - Parameters:
    ///   - isAuthority: whether it is a CA's.
    ///   - pointNames: the names of its distribution points, see ``CertificateDistributionPoints/names``.
    init(isAuthority: Bool, pointNames: Set<DistributionPointName>) {
        self.init(endEntities: isAuthority ? [] : pointNames, authorities: isAuthority ? pointNames : [])
    }

    /// Whether nothing is known about the certificates.
    private var isAny: Bool { endEntities.isEmpty && authorities.isEmpty }

    /// Adds other certificates.
    /// - Returns: whether they have names that were not known.
    mutating func formUnion(_ others: NamingCertificates) -> Bool {
        guard !isAny, endEntities.count + authorities.count < Self.maximumNames,
            !others.endEntities.isSubset(of: endEntities) || !others.authorities.isSubset(of: authorities)
        else { return false }
        endEntities.formUnion(others.endEntities)
        authorities.formUnion(others.authorities)
        return true
    }

    /// The reason why a list covers none of the certificates; nil if it covers one.
    func objection(to scope: RevocationListHeader.Scope) -> String? {
        guard !isAny, Kind.allCases.allSatisfy({ names(of: $0, coveredBy: scope).isEmpty }) else { return nil }
        if scope.onlyAuthorities, authorities.isEmpty { return "a list for CAs alone" }
        if scope.onlyEndEntities, endEntities.isEmpty { return "a list for end entities alone" }
        return "a list of another distribution point"
    }

    /// Whether a list of one scope covers all of these certificates that a list of another scope covers.
    func isScope(_ one: RevocationListHeader.Scope, asWideAs other: RevocationListHeader.Scope) -> Bool {
        guard !isAny else { return one.contains(other) }
        return Kind.allCases.allSatisfy { kind in
            names(of: kind, coveredBy: other).isSubset(of: names(of: kind, coveredBy: one))
        }
    }

    private enum Kind: CaseIterable { case endEntity, authority }

    /// The names of the certificates of a kind that a list covers.
    private func names(of kind: Kind, coveredBy scope: RevocationListHeader.Scope) -> Set<DistributionPointName> {
        let isExcluded = kind == .authority ? scope.onlyEndEntities : scope.onlyAuthorities
        guard !isExcluded else { return [] }
        let names = kind == .authority ? authorities : endEntities
        return scope.distributionPoint.isEmpty ? names : names.intersection(scope.distributionPoint)
    }
}
