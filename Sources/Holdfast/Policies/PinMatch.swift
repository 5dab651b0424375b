package import struct Foundation.Date

/// The part of a validated path that meets a ``PinSet``.
package struct PinMatch: Sendable, Hashable {
    /// The rules that matched, in the order of the path.
    package let rules: [PinRule]
    /// The first instant at which those rules no longer meet the requirement. A rule that ends later can replace one
    /// that ends earlier.
    package let holdsUntil: Date

    /// The pins of the rules, each once, in the order of the path.
    package var pins: [Pin] {
        var pins: [Pin] = []
        for rule in rules where !pins.contains(rule.pin) { pins.append(rule.pin) }
        return pins
    }
}

extension PinSet {
    /// Matches the requirement against a path. Only this function decides whether a path satisfies pins.
    /// - Parameters:
    ///   - path: a validated path, never the certificates as presented.
    ///   - time: the time at which pins must count.
    /// - Returns: the rules that matched; nil if the requirement is not met.
    package func match(in path: ValidatedPath, at time: Date) -> PinMatch? {
        match(in: path, at: time, leafOnly: false)
    }

    /// - Parameter leafOnly: whether pins count only for the server's own certificate. If the host is not checked, a
    ///   pinned issuer would accept any leaf that it issued.
    func match(in path: ValidatedPath, at time: Date, leafOnly: Bool) -> PinMatch? {
        var matched: [PinRule] = []
        var leafEnd = Date.distantPast
        var issuerEnd = Date.distantPast
        for (position, certificate) in path.certificates.enumerated() where position == 0 || !leafOnly {
            for rule in rules(of: certificate, isLeaf: position == 0, at: time, where: { $0.covers(position) }) {
                matched.append(rule)
                if position == 0 { leafEnd = max(leafEnd, rule.end) } else { issuerEnd = max(issuerEnd, rule.end) }
            }
        }
        guard !matched.isEmpty else { return nil }
        guard requirement == .oneOfEachRole else {
            return PinMatch(rules: matched, holdsUntil: max(leafEnd, issuerEnd))
        }
        guard min(leafEnd, issuerEnd) > .distantPast else { return nil }
        return PinMatch(rules: matched, holdsUntil: min(leafEnd, issuerEnd))
    }

    /// The rules that a certificate matches where they count.
    func rules(
        of certificate: X509Certificate, isLeaf: Bool, at time: Date, isCandidate: Bool = false,
        where covers: (PinRule.Place) -> Bool
    ) -> [PinRule] {
        var matched: [PinRule] = []
        for subject in subjects(ofLeaf: isLeaf) {
            // Servers present a Merkle Tree Certificate in several forms: a pin of one would match only by chance.
            guard let pin = try? certificate.pin(subject) else { continue }
            for rule in rules(matching: pin, at: time, isCandidate: isCandidate, where: covers)
            where isLeaf || rule.isForIssuer(certificate) { matched.append(rule) }
        }
        return matched
    }

    /// Whether a candidate would match a path; nil if the set has no candidates that count.
    func trial(in path: ValidatedPath, at time: Date) -> Bool? {
        guard rules.contains(where: { $0.isCandidate && $0.counts(at: time) }) else { return nil }
        return path.certificates.enumerated().contains { position, certificate in
            !rules(of: certificate, isLeaf: position == 0, at: time, isCandidate: true) { $0.covers(position) }.isEmpty
        }
    }

    /// The reason why valid paths do not meet the requirement.
    func mismatch(in paths: [ValidatedPath], at time: Date, leafOnly: Bool) -> TrustFailure {
        // A hostile chain may have hundreds of valid paths; the first few are enough of an explanation.
        let (count, paths) = (paths.count, paths.prefix(8))
        if leafOnly, paths.contains(where: { match(in: $0, at: time) != nil }) { return Self.issuerWithoutHost }
        if let failure = unstablePin(of: paths.lazy.flatMap(\.certificates)) { return failure }
        let places = Set(rules.lazy.filter { !$0.isCandidate && $0.counts(at: time) }.map(\.place))
        let expected =
            switch (requirement, places.contains { $0.coversLeaf }, places.contains { $0.coversIssuers }) {
            case (.oneOfEachRole, _, _): "a leaf pin and an issuer pin in a valid path"
            case (.any, _, _) where places == [.anywhere]: "one of the pins in a valid path"
            case (.any, true, false): "a pin of the server's own certificate or key"
            case (.any, false, _): "a pin of an issuer in a valid path"
            case (.any, true, true): "a pin of the server's own certificate or key, or of an issuer in a valid path"
            }
        if paths.contains(where: { trial(in: $0, at: time) == true }) {
            return TrustFailure(
                .pinMismatch, expected: expected, found: "a candidate alone, which is never accepted",
                remedy: "Make the candidate an active pin once it is to be accepted.")
        }
        // The most common mistake: the key is present, but in a role that differs from the document.
        let found =
            switch (paths.contains(where: hasPinsElsewhere), requirement) {
            case (true, .oneOfEachRole): "one of the two, or a pin in another role"
            case (true, .any): "a pin in another role"
            case (false, _): count == 1 ? "a valid path without one" : "\(count) valid paths without one"
            }
        return TrustFailure(.pinMismatch, expected: expected, found: found)
    }

    /// The reason why a pin of a whole certificate does not count although it fits; nil if no such pin fits.
    func unstablePin(of certificates: some Sequence<X509Certificate>) -> TrustFailure? {
        for certificate in certificates where certificate.isMerkleTreeCertificate {
            guard rules.contains(where: { $0.pin == certificate.certificatePin }) else { continue }
            do throws(PinError) {
                _ = try certificate.pin(.certificate)
            } catch {
                return TrustFailure(
                    .pinMismatch, expected: error.expected, found: error.found, remedy: error.remedy)
            }
        }
        return nil
    }

    /// Whether a path has accepted pins, no matter where they would count.
    private func hasPinsElsewhere(_ path: ValidatedPath) -> Bool {
        PinSet(known: rules.filter { !$0.isCandidate }.map { PinRule($0.pin) })
            .match(in: path, at: .distantPast) != nil
    }

    /// Whether a certificate has one of the pins, no matter where it would count. It is for reports about presented
    /// certificates, and does not affect decisions.
    package func names(_ certificate: X509Certificate) -> Bool {
        [true, false].contains { isLeaf in
            !rules(of: certificate, isLeaf: isLeaf, at: .distantPast) { isLeaf ? $0.coversLeaf : $0.coversIssuers }
                .isEmpty
        }
    }

    static let issuerWithoutHost = TrustFailure(
        .invalidConfiguration, expected: "a pin of the server's own certificate, since the host is not checked",
        found: "a pin of an issuer only", remedy: "Leave validatesHostName true, or pin the server's own certificate.")
}

extension PinRule {
    /// The depths in a static list are not signed. Above the leaf only a certificate authority counts, so that a leaf
    /// cannot be used as an issuer.
    fileprivate func isForIssuer(_ certificate: X509Certificate) -> Bool {
        guard case .depth = place else { return true }
        return (try? certificate.basicConstraints)?.isCertificateAuthority == true
    }
}
