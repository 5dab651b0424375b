import Foundation
import Holdfast
import HoldfastTesting
import Testing

@Suite("The strict profile")
struct StrictProfileTests {
    private typealias Configure = (inout CertificateSpecification) -> Void

    private static let suffixes = "com\nco.uk\n"

    /// The codes in `.standard` and `.strict` of a chain whose parts are configured.
    private func codes(
        host: String = "www.example.com", names: [TestGeneralName] = ["www.example.com"], subject: TestName? = nil,
        root configureRoot: Configure = { _ in }, intermediate: Configure = { _ in },
        leaf configureLeaf: Configure = { _ in },
        key: TestKey.Choice = .p256
    ) throws -> [TrustFailure.Code?] {
        let root = try TestAuthority.root(configure: configureRoot)
        let leaf = try root.intermediate(configure: intermediate).leaf(
            names: names, key: key, subject: subject, configure: configureLeaf)
        let anchors = try TrustAnchors(der: [root.root])
        return try ValidationProfile.allCases.map { profile in
            let validator = PathValidator(
                anchors: anchors, profile: profile, publicSuffixes: try PublicSuffixList(Self.suffixes))
            return validator.validate(
                PresentedChain(leaf.chain), for: .server(identity: try DialedHost(host)), at: root.clock.now
            ) { _ in true }.failure?.code
        }
    }

    private static let onlyStrict: [TrustFailure.Code?] = [nil, .profileViolation]

    @Test("The test kit's own certificates conform")
    func conforming() throws {
        #expect(try codes() == [nil, nil])
    }

    @Test("Serial numbers are positive and have at most 20 octets, but for an anchor's")
    func serialNumbers() throws {
        for serial: [UInt8] in [[0], [0x80], [0, 1], [0, 0], [0xFF, 1], [1] + [UInt8](repeating: 0, count: 20)] {
            #expect(try codes(leaf: { $0.serial = serial }) == Self.onlyStrict)
            #expect(try codes(intermediate: { $0.serial = serial }) == Self.onlyStrict)
            #expect(try codes(root: { $0.serial = serial }) == [nil, nil])
        }
        #expect(try codes(leaf: { $0.serial = [0] + [UInt8](repeating: 0xFF, count: 19) }) == [nil, nil])
    }

    @Test("Times through 2049 are UTCTime, but for an anchor's")
    func forms() throws {
        let begin = CertificateTime.der(TestDER.element(0x18, Array("20200101000000Z".utf8)))
        let end = CertificateTime.der(TestDER.element(0x18, Array("20491231235959Z".utf8)))
        #expect(try codes(leaf: { $0.notBefore = begin }) == Self.onlyStrict)
        #expect(try codes(intermediate: { $0.notAfter = end }) == Self.onlyStrict)
        #expect(try codes(root: { $0.notAfter = end }) == [nil, nil])
        let later = CertificateTime.der(TestDER.element(0x18, Array("20500101000000Z".utf8)))
        #expect(try codes(leaf: { $0.notAfter = later }) == [nil, nil])
    }

