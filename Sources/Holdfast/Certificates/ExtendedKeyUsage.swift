/// extendedKeyUsage, RFC 5280 4.2.1.12, reduced to the purposes that TLS needs.
struct ExtendedKeyUsage: Sendable, Equatable {
    let allowsAny: Bool
    let allowsServer: Bool
    let allowsClient: Bool
    /// Ranges of the object identifiers' content, for printing.
    let identifiers: [Range<Int>]

    init(_ value: Range<Int>, of bytes: [UInt8]) throws(DERError) {
        var list = try DERReader(sequence: bytes, in: value)
        guard !list.isAtEnd else { throw DERError(.invalidValue("an empty extendedKeyUsage"), at: value.lowerBound) }
        var (any, server, client) = (false, false, false)
        var identifiers: [Range<Int>] = []
        while !list.isAtEnd {
            let identifier = try list.next(DERTag.objectIdentifier).content
            identifiers.append(identifier)
            let octets = bytes[identifier]
            if octets.elementsEqual(Self.anyExtendedKeyUsage) {
                any = true
            } else if octets.count == 8, octets.starts(with: Self.keyPurposes) {
                // id-kp-serverAuth ends in 1, id-kp-clientAuth in 2.
                server = server || octets.last == 1
                client = client || octets.last == 2
            }
        }
        (allowsAny, allowsServer, allowsClient) = (any, server, client)
        self.identifiers = identifiers
    }

    /// The name of a purpose in RFC 5280 4.2.1.12, or its number if it has no name there.
    static func name(of identifier: ArraySlice<UInt8>) -> String {
        if identifier.elementsEqual(anyExtendedKeyUsage) { return "anyExtendedKeyUsage" }
        guard identifier.count == 8, identifier.starts(with: keyPurposes) else {
            return ObjectIdentifier.text(identifier)
        }
        switch identifier.last {
        case 1: return "serverAuth"
        case 2: return "clientAuth"
        case 3: return "codeSigning"
        case 4: return "emailProtection"
        case 8: return "timeStamping"
        case 9: return "OCSPSigning"
        default: return ObjectIdentifier.text(identifier)
        }
    }

    /// 2.5.29.37.0
    private static let anyExtendedKeyUsage: [UInt8] = [0x55, 0x1D, 0x25, 0x00]
    /// 1.3.6.1.5.5.7.3
    private static let keyPurposes: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03]
}
