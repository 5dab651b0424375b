import HoldfastTesting

/// A chain of root, intermediate and leaf with one thing changed, for two verifiers to judge.
struct VerdictCase: Sendable {
    enum Place: Sendable { case root, intermediate, leaf }

    let name: String
    let place: Place
    var host = Judge.host
    var key = TestKey.Choice.p256
    let change: @Sendable (inout CertificateSpecification) -> Void

    init(
        _ name: String, _ place: Place, host: String = Judge.host, key: TestKey.Choice = .p256,
        _ change: @escaping @Sendable (inout CertificateSpecification) -> Void = { _ in }
    ) {
        (self.name, self.place, self.host, self.key, self.change) = (name, place, host, key, change)
    }

    func chain() throws -> (presented: [[UInt8]], root: [UInt8]) {
        func key(_ place: Place) -> TestKey.Choice { place == self.place ? self.key : .p256 }
        func apply(_ place: Place, _ specification: inout CertificateSpecification) {
            if place == self.place { change(&specification) }
        }
        let root = try Judge.root("Root", key: key(.root)) { apply(.root, &$0) }
        let issuing = try root.intermediate(name: "Issuing", key: key(.intermediate)) { apply(.intermediate, &$0) }
        let leaf = try issuing.leaf(names: ["www.example.com"], key: key(.leaf)) { apply(.leaf, &$0) }
        return (leaf.chain, root.root)
    }
}

extension VerdictCase {
    private static let weak = TestKey.Choice.sharedRSA(bits: 1024, index: 0)
    private static let critical: @Sendable (inout CertificateSpecification) -> Void = {
        $0.extensions = [.init([1, 2, 3, 4], isCritical: true, value: [5, 0])]
    }
    private static func constraints(
        permitted: [TestGeneralName] = [], excluded: [TestGeneralName] = []
    ) -> @Sendable (inout CertificateSpecification) -> Void {
        { $0.nameConstraints = .init(permitted: permitted, excluded: excluded) }
    }

    static let ofLeaves: [VerdictCase] = [
        .init("plain", .leaf), .init("expired", .leaf) { $0.notAfter = .after(.seconds(-1)) },
        .init("not yet valid", .leaf) { $0.notBefore = .hours(1) },
        .init("another host", .leaf, host: "www.example.org"),
        .init("common name alone", .leaf) { $0.subjectAltName = nil },
        .init("common name beside an e-mail address", .leaf) { $0.subjectAltName = [.email("a@example.com")] },
        .init("common name beside another host", .leaf) { $0.subjectAltName = ["other.example"] },
        .init("wildcard", .leaf) { $0.subjectAltName = ["*.example.com"] },
        .init("wildcard for two labels", .leaf, host: "a.www.example.com") { $0.subjectAltName = ["*.example.com"] },
        .init("wildcard for no label", .leaf, host: "example.com") { $0.subjectAltName = ["*.example.com"] },
        .init("wildcard of a part", .leaf) { $0.subjectAltName = ["w*.example.com"] },
        .init("wildcard inside", .leaf) { $0.subjectAltName = ["www.*.com"] },
        .init("wildcard of a top level", .leaf, host: "example.com") { $0.subjectAltName = ["*.com"] },
        .init("two wildcards", .leaf) { $0.subjectAltName = ["*.*.com"] },
        .init("name in capitals", .leaf) { $0.subjectAltName = ["WWW.EXAMPLE.COM"] },
        .init("name with a trailing dot", .leaf) { $0.subjectAltName = ["www.example.com."] },
        .init("name with NUL", .leaf) { $0.subjectAltName = ["www.example.com\u{0}.evil.org"] },
        .init("name with a leading dot", .leaf) { $0.subjectAltName = [".example.com"] },
        .init("no names", .leaf) { $0.subjectAltName = [] },
        .init("client only", .leaf) { $0.extendedKeyUsage = [.clientAuthentication] },
        .init("any purpose", .leaf) { $0.extendedKeyUsage = [.anyExtendedKeyUsage] },
        .init("no purpose", .leaf) { $0.extendedKeyUsage = nil },
        .init("critical purpose", .leaf) { $0.extendedKeyUsageCritical = true },
        .init("keyUsage cRLSign", .leaf) { $0.keyUsage = .crlSign },
        .init("keyUsage keyEncipherment", .leaf) { $0.keyUsage = .keyEncipherment },
        .init("no keyUsage", .leaf) { $0.keyUsage = nil },
        .init("unknown critical extension", .leaf, critical),
        .init("unknown extension", .leaf) { $0.extensions = [.init([1, 2, 3], value: [5, 0])] },
        .init("version 1", .leaf) { $0.version = 1 }, .init("SHA-1", .leaf) { $0.signature = .ecdsa(.sha1) },
        .init("flipped signature", .leaf) { $0.faults = [.flippedSignatureBit] }, .init("RSA 1024", .leaf, key: weak),
        .init("P-521", .leaf, key: .p521),
        .init("Ed25519", .leaf, key: .ed25519),
        .init("a CA", .leaf) {
            $0.basicConstraints = .init(isAuthority: true); $0.keyUsage?.insert(.keyCertSign)
        },
        .init("no basicConstraints", .leaf) { $0.basicConstraints = nil },
        .init("empty subject", .leaf) { $0.subject = .empty },
        .init("negative serial", .leaf) { $0.serial = [0xFF] },
        .init("long serial", .leaf) { $0.serial = [UInt8](repeating: 1, count: 30) },
        .init("an extension twice", .leaf) { $0.faults = [.duplicatedExtension(.subjectAltName)] },
        .init("malformed subjectAltName", .leaf) { $0.faults = [.extensionContent(.subjectAltName, [0x30, 1])] },
        .init("malformed keyUsage", .leaf) { $0.faults = [.extensionContent(.keyUsage, [5, 0])] },
        .init("two algorithms", .leaf) { $0.faults = [.outerSignatureAlgorithm(.ecdsa(.sha384))] },
        .init("name constraints", .leaf, constraints(permitted: [.dns("example.com")])),
        .init("wrong authorityKeyIdentifier", .leaf) { $0.authorityKeyIdentifier = .octets([9]) },
        .init("no key identifiers", .leaf) {
            $0.authorityKeyIdentifier = .absent; $0.subjectKeyIdentifier = .absent
        },
        .init("issuer in other case", .leaf) { $0.issuer = "ISSUING" },
        .init("another issuer", .leaf) { $0.issuer = "Other" },
    ]

