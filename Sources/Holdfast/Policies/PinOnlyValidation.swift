import struct Foundation.Date

/// Decides by pins alone: the pinned certificates are the only anchors, and no certificate's validity counts.
///
/// It searches the presented certificates for pins, to end a path there. As everywhere, ``PinSet/match(in:at:)``
/// decides whether the path matches.
struct PinOnlyValidation {
    let pins: PinSet
    /// Pinned certificates that the configuration contains, so that the server need not send them.
    let certificates: [X509Certificate]
    let purpose: ValidationPurpose
    /// Whether pins count only for the server's own certificate, because the host is not checked.
    let leafOnly: Bool

    func decide(_ draft: inout DecisionDraft) -> TrustDecision {
        let before = draft.spent
        var spent = before
        let verdict = Result { () throws(TrustFailure) in
            try pinnedPath(of: draft.trust.chain, at: draft.time, under: draft.trust.validator, &spent)
        }
        draft.charge(spent - before)
        switch verdict {
        case .success(let (path, match)):
            draft.restsOnWhat(endsAt: match.holdsUntil)
            return draft.trusted(path: path, matching: match.pins)
        case .failure(let failure):
            if failure.code == .pinMismatch { draft.findings.append(.mismatch(pins.enforcement)) }
            return draft.rejected(failure)
        }
    }

    /// The path from the leaf to a pinned issuer, or the pinned leaf alone.
    private func pinnedPath(
        of chain: PresentedChain, at time: Date, under validator: any ChainValidator, _ spent: inout ValidationEffort
    ) throws(TrustFailure) -> (ValidatedPath, PinMatch) {
        guard let own = validator.pathValidator else { throw Self.silentValidator }
        let revocation = own.revocation
        if let violation = own.sizeViolation(of: chain) { throw violation.failure(host: purpose.host, chain: chain) }
        let leaf = try Self.leaf(of: chain, &spent)
        if let match = pins.match(in: ValidatedPath(uncheckedLeaf: leaf), at: time) {
            if revocation.isChecked {
                let isKnown = certificates.contains(leaf) || match.pins.contains { $0.subject == .certificate }
                let failure = own.revocationFailure(
                    ofTrusted: leaf, isKnown: isKnown, in: chain, knowing: certificates, under: revocation,
                    at: time, effort: &spent)
                if let failure { throw failure }
            }
            // The pinned leaf is its own anchor, and the handshake proves its key, so a path of one needs no more.
            // Validity does not count here.
            let seconds = time.wholeSeconds
            let end = revocation.isChecked ? Date(end: revocation.nextChange(after: seconds)) : .distantFuture
            return (ValidatedPath(uncheckedLeaf: leaf, holdsUntil: end), match)
        }
        if let failure = pins.unstablePin(of: [leaf]) { throw failure }
        return try pathToPinnedIssuer(of: chain, at: time, own, revocation, &spent)
    }

    private static func leaf(
        of chain: PresentedChain, _ spent: inout ValidationEffort
    ) throws(TrustFailure) -> X509Certificate {
        spent.work += X509Certificate.readingWork(chain.leaf?.count ?? 0)
        do throws(CertificateError) {
            let leaf = try X509Certificate(der: chain.leaf ?? [])
            spent.work += leaf.hashingWork
            return leaf
        } catch {
            throw TrustFailure(.unreadableCertificate, expected: "a leaf that is \(error.expected)", found: error.found)
        }
    }

    private func pathToPinnedIssuer(
        of chain: PresentedChain, at time: Date, _ own: PathValidator, _ revocation: Revocation,
        _ spent: inout ValidationEffort
    ) throws(TrustFailure) -> (ValidatedPath, PinMatch) {
        let pinned = pinnedIssuers(presentedIn: chain, at: time, effort: &spent)
        guard !pinned.isEmpty || !certificates.isEmpty else {
            throw Self.mismatch(found: "neither the leaf nor an issuer")
        }
        let query = PathValidator.Query(
            chain: chain, purpose: purpose.checkingHost(!leafOnly), time: time.wholeSeconds,
            revocation: revocation, isTrusted: { pinned.contains($0) }, spent: spent)
        var trace: [RuleOutcome]?
        var accepted: (path: ValidatedPath, match: PinMatch)?
        let outcome = own.ignoringValidity(to: TrustAnchors(certificates)).search(query, trace: &trace) { path in
            accepted = pins.match(in: path, at: time, leafOnly: leafOnly).map { (path, $0) }
            return accepted != nil
        }
        spent = outcome.effort
        if let accepted { return accepted }
        if !outcome.otherPaths.isEmpty, outcome.failure == nil {
            throw pins.mismatch(in: outcome.otherPaths, at: time, leafOnly: leafOnly)
        }
        guard let failure = outcome.failure, failure.code != .unknownIssuer else {
            throw Self.mismatch(found: "pinned certificates that did not issue the leaf")
        }
        throw failure
    }

    /// The presented certificates above the leaf that are pinned. A path to one of them must still satisfy every rule
    /// for issuers.
    private func pinnedIssuers(
        presentedIn chain: PresentedChain, at time: Date, effort: inout ValidationEffort
    ) -> Set<X509Certificate> {
        var pinned: Set<X509Certificate> = []
        for der in chain.certificates.dropFirst() {
            effort.work += X509Certificate.readingWork(der.count)
            guard let certificate = try? X509Certificate(der: der) else { continue }
            effort.work += certificate.hashingWork
            // The path determines its position above the leaf.
            let rules = pins.rules(of: certificate, isLeaf: false, at: time) { $0.coversIssuers }
            if !rules.isEmpty { pinned.insert(certificate) }
        }
        return pinned
    }

    private static let silentValidator = TrustFailure(
        .invalidConfiguration, expected: "a validator that says what it checks where pins alone decide",
        found: "one whose pathValidator is nil",
        remedy: "Return the PathValidator that it wraps, or a plain one, from ChainValidator.pathValidator.")

    private static func mismatch(found: String) -> TrustFailure {
        TrustFailure(.pinMismatch, expected: "a pinned leaf, or a pinned issuer that signed for it", found: found)
    }
}
