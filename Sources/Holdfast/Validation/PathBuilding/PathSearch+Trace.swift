extension PathSearch {
    /// Checks the path that the search found, or else the certificates that come closest to one, with the search's own
    /// checks: each rule for each certificate, leaf first, even after a rule is broken.
    mutating func trace() -> [RuleOutcome] {
        let path = firstValid ?? nearestPath()
        var traced: [RuleOutcome] = []
        var intermediates = 0
        for (place, node) in path.enumerated() {
            let certificate = nodes[node].certificate
            let isAnchor = nodes[node].isAnchor || place == 0 && path.count == 1 && isOwnPath(node)
            func add(_ name: String, _ reference: String, _ violation: Violation?) {
                traced.append(outcome(name, reference, certificate, violation))
            }
            context.isAnchor = isAnchor && place > 0
            for rule in place == 0 ? request.rules.leaf : request.rules.issuer {
                add(rule.name, rule.reference, rule.violation(of: certificate, in: context))
            }
            if place == 0, let host = request.host {
                add("server identity", "RFC 9525 6", ServerIdentity.violation(of: certificate, for: host))
            }
            let below = Array(path[..<place])
            if place > 0 {
                let length = outcome(of: .pathLength, of: node, above: below, intermediates: intermediates)
                add(PathLengthRule.name, PathLengthRule.reference, length.violation)
                if !certificate.isSelfIssued { intermediates += 1 }
                if certificate.value(of: .nameConstraints) != nil {
                    let names = outcome(of: .nameConstraints, of: node, above: below, intermediates: intermediates)
                    add("names below", "RFC 5280 6.1.4 (g)", names.violation)
                }
            }
            if isAnchor {
                let certificates = path[...place].map { nodes[$0].certificate }
                let violation = PolicyCheck.violation(
                    of: certificates, requiring: request.certificatePolicies, meter: &meter)
                if violation != nil || request.certificatePolicies.requiresExplicitPolicy {
                    add(PolicyCheck.name, PolicyCheck.reference, violation)
                }
                add("trust anchor", "RFC 5280 6.1.1 (d)", nil)
                break
            }
            guard place + 1 < path.count else {
                add("trust anchor", "RFC 5280 6.1.1 (d)", Self.unknownIssuer(of: certificate))
                break
            }
            let (issuer, upToHere) = (path[place + 1], Array(path[...place]))
            let signature = outcome(of: .signature, of: issuer, above: upToHere, intermediates: intermediates)
            add(
                SignatureRule.name, SignatureRule.reference,
                SignatureRule.algorithmViolation(of: certificate) ?? signature.violation)
            if request.revocation.isChecked {
                var findings: [RuleOutcome]? = []
                let status = revocationOutcome(at: place, of: path, findings: &findings)
                traced += findings ?? []
                add(Self.revocationRule, Self.revocationReference, status.violation)
            }
            if place == 0, request.transparency != nil {
                add(TransparencyCheck.name, TransparencyCheck.reference, transparencyViolation(of: path))
            }
        }
        return traced
    }

    func outcome(
        _ name: String, _ reference: String, _ certificate: X509Certificate, _ violation: Violation?
    ) -> RuleOutcome {
        RuleOutcome(
            rule: name, reference: reference, certificate: certificate,
            failure: violation?.failure(host: request.host, chain: request.chain))
    }

    private func isOwnPath(_ node: Int) -> Bool { request.anchors.contains(nodes[node].certificate) }

    /// Follows the issuers' names from the leaf as the search does, within its limits, and prefers issuers that really
    /// signed.
    private mutating func nearestPath() -> [Int] {
        guard !nodes.isEmpty else { return [] }
        var path = [0]
        if isOwnPath(0) { return path }
        while let last = path.last, !nodes[last].isAnchor, path.count <= limits.intermediates + 1 {
            let named = NameComparison.allCases.flatMap { candidates(for: last, by: $0) ?? [] }
                .filter { candidate in !path.contains { nodes[$0].authority == nodes[candidate].authority } }
            let signer = named.first { candidate in
                outcome(of: .signature, of: candidate, above: path, intermediates: 0).violation == nil
            }
            guard let next = signer ?? named.first else { break }
            path.append(next)
        }
        return path
    }
}
