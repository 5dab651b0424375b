/// One extension of a certificate as written there: identifier, criticality, undecoded value (RFC 5280 4.1.2.9).
struct CertificateExtension: Sendable {
    /// The extensions that validation processes (RFC 5280 4.2.1), by the last arc of 2.5.29.
    enum Known: UInt8, Sendable {
        case subjectKeyIdentifier = 14
        case keyUsage = 15
        case subjectAltName = 17
        case basicConstraints = 19
        case nameConstraints = 30
        case certificatePolicies = 32
        case policyMappings = 33
        case authorityKeyIdentifier = 35
        case policyConstraints = 36
        case extendedKeyUsage = 37
        case inhibitAnyPolicy = 54
    }

    /// Content bytes of the object identifier.
    let identifier: Range<Int>
    let known: Known?
    let isCritical: Bool
    /// Content of the OCTET STRING: the DER of the extension's own syntax.
    let value: Range<Int>

    /// The maximum number of extensions of a certificate. Certificates of the public web have about ten, private ones
    /// rarely more than twenty.
    static let maximumCount = 64

    /// Reads `Extensions` inside their explicit tag. A second extension of one kind is an error (RFC 5280 4.2).
    static func readAll(_ explicit: DERReader.Element, of bytes: [UInt8]) throws(CertificateError)
        -> [CertificateExtension]
    {
        var found: [CertificateExtension] = []
        do throws(DERError) {
            var list = try DERReader(sequence: bytes, in: explicit.content)
            guard !list.isAtEnd else { throw DERError(.invalidValue("an empty list of extensions"), at: list.position) }
            found.reserveCapacity(12)
            while !list.isAtEnd {
                guard found.count < maximumCount else {
                    throw DERError(.invalidValue("more than \(maximumCount) extensions"), at: list.position)
                }
                found.append(try read(list.inside(try list.next(DERTag.sequence))))
            }
        } catch {
            throw CertificateError(error, in: "extensions")
        }
        if let twice = firstDuplicate(in: found, of: bytes) {
            throw CertificateError(
                .duplicateExtension, field: "extensions", expected: "each extension once",
                found: "\(ObjectIdentifier.text(bytes[twice.identifier])) twice")
        }
        return found
    }

    /// Identifiers longer than any registered one are hashed: comparing sixty-four of them with each other would cost
    /// many times as much as reading them.
    private static let maximumComparedOctets = 32

    private static func firstDuplicate(in found: [CertificateExtension], of bytes: [UInt8]) -> CertificateExtension? {
        var long: Set<OctetString> = []
        for (position, one) in found.enumerated() {
            let identifier = bytes[one.identifier]
            if identifier.count > maximumComparedOctets {
                if !long.insert(OctetString(identifier)).inserted { return one }
                continue
            }
            for other in found[..<position] where bytes[other.identifier] == identifier { return one }
        }
        return nil
    }

    static func read(_ fields: consuming DERReader) throws(DERError) -> CertificateExtension {
        let identifier = try fields.next(DERTag.objectIdentifier).content
        let bytes = fields.bytes
        var isCritical = false
        if let flag = try fields.nextIfPresent(DERTag.boolean) {
            // DER leaves out the default, FALSE, but some certificates in use encode it.
            isCritical = try boolean(flag, of: bytes)
        }
        let value = try fields.next(DERTag.octetString).content
        try fields.finish()
        var known: Known?
        if identifier.count == 3, bytes[identifier.lowerBound] == 0x55, bytes[identifier.lowerBound + 1] == 0x1D {
            known = Known(rawValue: bytes[identifier.lowerBound + 2])
        }
        return CertificateExtension(identifier: identifier, known: known, isCritical: isCritical, value: value)
    }

    static func boolean(_ element: DERReader.Element, of bytes: [UInt8]) throws(DERError) -> Bool {
        guard element.content.count == 1 else {
            throw DERError(
                .invalidValue("a BOOLEAN of \(element.content.count) octets"), at: element.encoded.lowerBound)
        }
        switch bytes[element.content.lowerBound] {
        case 0x00: return false
        case 0xFF: return true
        default: throw DERError(.invalidValue("a BOOLEAN that is neither 00 nor FF"), at: element.encoded.lowerBound)
        }
    }
}
