/// The authority whose lists are expected at a place. It verifies a list before it is stored; path validation verifies
/// it again before it counts (RFC 5280 6.3.3 (f), (g)).
struct RevocationAuthority: Sendable, Hashable {
    /// The authority whose certificates the lists cover.
    let issuer: X509Certificate
    /// The anchor to which the paths of other signers must lead: the end of the issuer's own path.
    let anchor: X509Certificate
    /// The certificates that name the place.
    var certificates: NamingCertificates

    /// The signer of a list.
    enum Signer {
        /// A signer with this ``X509Certificate/keyIdentity``.
        case known(OctetString)
        /// The name of the algorithm or kind of key because of which the list was not verified.
        case unsupported(String)
        /// The reason why the list is not the authority's.
        case none(String)
    }

    /// The signer of one of this authority's lists.
    /// - Parameters:
    ///   - certificates: the certificates of list signers, and of issuers above these.
    ///   - time: Unix seconds, within the validity of other signers.
    func signer(of list: RevocationListHeader, knowing certificates: [X509Certificate], at time: Int64) -> Signer {
        guard list.issuer.matches(issuer.subject) else { return .none("a list of another issuer") }
        let request = PathSearch.Request(
            chain: PresentedChain([issuer.der]), anchors: TrustAnchors([anchor]),
            rules: PathRules.rules(of: .standard), profile: .standard,
            revocation: .crls([], certificates: certificates), certificatePolicies: .any,
            context: PathRuleContext(time: time, isServer: false, checksValidity: true, publicSuffixes: nil), host: nil)
        var search = PathSearch(request, meter: WorkMeter(ValidationLimits())) { _ in false }
        return search.signer(of: list, for: self)
    }
}

extension PathSearch {
    fileprivate mutating func signer(
        of list: RevocationListHeader, for authority: RevocationAuthority
    ) -> RevocationAuthority.Signer {
        var issuers = [add(authority.issuer, isAnchor: authority.issuer == authority.anchor)]
        if authority.issuer != authority.anchor { issuers.append(add(authority.anchor, isAnchor: true)) }
        switch answer(of: list, about: nil, by: issuers[...]) {
        case .signed(let node, _): return .known(nodes[node].certificate.keyIdentity)
        case .unusable(let objection):
            return objection.isUnsupported ? .unsupported(objection.found) : .none(objection.found)
        case .overBudget(let what): return .none("a list whose signers are not found within \(what)")
        }
    }
}
