/// The extensions of a revocation list (RFC 5280 5.2) that determine what it can be used for.
struct RevocationListExtensions {
    private(set) var scope = CertificateRevocationList.Scope()
    private(set) var hasNumber = false
    private(set) var number: RevocationListNumber?
    private(set) var isDelta = false
    private(set) var baseNumber: RevocationListNumber?
    private(set) var keyIdentifier: Range<Int>?
    /// The first reason why the list cannot vouch for a certificate, apart from being a delta list.
    private(set) var flaw: String?

    mutating func note(_ reason: String) { flaw = flaw ?? reason }

    /// - Parameter issuer: the issuer of the list, whose name completes a relative name of its distribution point.
    mutating func read(_ explicit: consuming DERReader, issuer: DistinguishedName) throws(DERError) {
        let bytes = explicit.bytes
        var list = explicit.inside(try explicit.next(DERTag.sequence))
        try explicit.finish()
        var seen: Set<OctetString> = []
        while !list.isAtEnd {
            let one = try CertificateExtension.read(list.inside(try list.next(DERTag.sequence)))
            let identifier = bytes[one.identifier]
            if !seen.insert(OctetString(identifier)).inserted { note("a list with an extension twice") }
            switch Array(identifier) {
            case [0x55, 0x1D, 0x14]:  // cRLNumber
                hasNumber = true
                number = RevocationListNumber(one.value, of: bytes)
                if number == nil { note("a list whose cRLNumber is not a valid number") }
                // RFC 5280 5.2.3: conforming issuers mark it as not critical.
                if one.isCritical { note("a list with a critical cRLNumber") }
            case [0x55, 0x1D, 0x1B]:  // deltaCRLIndicator
                isDelta = true
                baseNumber = RevocationListNumber(one.value, of: bytes)
                if baseNumber == nil { note("a delta list without a base") }
            case [0x55, 0x1D, 0x1C]:  // issuingDistributionPoint
                try readDistributionPoint(one.value, of: bytes, issuer: issuer)
            case [0x55, 0x1D, 0x23]:  // authorityKeyIdentifier
                if one.isCritical { note("a list with a critical authorityKeyIdentifier") }
                var reader = DERReader(bytes, in: one.value)
                var fields = reader.inside(try reader.next(DERTag.sequence))
                keyIdentifier = try fields.nextIfPresent(DERTag.context(0))?.content
            default:
                if one.isCritical { note("a list with the critical extension \(ObjectIdentifier.text(identifier))") }
            }
        }
    }

    private mutating func readDistributionPoint(
        _ value: Range<Int>, of bytes: [UInt8], issuer: DistinguishedName
    ) throws(DERError) {
        var fields = try DERReader(sequence: bytes, in: value)
        if let name = try fields.nextIfPresent(DERTag.contextConstructed(0)) {
            var work = 0
            scope.distributionPoint = Set(
                try DistributionPointName.read(name, of: bytes, relativeTo: issuer, work: &work))
        }
        func flag(_ number: UInt8) throws(DERError) -> Bool {
            guard let field = try fields.nextIfPresent(DERTag.context(number)) else { return false }
            return try CertificateExtension.boolean(field, of: bytes)
        }
        scope.onlyEndEntities = try flag(1)
        scope.onlyAuthorities = try flag(2)
        if let reasons = try fields.nextIfPresent(DERTag.context(3)) {
            scope.reasons = OctetString(bytes[reasons.content])
            note("a list for some reasons")
        }
        scope.isIndirect = try flag(4)
        if scope.isIndirect { note("an indirect list") }
        scope.onlyAttributeCertificates = try flag(5)
        if scope.onlyAttributeCertificates { note("a list for attribute certificates") }
        try fields.finish()
        // RFC 5280 5.2.5: at most one of the three.
        if scope.onlyEndEntities && scope.onlyAuthorities { note("a list that is for CAs alone and for others alone") }
    }
}
