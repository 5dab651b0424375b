extension PathSearch {
    /// The comparison of an issuer's name with the names of certificates. The bytes are nearly always the same, so the
    /// costlier comparison of RFC 5280 7.1 is used only if that found nothing.
    enum NameComparison: CaseIterable {
        case octets, folded
    }

    /// A name and a key. All bytes are hashed, because an attacker can make many certificates with the same end.
    struct Authority: Hashable {
        let name: ArraySlice<UInt8>
        let key: ArraySlice<UInt8>

        func hash(into hasher: inout Hasher) {
            hasher.combine(octets: name)
            hasher.combine(octets: key)
        }
    }

    /// Certificates with the issuer's name: anchors first, then presented ones whose key identifier matches; nil if the
    /// budget is not sufficient.
    mutating func candidates(for node: Int, by comparison: NameComparison) -> [Int]? {
        let known = comparison == .octets ? nodes[node].issuersByOctets : nodes[node].issuersFolded
        if let known { return known }
        let certificate = nodes[node].certificate
        let issuer = certificate.issuer
        guard meter.spend(octets: issuer.der.count) else { return nil }
        var anchors: [X509Certificate] = []
        var others: [Int] = []
        switch comparison {
        case .octets:
            anchors = request.anchors.named(issuer)
            guard let presented = presentedIssuers() else { return nil }
            others = presented[issuer] ?? []
        case .folded:
            guard let folded = foldedIssuer(of: node), let presented = foldedIssuers() else { return nil }
            if let name = folded {
                anchors = request.anchors.namedAlike(name)
                others = presented[name] ?? []
                let length = issuer.der.count / WorkMeter.octetsOfUnit
                guard meter.spend((anchors.count + others.count) * (1 + length)) else { return nil }
                anchors.removeAll { $0.subject == issuer }
                others.removeAll { nodes[$0].certificate.subject == issuer }
            }
        }
        var ends = anchors.map { anchorNode($0) }
        if !others.isEmpty {
            // An anchor that was also presented is found as an anchor.
            let length = certificate.layout.der.count / WorkMeter.octetsOfUnit
            guard meter.spend(others.count * (1 + anchors.count * (1 + length))) else { return nil }
            others.removeAll { $0 == node || anchors.contains(nodes[$0].certificate) }
            ends += others.filter { nodes[$0].isAnchor }
            others.removeAll { nodes[$0].isAnchor }
        }
        let keyIdentifier = certificate.authorityKeyIdentifier
        guard meter.spend((ends.count + others.count) * (2 + (keyIdentifier?.count ?? 0) / WorkMeter.octetsOfUnit))
        else { return nil }
        var found = inOrder(ends, of: keyIdentifier)
        found += inOrder(others, of: keyIdentifier)
        switch comparison {
        case .octets: nodes[node].issuersByOctets = found
        case .folded: nodes[node].issuersFolded = found
        }
        return found
    }

    /// Sorts certificates: first those with the key identifier, then those without one, then those with another.
    func inOrder(_ candidates: [Int], of keyIdentifier: ArraySlice<UInt8>?) -> [Int] {
        guard candidates.count > 1, let keyIdentifier else { return candidates }
        var (same, none, other): ([Int], [Int], [Int]) = ([], [], [])
        for one in candidates {
            switch nodes[one].certificate.subjectKeyIdentifier {
            case keyIdentifier?: same.append(one)
            case nil: none.append(one)
            default: other.append(one)
            }
        }
        return same + none + other
    }

    /// Reads the other presented certificates when an issuer is first needed; nil if the budget is not sufficient.
    mutating func presentedIssuers() -> SmallDictionary<DistinguishedName, [Int]>? {
        if let presented { return presented }
        var bySubject = SmallDictionary<DistinguishedName, [Int]>()
        var seen: Set<OctetString> = []
        let leaf = nodes[0].certificate.der
        // Two certificates are compared, because that is cheaper than hashing both.
        let isHashed = request.chain.certificates.count > 2
        if isHashed { seen.insert(OctetString(leaf[...])) }
        for (position, der) in request.chain.certificates.enumerated().dropFirst() {
            guard meter.spend(octets: der.count) else { return nil }
            let isNew = isHashed ? seen.insert(OctetString(der[...])).inserted : der != leaf
            guard isNew else { continue }
            guard meter.spend(X509Certificate.readingWork(der.count)) else { return nil }
            do throws(CertificateError) {
                let certificate = try X509Certificate(der: der)
                let node = add(certificate, isAnchor: request.isTrusted?(certificate) ?? false)
                bySubject[certificate.subject] = (bySubject[certificate.subject] ?? []) + [node]
            } catch {
                unusable.append(UnusableCertificate(position: position, reason: error))
            }
        }
        presented = bySubject
        return bySubject
    }

    mutating func foldedIssuers() -> [FoldedName: [Int]]? {
        if let presentedFolded { return presentedFolded }
        guard let presented = presentedIssuers() else { return nil }
        var bySubject: [FoldedName: [Int]] = [:]
        for (subject, issuers) in presented.elements {
            var work = 0
            let folded = subject.folded(work: &work)
            guard meter.account(work) else { return nil }
            if let folded { bySubject[folded, default: []] += issuers }
        }
        // Certificates with different bytes are joined in the order of the chain.
        bySubject = bySubject.mapValues { $0.sorted() }
        presentedFolded = bySubject
        return bySubject
    }

    /// The folded name of a node's issuer. Outer nil if the budget is not sufficient; inner nil for a name that cannot
    /// be folded.
    mutating func foldedIssuer(of node: Int) -> FoldedName?? {
        if let known = nodes[node].foldedIssuer { return .some(known) }
        var work = 0
        let folded = nodes[node].certificate.issuer.folded(work: &work)
        nodes[node].foldedIssuer = .some(folded)
        return meter.account(work) ? .some(folded) : nil
    }

    private mutating func anchorNode(_ certificate: X509Certificate) -> Int {
        nodes.indices.first { nodes[$0].isAnchor && nodes[$0].certificate == certificate }
            ?? add(certificate, isAnchor: true)
    }

    mutating func add(_ certificate: X509Certificate, isAnchor: Bool) -> Int {
        let name = Authority(name: certificate.subject.der, key: certificate.subjectPublicKeyInfo)
        let node = nodes.count
        let known = authorities[name]
        if known == nil { authorities[name] = node }
        nodes.append(Node(certificate: certificate, isAnchor: isAnchor, authority: known ?? node))
        return node
    }
}
