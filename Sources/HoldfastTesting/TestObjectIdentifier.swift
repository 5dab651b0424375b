/// An object identifier, written as an array of its numbers: `[2, 5, 29, 17]`.
public struct TestObjectIdentifier: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The numbers, beginning at the root of the tree.
    public let components: [UInt]

    /// Makes an identifier from these numbers. With fewer than two, no reader should accept it.
    public init(_ components: [UInt]) {
        self.components = components
    }

    /// Makes an identifier from these numbers.
    public init(arrayLiteral elements: UInt...) {
        self.init(elements)
    }

    /// The numbers with dots between them.
    public var description: String { components.map(String.init).joined(separator: ".") }

    /// The content bytes of the OBJECT IDENTIFIER (X.690 8.19).
    var contentOctets: [UInt8] {
        guard components.count >= 2 else { return components.flatMap(Self.base128) }
        let first = components[0].multipliedReportingOverflow(by: 40).partialValue &+ components[1]
        return ([first] + components.dropFirst(2)).flatMap(Self.base128)
    }

    private static func base128(_ number: UInt) -> [UInt8] {
        var octets = [UInt8(number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            octets.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return octets.reversed()
    }
}

/// Extended key usages (RFC 5280 4.2.1.12).
extension TestObjectIdentifier {
    /// `anyExtendedKeyUsage`.
    public static let anyExtendedKeyUsage: Self = [2, 5, 29, 37, 0]
    /// `id-kp-serverAuth`: a TLS server.
    public static let serverAuthentication: Self = [1, 3, 6, 1, 5, 5, 7, 3, 1]
    /// `id-kp-clientAuth`: a TLS client.
    public static let clientAuthentication: Self = [1, 3, 6, 1, 5, 5, 7, 3, 2]
    /// `id-kp-codeSigning`.
    public static let codeSigning: Self = [1, 3, 6, 1, 5, 5, 7, 3, 3]
    /// `id-kp-emailProtection`.
    public static let emailProtection: Self = [1, 3, 6, 1, 5, 5, 7, 3, 4]
    /// `id-kp-OCSPSigning`.
    public static let ocspSigning: Self = [1, 3, 6, 1, 5, 5, 7, 3, 9]
}

/// Extensions (RFC 5280 4.2.1).
extension TestObjectIdentifier {
    /// `id-ce-subjectKeyIdentifier`.
    public static let subjectKeyIdentifier: Self = [2, 5, 29, 14]
    /// `id-ce-keyUsage`.
    public static let keyUsage: Self = [2, 5, 29, 15]
    /// `id-ce-subjectAltName`.
    public static let subjectAltName: Self = [2, 5, 29, 17]
    /// `id-ce-basicConstraints`.
    public static let basicConstraints: Self = [2, 5, 29, 19]
    /// `id-ce-nameConstraints`.
    public static let nameConstraints: Self = [2, 5, 29, 30]
    /// `id-ce-certificatePolicies`.
    public static let certificatePolicies: Self = [2, 5, 29, 32]
    /// `id-ce-authorityKeyIdentifier`.
    public static let authorityKeyIdentifier: Self = [2, 5, 29, 35]
    /// `id-ce-policyConstraints`.
    public static let policyConstraints: Self = [2, 5, 29, 36]
    /// `id-ce-extKeyUsage`.
    public static let extendedKeyUsage: Self = [2, 5, 29, 37]
    /// The list of signed certificate timestamps (RFC 6962 3.3).
    public static let signedCertificateTimestamps: Self = [1, 3, 6, 1, 4, 1, 11_129, 2, 4, 2]
}

/// Attributes of names (RFC 5280 appendix A.1, RFC 4519).
extension TestObjectIdentifier {
    /// `id-at-commonName`, CN.
    public static let commonName: Self = [2, 5, 4, 3]
    /// `id-at-serialNumber`.
    public static let serialNumber: Self = [2, 5, 4, 5]
    /// `id-at-countryName`, C.
    public static let country: Self = [2, 5, 4, 6]
    /// `id-at-localityName`, L.
    public static let locality: Self = [2, 5, 4, 7]
    /// `id-at-stateOrProvinceName`, ST.
    public static let stateOrProvince: Self = [2, 5, 4, 8]
    /// `id-at-organizationName`, O.
    public static let organization: Self = [2, 5, 4, 10]
    /// `id-at-organizationalUnitName`, OU.
    public static let organizationalUnit: Self = [2, 5, 4, 11]
    /// `domainComponent`, DC.
    public static let domainComponent: Self = [0, 9, 2342, 19_200_300, 100, 1, 25]
    /// `emailAddress` of PKCS #9, E.
    public static let emailAddress: Self = [1, 2, 840, 113_549, 1, 9, 1]
}
