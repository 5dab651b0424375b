import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Values of extensions, RFC 5280 4.2.1")
struct ExtensionValueTests {
    @Test(
        "basicConstraints",
        arguments: [
            ([0x30, 0x00], false, nil), ([0x30, 3, 1, 1, 0xFF], true, nil), ([0x30, 3, 1, 1, 0], false, nil),
            ([0x30, 6, 1, 1, 0xFF, 2, 1, 0], true, 0), ([0x30, 6, 1, 1, 0xFF, 2, 1, 0x7F], true, 127),
            ([0x30, 7, 1, 1, 0xFF, 2, 2, 0, 0xFF], true, 255),
            ([0x30, 9, 1, 1, 0xFF, 2, 4, 0x7F, 0xFF, 0xFF, 0xFF], true, 2_147_483_647),
            ([0x30, 3, 2, 1, 5], false, 5),
        ] as [([UInt8], Bool, Int?)])
    func basicConstraints(value: [UInt8], isAuthority: Bool, pathLength: Int?) throws {
        let constraints = try BasicConstraints(0..<value.count, of: value)
        #expect(constraints.isCertificateAuthority == isAuthority)
        #expect(constraints.pathLength == pathLength)
    }

    @Test(
        "What is no basicConstraints is an error",
        arguments: [
            [], [0x30], [0x31, 0x00], [0x30, 3, 1, 1, 1], [0x30, 2, 1, 0], [0x30, 4, 1, 2, 0xFF, 0xFF],
            [0x30, 6, 1, 1, 0xFF, 2, 1, 0xFF], [0x30, 5, 1, 1, 0xFF, 2, 0], [0x30, 3, 1, 1, 0xFF, 0],
            [0x30, 10, 1, 1, 0xFF, 2, 5, 1, 0, 0, 0, 0], [0x30, 6, 2, 1, 0, 1, 1, 0xFF],
            [0x30, 9, 1, 1, 0xFF, 2, 1, 0, 2, 1, 0],
        ] as [[UInt8]])
    func badBasicConstraints(value: [UInt8]) {
        #expect(throws: DERError.self) { try BasicConstraints(0..<value.count, of: value) }
    }

    @Test(
        "keyUsage",
        arguments: [
            ([3, 2, 7, 0x80], .digitalSignature), ([3, 2, 2, 0x04], .keyCertSign),
            ([3, 2, 1, 0x06], [.keyCertSign, .cRLSign]),
            ([3, 3, 7, 0x00, 0x80], KeyUsage(rawValue: 0x0080)), ([3, 1, 0], []), ([3, 2, 5, 0x20], .keyEncipherment),
            ([3, 2, 3, 0x08], .keyAgreement), ([3, 2, 6, 0x40], .nonRepudiation), ([3, 2, 4, 0x10], .dataEncipherment),
        ] as [([UInt8], KeyUsage)])
    func keyUsage(value: [UInt8], usage: KeyUsage) throws {
        #expect(try KeyUsage(0..<value.count, of: value) == usage)
    }

    @Test(
        "What is no keyUsage is an error",
        arguments: [
            [], [3, 0], [3, 1, 1], [3, 2, 8, 0x80], [3, 4, 0, 1, 1, 1], [4, 2, 7, 0x80], [3, 2, 7, 0x80, 0],
        ]
            as [[UInt8]])
    func badKeyUsage(value: [UInt8]) {
        #expect(throws: DERError.self) { try KeyUsage(0..<value.count, of: value) }
    }

