import Holdfast

/// The content of a revocation list (RFC 5280 section 5).
public struct TestRevocationList: Sendable {
    /// The revoked serial numbers: content bytes of an INTEGER, big-endian.
    public var serialNumbers: [[UInt8]] = []
    /// The time of issue, and of the revocation of all its entries.
    public var thisUpdate: CertificateTime = .hours(-1)
    /// When the next list is due; nil to omit the field.
    public var nextUpdate: CertificateTime? = .days(7)
    /// The number in cRLNumber; nil to omit the extension.
    public var number: Int? = 1
    /// Whether cRLNumber is critical, which RFC 5280 5.2.3 forbids.
    public var isNumberCritical = false
    /// Further extensions, such as issuingDistributionPoint.
    public var extensions: [TestExtension] = []
    /// Extensions of every entry, such as reasonCode.
    public var entryExtensions: [TestExtension] = []
    /// The signature algorithm.
    public var signature = TestSignature.automatic
    /// The key that signs it; nil for the key of the authority that it names.
    public var signer: TestKey?

    /// Makes a list that revokes nothing and is valid for a week.
    public init() {}
}

extension TestAuthority {
    /// Makes a revocation list of this authority.
    /// - Parameter configure: may change anything before the list is signed.
    /// - Returns: the DER of the CertificateList.
    public func revocationList(
        _ configure: (inout TestRevocationList) -> Void = { _ in }
    ) throws(TestKitError) -> [UInt8] {
        var list = TestRevocationList()
        configure(&list)
        let now = clock.now
        let signer = list.signer ?? certificate.key
        let algorithm = list.signature.resolved(for: signer.kind)
        var fields: [[UInt8]] = [
            TestDER.integer(1), algorithm.algorithmIdentifier, certificate.specification.subject.der,
            list.thisUpdate.der(now: now),
        ]
        if let nextUpdate = list.nextUpdate { fields.append(nextUpdate.der(now: now)) }
        if !list.serialNumbers.isEmpty {
            let extensions =
                list.entryExtensions.isEmpty ? [] : [TestDER.sequence(list.entryExtensions.map(\.der))]
            fields.append(
                TestDER.sequence(
                    list.serialNumbers.map {
                        TestDER.sequence([TestDER.integer(octets: $0), list.thisUpdate.der(now: now)] + extensions)
                    }))
        }
        var extensions = list.extensions
        if let number = list.number {
            extensions.insert(
                TestExtension(
                    [2, 5, 29, 20], isCritical: list.isNumberCritical, value: TestDER.integer(number)), at: 0)
        }
        if !extensions.isEmpty {
            fields.append(TestDER.context(0, constructed: TestDER.sequence(extensions.map(\.der))))
        }
        let content = TestDER.sequence(fields)
        let signature = try signer.signature(of: content, by: algorithm)
        return TestDER.sequence([content, algorithm.algorithmIdentifier, TestDER.bitString(signature)])
    }
}