    static let ofAuthorities: [VerdictCase] = [
        .init("expired", .intermediate) { $0.notAfter = .after(.seconds(-1)) },
        .init("not yet valid", .intermediate) { $0.notBefore = .hours(1) },
        .init("no basicConstraints", .intermediate) { $0.basicConstraints = nil },
        .init("no CA", .intermediate) { $0.basicConstraints = .init(isAuthority: false) },
        .init("no CA, no keyUsage", .intermediate) {
            $0.basicConstraints = nil; $0.keyUsage = nil
        },
        .init("basicConstraints not critical", .intermediate) {
            $0.basicConstraints = .init(isAuthority: true, isCritical: false)
        },
        .init("path length 0", .intermediate) { $0.basicConstraints = .init(isAuthority: true, pathLength: 0) },
        .init("no keyCertSign", .intermediate) { $0.keyUsage = [.digitalSignature, .crlSign] },
        .init("no keyUsage", .intermediate) { $0.keyUsage = nil },
        .init("server purpose", .intermediate) { $0.extendedKeyUsage = [.serverAuthentication] },
        .init("mail purpose", .intermediate) { $0.extendedKeyUsage = [.emailProtection] },
        .init("any purpose", .intermediate) { $0.extendedKeyUsage = [.anyExtendedKeyUsage] },
        .init("unknown critical extension", .intermediate, critical),
        .init("SHA-1", .intermediate) { $0.signature = .ecdsa(.sha1) },
        .init("version 1", .intermediate) { $0.version = 1 },
        .init("RSA 1024", .intermediate, key: weak),
        .init("permitted", .intermediate, constraints(permitted: [.dns("example.com")])),
        .init("permitted elsewhere", .intermediate, constraints(permitted: [.dns("example.org")])),
        .init("excluded", .intermediate, constraints(excluded: [.dns("example.com")])),
        .init("everything excluded", .intermediate, constraints(excluded: [.dns("")])),
        .init("mask with a hole", .intermediate, constraints(excluded: [.address([10, 0, 0, 0, 255, 0, 255, 0])])),
        .init("registered identifiers excluded", .intermediate, constraints(excluded: [.raw(0x88, [0x2A])])),
        .init("malformed constraints", .intermediate) { $0.nameConstraints = .init() },
        .init("critical policyConstraints", .intermediate) { $0.policyConstraints = .init(requireExplicitPolicy: 0) },
        .init("expired", .root) { $0.notAfter = .after(.seconds(-1)) },
        .init("no basicConstraints", .root) { $0.basicConstraints = nil },
        .init("path length 0", .root) { $0.basicConstraints = .init(isAuthority: true, pathLength: 0) },
        .init("no keyCertSign", .root) { $0.keyUsage = .crlSign },
        .init("mail purpose", .root) { $0.extendedKeyUsage = [.emailProtection] },
        .init("excluded", .root, constraints(excluded: [.dns("example.com")])),
        .init("SHA-1", .root) { $0.signature = .ecdsa(.sha1) },
        .init("version 1", .root) {
            $0.version = 1; $0.faults = [.extensions { $0 = [] }]
        }, .init("RSA 1024", .root, key: weak),
    ]
}
