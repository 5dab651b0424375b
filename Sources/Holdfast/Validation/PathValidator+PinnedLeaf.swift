import struct Foundation.Date

extension PathValidator {
    /// Whether the lists that were given refuse a certificate that is trusted for itself, such as a pinned leaf. It needs
    /// no issuer, but who issued it may have withdrawn it; nil where nobody has.
    ///
    /// A list counts if its issuer is known, from the chain, the anchors or the configuration. Where lists name the issuer
    /// and he is not known, nobody can say; a peer could otherwise hide that it was revoked by leaving him out.
    /// - Parameters:
    ///   - isKnown: whether the certificate itself is pinned. Of one of which only the key is pinned, the rest is the word
    ///     of whoever has the key: he can wrap it anew.
    ///   - certificates: issuers from the configuration.
    func revocationViolation(
        ofTrusted leaf: X509Certificate, isKnown: Bool, in chain: PresentedChain,
        knowing certificates: [X509Certificate], at time: Date, effort: inout ValidationEffort
    ) -> Violation? {
        // Nobody else speaks of what vouches for itself; where somebody has to, one that nobody knows does not count.
        if leaf.isSelfIssued {
            if isKnown { return nil }
            if !revocation.isRequired, SignatureRule.violation(of: leaf, by: leaf) == nil { return nil }
        }
        let presented = chain.certificates.dropFirst().compactMap { try? X509Certificate(der: $0) }
        let known = (presented + certificates).filter { $0.subject.matches(leaf.issuer) }
        let trusted =
            anchors.named(leaf.issuer) + (leaf.issuer.comparableOctets.map { anchors.namedAlike($0) } ?? [])
        let issuers = TrustAnchors((known + trusted).filter { $0 != leaf })
        var search = PathSearch(
            PresentedChain([leaf.der]), anchors: issuers, limits: limits, rules: [], revocation: revocation,
            context: context(for: .server(identity: nil), at: Self.wholeSeconds(time)), accepting: { _ in true })
        let violation = search.run(from: leaf)
        effort += search.effort
        guard let violation else { return nil }
        switch violation.code {
        case .revoked, .revocationUnknown, .budgetExceeded:
            return violation
        default:
            guard revocation.isRequired || !revocation.lists(of: leaf.issuer).isEmpty else { return nil }
            return Violation(.revocationUnknown, leaf) {
                ("a revocation list of an issuer that is known and signed for the leaf", "none")
            }
        }
    }
}
