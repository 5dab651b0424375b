import struct Foundation.Date

extension PathValidator {
    /// The failure if the given lists refuse a certificate that is itself trusted, such as a pinned leaf; nil if it is
    /// not revoked. The leaf needs no issuer, but its issuer may have revoked it.
    ///
    /// A list counts if its issuer is known, from the chain, the anchors or the configuration. If lists name an unknown
    /// issuer, the status is unknown; otherwise a peer could hide a revocation by leaving the issuer out.
    /// - Parameters:
    ///   - isKnown: whether the certificate itself is pinned. If only its key is pinned, the holder of the key chose
    ///     the other fields, and can put the key into another certificate.
    ///   - certificates: issuers from the configuration.
    ///   - revocation: the current lists.
    func revocationFailure(
        ofTrusted leaf: X509Certificate, isKnown: Bool, in chain: PresentedChain,
        knowing certificates: [X509Certificate], under revocation: Revocation, at time: Date,
        effort: inout ValidationEffort
    ) -> TrustFailure? {
        // Only a self-signed certificate needs no status from other authorities. If a status is required, an unknown
        // one is refused.
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
        // Any known issuer that signed the leaf can revoke it, regardless of the source of its certificate.
        let name = leaf.issuer.folded
        let configured = certificates.filter { $0.subject == leaf.issuer || name != nil && $0.subject.folded == name }
        let issuers = chain.certificates.dropFirst() + configured.map(\.der)
        let query = Query(
            chain: PresentedChain([leaf.der] + issuers), purpose: .server(identity: nil),
            time: time.wholeSeconds, revocation: revocation, isTrusted: { $0 != leaf }, skipsRules: true, spent: effort)
        var trace: [RuleOutcome]?
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
