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
    ///   - revocation: the lists of the moment.
    func revocationFailure(
        ofTrusted leaf: X509Certificate, isKnown: Bool, in chain: PresentedChain,
        knowing certificates: [X509Certificate], under revocation: Revocation, at time: Date,
        effort: inout ValidationEffort
    ) -> TrustFailure? {
        // Nobody else speaks of what vouches for itself; where somebody has to, one that nobody knows does not count.
        if leaf.isSelfIssued {
            if isKnown { return nil }
            if revocation.unknownLeaf != .fails {
                var meter = WorkMeter(limits, effort: effort)
                let work = (try? leaf.publicKey.verificationWork) ?? 0
                guard meter.spendSignature(work, hashing: leaf.layout.toBeSigned.count) else {
                    return PathSearch.budgetExceeded("the limits for signatures").failure(host: nil, chain: chain)
                }
                effort = meter.effort
                if SignatureRule.violation(of: leaf, by: leaf) == nil { return nil }
            }
        }
        // Whoever signed for the leaf and is known speaks of it, wherever he is known from.
        let name = leaf.issuer.folded
        let configured = certificates.filter { $0.subject == leaf.issuer || name != nil && $0.subject.folded == name }
        let issuers = chain.certificates.dropFirst() + configured.map(\.der)
        let query = Query(
            chain: PresentedChain([leaf.der] + issuers), purpose: .server(identity: nil),
            time: time.wholeSeconds, revocation: revocation, isTrusted: { $0 != leaf }, skipsRules: true, spent: effort)
        var trace: [PathSearch.TracedRule]?
        let outcome = search(query, trace: &trace) { _ in true }
        effort = outcome.effort
        guard outcome.path == nil else { return nil }
        switch outcome.failure?.code {
        case .revoked?, .revocationUnknown?, .budgetExceeded?, .chainTooLarge?:
            var failure = outcome.failure
            failure?.chain = chain
            return failure
        default:
            switch revocation.unknownLeaf {
            case .passes: return nil
            case .passesWithoutList: if revocation.lists(of: leaf.issuer).isEmpty { return nil }
            case .fails: break
            }
            let violation = Violation(
                .revocationUnknown, leaf, "a revocation list of an issuer that is known and signed for the leaf", "none"
            )
            return violation.failure(host: nil, chain: chain)
        }
    }
}
