/// An extension in its encoded form (RFC 5280 4.1.2.9).
public struct TestExtension: Sendable, Hashable {
    /// The identifier of the extension.
    public var identifier: TestObjectIdentifier
    /// Whether a verifier that does not know the extension must reject the certificate.
    public var isCritical: Bool
    /// The content of the OCTET STRING; in a proper extension, the DER of one element.
    public var value: [UInt8]

    /// Makes an extension with any content.
    public init(_ identifier: TestObjectIdentifier, isCritical: Bool = false, value: [UInt8]) {
        self.identifier = identifier
        self.isCritical = isCritical
        self.value = value
    }

    var der: [UInt8] {
        TestDER.sequence(
            [TestDER.objectIdentifier(identifier)] + (isCritical ? [TestDER.boolean(true)] : [])
                + [TestDER.octetString(value)])
    }
}

extension CertificateSpecification {
    /// The extensions of the specification, in the order in which they are written.
    func encodedExtensions(
        subjectKeyIdentifier own: [UInt8]?, signerKeyIdentifier: [UInt8]?
    ) -> [TestExtension] {
        var list: [TestExtension] = []
        func add(_ identifier: TestObjectIdentifier, _ isCritical: Bool, _ value: [UInt8]) {
            list.append(TestExtension(identifier, isCritical: isCritical, value: value))
        }
        if let own { add(.subjectKeyIdentifier, false, TestDER.octetString(own)) }
        if let signerKeyIdentifier {
            let identifier = TestDER.context(0, primitive: signerKeyIdentifier)
            add(.authorityKeyIdentifier, false, TestDER.sequence([identifier]))
        }
        if let basicConstraints { add(.basicConstraints, basicConstraints.isCritical, basicConstraints.der) }
        if let keyUsage { add(.keyUsage, keyUsageCritical, keyUsage.der) }
        if let extendedKeyUsage {
            let purposes = extendedKeyUsage.map(TestDER.objectIdentifier)
            add(.extendedKeyUsage, extendedKeyUsageCritical, TestDER.sequence(purposes))
        }
        if let subjectAltName {
            let isCritical = subjectAltNameCritical ?? subject.relativeNames.isEmpty
            add(.subjectAltName, isCritical, TestDER.sequence(subjectAltName.map(\.der)))
        }
        if let nameConstraints { add(.nameConstraints, nameConstraints.isCritical, nameConstraints.der) }
        if let certificatePolicies {
            let policies = certificatePolicies.map { TestDER.sequence([TestDER.objectIdentifier($0)]) }
            add(.certificatePolicies, false, TestDER.sequence(policies))
        }
        if let policyConstraints { add(.policyConstraints, policyConstraints.isCritical, policyConstraints.der) }
        return list + extensions
    }
}

extension CertificateSpecification.BasicConstraints {
    fileprivate var der: [UInt8] {
        TestDER.sequence(
            (isAuthority ? [TestDER.boolean(true)] : []) + (pathLength.map { [TestDER.integer($0)] } ?? []))
    }
}

extension CertificateSpecification.KeyUsage {
    /// A BIT STRING without trailing zero bits, as DER requires for named bits (X.690 11.2.2).
    fileprivate var der: [UInt8] {
        guard rawValue != 0 else { return TestDER.bitString([]) }
        let highest = 15 - rawValue.leadingZeroBitCount
        var octets = [UInt8](repeating: 0, count: highest / 8 + 1)
        for bit in 0...highest where rawValue & 1 << UInt16(bit) != 0 {
            octets[bit / 8] |= 0x80 >> UInt8(bit % 8)
        }
        return TestDER.bitString(octets, unusedBits: UInt8(7 - highest % 8))
    }
}

extension CertificateSpecification.NameConstraints {
    fileprivate var der: [UInt8] {
        let lists = [permitted, excluded].enumerated().filter { !$0.element.isEmpty }
        return TestDER.sequence(
            lists.map { number, names in
                TestDER.context(UInt8(number), constructed: names.flatMap { TestDER.sequence([$0.der]) })
            })
    }
}

extension CertificateSpecification.PolicyConstraints {
    fileprivate var der: [UInt8] {
        let numbers = [requireExplicitPolicy, inhibitPolicyMapping].enumerated()
        return TestDER.sequence(
            numbers.compactMap { number, value in
                value.map { TestDER.context(UInt8(number), primitive: Array(TestDER.integer($0).dropFirst(2))) }
            })
    }
}