    @Test(
        "extendedKeyUsage",
        arguments: [
            ([.serverAuthentication], "server"), ([.clientAuthentication], "client"), ([.anyExtendedKeyUsage], "any"),
            ([.emailProtection, .codeSigning, .ocspSigning], ""),
            ([.serverAuthentication, .clientAuthentication], "server client"),
            // Near misses of id-kp-serverAuth and anyExtendedKeyUsage.
            ([[1, 3, 6, 1, 5, 5, 7, 3]], ""), ([[1, 3, 6, 1, 5, 5, 7, 3, 1, 1]], ""),
            ([[1, 3, 6, 1, 5, 5, 7, 3, 129]], ""),
            ([[1, 3, 6, 1, 5, 5, 7, 2, 1]], ""), ([[2, 5, 29, 37]], ""), ([[2, 5, 29, 37, 0, 1]], ""),
            ([[2, 5, 29, 37, 1]], ""),
        ] as [([TestObjectIdentifier], String)])
    func extendedKeyUsage(purposes: [TestObjectIdentifier], allowed: String) throws {
        let value = TestDER.sequence(purposes.map(TestDER.objectIdentifier))
        let usage = try ExtendedKeyUsage(0..<value.count, of: value)
        let words = [(usage.allowsAny, "any"), (usage.allowsServer, "server"), (usage.allowsClient, "client")]
        #expect(words.filter(\.0).map(\.1).joined(separator: " ") == allowed)
    }

    @Test(
        "What is no extendedKeyUsage is an error",
        arguments: [[], [0x30, 0], [0x30, 2, 5, 0], [0x06, 1, 0x2A]] as [[UInt8]])
    func badExtendedKeyUsage(value: [UInt8]) {
        #expect(throws: DERError.self) { try ExtendedKeyUsage(0..<value.count, of: value) }
    }

    private static let subtree = TestDER.sequence([TestGeneralName.dns("a").der])

    @Test(
        "What is no nameConstraints is an error: it would constrain nothing",
        arguments: [
            [], [0x30, 0x00], TestDER.sequence([[0xA0, 0x00]]), TestDER.sequence([[0xA1, 0x00]]),
            TestDER.sequence([[0xA2, 0x00]]), TestDER.sequence([TestDER.context(0, constructed: [0x30, 0x00])]),
            // minimum 0 written out, minimum 1, maximum 1
            TestDER.sequence([
                TestDER.context(0, constructed: TestDER.sequence([TestGeneralName.dns("a").der, [0x80, 1, 0]]))
            ]),
            TestDER.sequence([
                TestDER.context(0, constructed: TestDER.sequence([TestGeneralName.dns("a").der, [0x80, 1, 1]]))
            ]),
            TestDER.sequence([
                TestDER.context(1, constructed: TestDER.sequence([TestGeneralName.dns("a").der, [0x81, 1, 1]]))
            ]),
            // the lists in the wrong order, twice, and bytes behind them
            TestDER.sequence([TestDER.context(1, constructed: subtree), TestDER.context(0, constructed: subtree)]),
            TestDER.sequence([TestDER.context(0, constructed: subtree), TestDER.context(0, constructed: subtree)]),
            TestDER.sequence([TestDER.context(0, constructed: subtree)]) + [0],
            // addresses without a mask
            TestDER.sequence([
                TestDER.context(0, constructed: TestDER.sequence([TestGeneralName.address([10, 0, 0, 0]).der]))
            ]),
            TestDER.sequence([
                TestDER.context(
                    0, constructed: TestDER.sequence([TestGeneralName.address([UInt8](repeating: 0, count: 16)).der]))
            ]),
            TestDER.sequence([TestDER.context(0, constructed: TestDER.sequence([TestGeneralName.dns("ü").der]))]),
        ])
    func badNameConstraints(value: [UInt8]) {
        #expect(throws: DERError.self) { try NameConstraints(0..<value.count, of: value) }
    }

    @Test("nameConstraints of more subtrees than any CA needs are refused")
    func manySubtrees() {
        let list = [[UInt8]](repeating: Self.subtree, count: NameConstraints.maximumCount + 1).flatMap(\.self)
        let value = TestDER.sequence([TestDER.context(1, constructed: list)])
        #expect(throws: DERError.self) { try NameConstraints(0..<value.count, of: value) }
    }
}
