import Holdfast

/// What a revocation list is to say (RFC 5280 section 5).
public struct TestRevocationList: Sendable {
    /// The serial numbers that it revokes.
    public var serialNumbers: [[UInt8]] = []
    /// When it was issued.
    public var thisUpdate: CertificateTime = .hours(-1)
    /// When the next one is due; nil leaves it out.
    public var nextUpdate: CertificateTime? = .days(7)
    /// The content of cRLNumber; nil leaves the extension out.
    public var number: Int? = 1
    /// Whether cRLNumber is critical, which RFC 5280 5.2.3 forbids.
    public var isNumberCritical = false
    /// Further extensions, such as issuingDistributionPoint.
    public var extensions: [TestExtension] = []
    /// Extensions of every entry, such as reasonCode.
    public var entryExtensions: [TestExtension] = []
    /// How it is signed.
    public var signature = TestSignature.automatic
    /// Who signs it instead of the authority whose name it bears.
    public var signer: TestKey?

    /// A list that revokes nothing and is good for a week.
    public init() {}
}

extension TestAuthority {
    /// A revocation list of this authority.
    /// - Parameter configure: may change anything before it is signed.
    /// - Returns: DER.
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
