import struct Foundation.Date

/// Decides by pins alone: the pinned certificates are the only anchors, and no certificate's validity counts.
struct PinOnlyValidation {
    private let matcher: PinMatcher
    /// Pinned certificates that are known from the configuration, so that the server need not send them.
    private let certificates: [X509Certificate]
    private let purpose: ValidationPurpose

    init(matcher: PinMatcher, certificates: [X509Certificate], purpose: ValidationPurpose) {
        self.matcher = matcher
        self.certificates = certificates
        self.purpose = purpose
    }

    func decide(_ draft: inout DecisionDraft) -> TrustDecision {
        let chain = draft.trust.chain
        guard let own = draft.trust.validator.pathValidator else { return draft.rejected(Self.silentValidator) }
        let revocation = own.revocation
        let empty = own.ignoringValidity(to: TrustAnchors([]))
        if let violation = empty.sizeViolation(of: chain) {
            return draft.rejected(violation.failure(host: purpose.host, chain: chain))
        }
        let leaf: X509Certificate
        draft.effort.work += X509Certificate.readingWork(chain.leaf?.count ?? 0)
        do throws(CertificateError) {
            leaf = try X509Certificate(der: chain.leaf ?? [])
        } catch {
            return draft.rejected(
                TrustFailure(.unreadableCertificate, expected: "a leaf that is \(error.expected)", found: error.found))
        }
        draft.effort.work += leaf.hashingWork
        let matched = matcher.pins(of: leaf)
        if !matched.isEmpty {
            let seconds = draft.time.wholeSeconds
            if revocation.isChecked {
                let isKnown = certificates.contains(leaf) || matched.contains { $0.subject == .certificate }
                let failure = own.revocationFailure(
                    ofTrusted: leaf, isKnown: isKnown, in: chain, knowing: certificates, under: revocation,
                    at: draft.time, effort: &draft.effort)
                if let failure { return draft.rejected(failure) }
            }
            // The pinned leaf is its own anchor, and the handshake has proved its key: there is no more to a path of one.
            // No certificate's validity counts here.
            let end = revocation.isChecked ? Date(end: revocation.unchanged(from: seconds).upperBound) : .distantFuture
            return draft.trusted(path: ValidatedPath(leaf: leaf, holdsUntil: end), matching: matched)
        }

        let pinned = pinnedIssuers(presentedIn: chain, effort: &draft.effort)
        guard !pinned.isEmpty || !certificates.isEmpty else {
            return draft.rejected(Self.mismatch(found: "neither the leaf nor an issuer"))
        }
        let validator = own.ignoringValidity(to: TrustAnchors(certificates))
        let query = PathValidator.Query(
            chain: chain, purpose: purpose.checkingHost(!matcher.leafOnly),
            time: draft.time.wholeSeconds, revocation: revocation, isTrusted: { pinned.contains($0) },
            spent: draft.effort)
        var trace: [PathSearch.TracedRule]?
        let outcome = validator.search(query, trace: &trace) { _ in true }
        draft.effort = outcome.effort
        if let path = outcome.path {
            let matched = matcher.matches(in: path)
            // Every anchor is pinned, so what does not count here is the pin of an issuer, for want of a host.
            guard !matched.isEmpty else { return draft.rejected(PinMatcher.issuerWithoutHost) }
            return draft.trusted(path: path, matching: matched)
        }
        guard let failure = outcome.failure, failure.code != .unknownIssuer else {
            return draft.rejected(Self.mismatch(found: "pinned certificates that did not issue the leaf"))
        }
        return draft.rejected(failure)
    }

    /// Whatever is pinned above the leaf of what was presented. Nothing is trusted for being presented; a path to one of
    /// them must still keep every rule for issuers.
    private func pinnedIssuers(
        presentedIn chain: PresentedChain, effort: inout ValidationEffort
    ) -> Set<X509Certificate> {
        var pinned: Set<X509Certificate> = []
        for der in chain.certificates.dropFirst() {
            effort.work += X509Certificate.readingWork(der.count)
            guard let certificate = try? X509Certificate(der: der) else { continue }
            effort.work += certificate.hashingWork
            if !matcher.pins(of: certificate).isEmpty { pinned.insert(certificate) }
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
