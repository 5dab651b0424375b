/// The extensions by which authorities state the policies of certificates and constrain those below (RFC 5280 4.2.1.4,
/// 4.2.1.5, 4.2.1.11, 4.2.1.14). Policies are the content bytes of their identifiers.
struct PolicyExtensions: Sendable {
    typealias Policy = OctetString

    /// The policies of certificatePolicies; nil if the certificate does not have the extension.
    let policies: [Policy]?
    /// The first policy qualifier that is neither a CPS pointer nor a user notice, if certificatePolicies is critical.
    let unknownQualifier: Policy?
    /// The mappings of policyMappings, each from a policy of the issuer to one of the subject.
    let mappings: [(from: Policy, to: Policy)]
    /// The number of further certificates after which a policy must be valid (requireExplicitPolicy).
    let requireExplicitPolicy: Int?
    /// The number of further certificates after which policies may not be mapped.
    let inhibitPolicyMapping: Int?
    /// The number of further certificates after which anyPolicy is ignored.
    let inhibitAnyPolicy: Int?

    /// 2.5.29.32.0
    static let anyPolicy = Policy([0x55, 0x1D, 0x20, 0x00])

    init(of certificate: X509Certificate) throws(DERError) {
        let der = certificate.layout.der
        let isCritical = certificate.layout.extensions.contains { $0.known == .certificatePolicies && $0.isCritical }
        var unknown: Policy?
        policies = try Self.list(certificate.value(of: .certificatePolicies), of: der) { fields throws(DERError) in
            let policy = Policy(der[try fields.next(DERTag.objectIdentifier).content])
            if let qualifiers = try fields.nextIfPresent(DERTag.sequence), isCritical, unknown == nil {
                unknown = try Self.unknownQualifier(in: fields.inside(qualifiers))
            }
            return policy
        }
        unknownQualifier = unknown
        let mappings = try Self.list(certificate.value(of: .policyMappings), of: der) { fields throws(DERError) in
            let from = Policy(der[try fields.next(DERTag.objectIdentifier).content])
            return (from, Policy(der[try fields.next(DERTag.objectIdentifier).content]))
        }
        self.mappings = mappings ?? []
        (requireExplicitPolicy, inhibitPolicyMapping) = try Self.constraints(of: certificate)
        inhibitAnyPolicy = try certificate.value(of: .inhibitAnyPolicy).map { value throws(DERError) in
            try Self.count(try DERReader.only(DERTag.integer, of: der, in: value), of: der)
        }
    }

    /// id-qt, 1.3.6.1.5.5.7.2
    private static let qualifiers: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x02]

    /// The first qualifier that is not understood: RFC 5280 4.2.1.4 defines id-qt-cps, 1, and id-qt-unotice, 2.
    private static func unknownQualifier(in list: consuming DERReader) throws(DERError) -> Policy? {
        while !list.isAtEnd {
            var fields = list.inside(try list.next(DERTag.sequence))
            let identifier = fields.bytes[try fields.next(DERTag.objectIdentifier).content]
            guard identifier.dropLast().elementsEqual(qualifiers), identifier.last == 1 || identifier.last == 2 else {
                return Policy(identifier)
            }
        }
        return nil
    }

    private static func constraints(of certificate: X509Certificate) throws(DERError) -> (Int?, Int?) {
        guard let value = certificate.value(of: .policyConstraints) else { return (nil, nil) }
        let der = certificate.layout.der
        var fields = try DERReader(sequence: der, in: value)
        guard !fields.isAtEnd else {
            throw DERError(.invalidValue("policyConstraints without a constraint"), at: fields.position)
        }
        var counts: [Int?] = [nil, nil]
        for number in 0..<2 as Range<UInt8> {
            guard let field = try fields.nextIfPresent(DERTag.context(number)) else { continue }
            counts[Int(number)] = try count(field, of: der)
        }
        try fields.finish()
        return (counts[0], counts[1])
    }

    /// A SkipCerts; values beyond the length of any path are clamped.
    private static func count(_ element: DERReader.Element, of der: [UInt8]) throws(DERError) -> Int {
        let octets = der[element.content]
        guard let first = octets.first, first < 0x80 else {
            throw DERError(.invalidValue("a number of certificates that is negative"), at: element.encoded.lowerBound)
        }
        // X.690 8.3.2; otherwise a padded zero would pass for a large number.
        if first == 0, let second = octets.dropFirst().first, second < 0x80 {
            throw DERError(.invalidValue("a number of certificates that is padded"), at: element.encoded.lowerBound)
        }
        return octets.count > 3 ? 1 << 24 : octets.reduce(0) { $0 << 8 | Int($1) }
    }

    private static func list<Item>(
        _ value: Range<Int>?, of der: [UInt8], item: (inout DERReader) throws(DERError) -> Item
    ) throws(DERError) -> [Item]? {
        guard let value else { return nil }
        var list = try DERReader(sequence: der, in: value)
        guard !list.isAtEnd else { throw DERError(.invalidValue("an empty list of policies"), at: list.position) }
        var items: [Item] = []
        while !list.isAtEnd {
            var fields = list.inside(try list.next(DERTag.sequence))
            items.append(try item(&fields))
            try fields.finish()
        }
        return items
    }
}