    @Test("Key identifiers are there and not critical")
    func keyIdentifiers() throws {
        #expect(try codes(leaf: { $0.authorityKeyIdentifier = .absent }) == Self.onlyStrict)
        #expect(try codes(intermediate: { $0.authorityKeyIdentifier = .absent }) == Self.onlyStrict)
        #expect(try codes(intermediate: { $0.subjectKeyIdentifier = .absent }) == Self.onlyStrict)
        #expect(try codes(root: { $0.subjectKeyIdentifier = .absent }) == Self.onlyStrict)
        #expect(try codes(leaf: { $0.subjectKeyIdentifier = .absent }) == [nil, nil])
        #expect(try codes(root: { $0.authorityKeyIdentifier = .absent }) == [nil, nil])
        let critical = TestExtension(
            .subjectKeyIdentifier, isCritical: true, value: TestDER.octetString([1, 2, 3]))
        #expect(
            try codes(leaf: {
                $0.subjectKeyIdentifier = .absent
                $0.extensions = [critical]
            }) == Self.onlyStrict)
    }

    @Test("subjectAltName is critical where the subject is empty, and nowhere else")
    func subjectAltName() throws {
        #expect(try codes(subject: "Server", leaf: { $0.subjectAltNameCritical = true }) == Self.onlyStrict)
        #expect(try codes(subject: "Server", leaf: { $0.subjectAltNameCritical = false }) == [nil, nil])
        #expect(try codes(subject: TestName([]), leaf: { $0.subjectAltNameCritical = false }) == Self.onlyStrict)
        #expect(try codes(subject: TestName([]), leaf: { $0.subjectAltNameCritical = true }) == [nil, nil])
    }

    @Test("A CA's basicConstraints are critical, policyConstraints are, an extendedKeyUsage is not")
    func criticality() throws {
        let uncritical = CertificateSpecification.BasicConstraints(isAuthority: true, isCritical: false)
        #expect(try codes(root: { $0.basicConstraints = uncritical }) == Self.onlyStrict)
        #expect(try codes(intermediate: { $0.basicConstraints = uncritical }) == Self.onlyStrict)
        #expect(try codes(leaf: { $0.extendedKeyUsageCritical = true }) == Self.onlyStrict)
        #expect(
            try codes(intermediate: {
                $0.policyConstraints = .init(inhibitPolicyMapping: 0, isCritical: false)
            }) == Self.onlyStrict)
        for (isCritical, expected) in [(false, Self.onlyStrict), (true, [nil, nil])] {
            let inhibition = TestExtension([2, 5, 29, 54], isCritical: isCritical, value: TestDER.integer(0))
            #expect(try codes(intermediate: { $0.extensions = [inhibition] }) == expected)
        }
    }

    @Test("cA and keyCertSign go together; neither any purpose in a leaf nor a purpose in a root")
    func usage() throws {
        #expect(try codes(leaf: { $0.keyUsage = [.digitalSignature, .keyCertSign] }) == Self.onlyStrict)
        #expect(try codes(leaf: { $0.extendedKeyUsage = [[2, 5, 29, 37, 0]] }) == Self.onlyStrict)
        let malformed = CertificateFault.extensionContent(.basicConstraints, [0x30, 3, 1, 1, 1])
        #expect(try codes(leaf: { $0.faults = [malformed] }) == [nil, .malformedExtension])
        #expect(try codes(root: { $0.extendedKeyUsage = [.serverAuthentication] }) == Self.onlyStrict)
        #expect(try codes(intermediate: { $0.extendedKeyUsage = [.serverAuthentication] }) == [nil, nil])
    }

    @Test("DNS names are of letters, digits and hyphens")
    func names() throws {
        #expect(try codes(host: "a_b.example.com", names: ["a_b.example.com"]) == Self.onlyStrict)
        #expect(try codes(names: ["www.example.com", "-a.example.com"]) == Self.onlyStrict)
        #expect(try codes(names: ["www.example.com", "a..example.com"]) == Self.onlyStrict)
        #expect(try codes(names: ["www.example.com", "xn--bcher-kva.example"]) == [nil, nil])
    }

    @Test("No wildcard stands above a public suffix")
    func publicSuffixes() throws {
        #expect(try codes(host: "example.com", names: ["*.com"]) == Self.onlyStrict)
        #expect(try codes(host: "example.co.uk", names: ["*.co.uk"]) == Self.onlyStrict)
        #expect(try codes(host: "www.example.co.uk", names: ["*.example.co.uk"]) == [nil, nil])
    }

    @Test("A common name that is a host is one of the names, character for character")
    func commonNames() throws {
        #expect(try codes(subject: "WWW.example.com") == Self.onlyStrict)
        #expect(try codes(subject: "xn--bcher-kva.example") == Self.onlyStrict)
        #expect(try codes(host: "192.168.1.1", names: ["192.168.1.1"], subject: "0xC0A80101") == Self.onlyStrict)
        #expect(try codes(host: "192.168.1.1", names: ["192.168.1.1"], subject: "192.168.001.001") == Self.onlyStrict)
        #expect(try codes(host: "2001:db8::1", names: ["2001:db8::1"], subject: "2001:DB8::1") == Self.onlyStrict)
        #expect(try codes(host: "2001:db8::1", names: ["2001:db8::1"], subject: "2001:db8::1") == [nil, nil])
        #expect(try codes(subject: "www.example.com") == [nil, nil])
        #expect(try codes(subject: "Our Server") == [nil, nil])
    }

    @Test("authorityInfoAccess has its syntax")
    func authorityInformationAccess() throws {
        let identifier: TestObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 1]
        let malformed = TestExtension(identifier, value: Array("malformed".utf8))
        let outcome = try codes(leaf: { $0.extensions = [malformed] })
        #expect(outcome == [nil, .malformedExtension])
        let access = TestDER.sequence([
            TestDER.objectIdentifier([1, 3, 6, 1, 5, 5, 7, 48, 2]),
            TestDER.context(6, primitive: Array("http://ca.example/ca.cer".utf8)),
        ])
        let proper = TestExtension(identifier, value: TestDER.sequence([access]))
        #expect(try codes(leaf: { $0.extensions = [proper] }) == [nil, nil])
    }

    @Test("An RSA modulus has a multiple of eight bits")
    func keyShape() throws {
        #expect(try codes(key: .sharedRSA(bits: 2_048, index: 0)) == [nil, nil])
        // 2,052 bits, which no key generator of the kit makes: the form alone is looked at here.
        let modulus: [UInt8] = [0x0F] + [UInt8](repeating: 0xA5, count: 255) + [0x01]
        let key = TestDER.sequence([
            TestDER.sequence([TestDER.objectIdentifier([1, 2, 840, 113_549, 1, 1, 1]), TestDER.null]),
            TestDER.bitString(TestDER.sequence([TestDER.integer(octets: modulus), TestDER.integer(65_537)])),
        ])
        #expect(try codes(leaf: { $0.subjectPublicKeyInfo = key }) == Self.onlyStrict)
    }
}
