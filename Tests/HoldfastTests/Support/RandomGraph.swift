import HoldfastTesting

/// A certificate of a random graph: the facts that the oracle uses, and the DER that Holdfast uses.
struct GraphCertificate: Sendable {
    /// Names are numbers; `upper` writes them in capitals, which is the same name by RFC 5280 7.1.
    var subject = 0
    var issuer = 0
    var upperSubject = false
    var upperIssuer = false
    /// The key of the subject and the key that signed, each one of two for each name.
    var key = 0
    var signer = 0
    var isAuthority = true
    var isExpired = false
    var isForMailOnly = false
    var pathLength: Int?
    var excludedSubject: Int?
    var excludesHost = false
    /// Different for each certificate.
    var number = 0
    var der: [UInt8] = []

    var isSelfIssued: Bool { subject == issuer && upperSubject == upperIssuer }
}

/// Certificates of four names and eight keys, made once, of which graphs are drawn.
struct GraphPool {
    static let names = 5
    let leaves: [GraphCertificate]
    let authorities: [GraphCertificate]
    let keys: [TestKey]

    init(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        keys = try (0..<Self.names * 2 + 1).map { _ in try TestKey(.p256) }
        var (leaves, authorities): ([GraphCertificate], [GraphCertificate]) = ([], [])
        for _ in 0..<24 { leaves.append(try Self.make(isLeaf: true, keys: keys, using: &generator)) }
        for _ in 0..<260 { authorities.append(try Self.make(isLeaf: false, keys: keys, using: &generator)) }
        for place in authorities.indices { authorities[place].number = place + 1 }
        (self.leaves, self.authorities) = (leaves, authorities)
    }

    private static func make(isLeaf: Bool, keys: [TestKey], using generator: inout SplitMix64) throws
        -> GraphCertificate
    {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
        var one = GraphCertificate()
        one.subject = Int.random(in: 0..<names, using: &generator)
        one.issuer = Int.random(in: 0..<names, using: &generator)
        (one.upperSubject, one.upperIssuer) = (chance(12), chance(12))
        one.key = isLeaf ? keys.count - 1 : one.subject * 2 + (chance(90) ? 0 : 1)
        one.signer = one.issuer * 2 + (chance(90) ? 0 : 1)
        if !isLeaf {
            one.isExpired = chance(8)
            one.isAuthority = !chance(6)
            one.isForMailOnly = chance(6)
            if chance(35) { one.pathLength = Int.random(in: 0...2, using: &generator) }
            if chance(10) { one.excludedSubject = Int.random(in: 0..<names, using: &generator) }
            one.excludesHost = chance(4)
        }
        func name(_ number: Int, _ upper: Bool) -> TestName { .commonName(upper ? "NAME \(number)" : "name \(number)") }
        var specification =
            isLeaf
            ? CertificateSpecification.leaf(names: ["www.example.com"], subject: name(one.subject, one.upperSubject))
            : CertificateSpecification.intermediate(name(one.subject, one.upperSubject), pathLength: one.pathLength)
        specification.issuer = name(one.issuer, one.upperIssuer)
        specification.faults = [.signedBy(keys[one.signer])]
        if chance(50) { specification.authorityKeyIdentifier = .octets(keys[one.signer].keyIdentifier) }
        if chance(30) { specification.subjectKeyIdentifier = .absent }
        if one.isExpired { specification.notAfter = .hours(-1) }
        if !one.isAuthority { specification.basicConstraints = .init(isAuthority: false) }
        if one.isForMailOnly { specification.extendedKeyUsage = [.emailProtection] }
        var excluded: [TestGeneralName] = one.excludedSubject.map { [.directory(name($0, false))] } ?? []
        if one.excludesHost { excluded.append(.dns("example.com")) }
        if !excluded.isEmpty { specification.nameConstraints = .init(excluded: excluded) }
        one.der = try TestAuthority.selfSigned(specification, key: .existing(keys[one.key]), clock: Judge.clock).der
        return one
    }
}

/// Says by trying every path whether one is valid; it shares nothing with the search under test.
struct GraphOracle {
    let presented: [GraphCertificate]
    let anchors: [GraphCertificate]
    let maximumIntermediates: Int

    /// Whether a path from the leaf to an anchor that `wanted` allows keeps every rule.
    func hasPath(from leaf: GraphCertificate, to wanted: (GraphCertificate) -> Bool) -> Bool {
        extend([leaf], to: wanted)
    }

    private func extend(_ path: [GraphCertificate], to wanted: (GraphCertificate) -> Bool) -> Bool {
        if anchors.contains(where: { wanted($0) && mayFollow($0, path, isAnchor: true) }) { return true }
        // An anchor may be an intermediate below another.
        let isBelowAnother = anchors.contains { one in
            guard mayFollow(one, path, isAnchor: true), !path.contains(where: { $0.number == one.number }) else {
                return false
            }
            return extend(path + [one], to: wanted)
        }
        if isBelowAnother { return true }
        return presented.contains { one in
            guard mayFollow(one, path, isAnchor: false), !anchors.contains(where: { $0.number == one.number }),
                !path.contains(where: { $0.number == one.number })
            else { return false }
            return extend(path + [one], to: wanted)
        }
    }

    func mayFollow(_ issuer: GraphCertificate, _ path: [GraphCertificate], isAnchor: Bool) -> Bool {
        guard let last = path.last, last.issuer == issuer.subject, last.signer == issuer.key, issuer.isAuthority,
            !issuer.isExpired, !issuer.isForMailOnly
        else { return false }
        let below = path.dropFirst().count { !$0.isSelfIssued }
        guard below <= issuer.pathLength ?? .max,
            below + (isAnchor || issuer.isSelfIssued ? 0 : 1) <= maximumIntermediates
        else { return false }
        if issuer.excludesHost { return false }
        guard let excluded = issuer.excludedSubject else { return true }
        return !path.enumerated().contains { place, one in (place == 0 || !one.isSelfIssued) && one.subject == excluded
        }
    }
}
