import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("Revocation lists", .timeLimit(.minutes(15)))
struct RevocationTests {
    private let root: TestAuthority
    private let issuing: TestAuthority
    private let leaf: TestCertificate
    private let serial: [UInt8]

    init() throws {
        // It stands still, since some of these tests are about single seconds.
        let clock = ManualClock(now: SystemWallClock().now)
        root = try TestAuthority.root(clock: clock) { $0.keyUsage = [.keyCertSign, .crlSign] }
        issuing = try root.intermediate { $0.keyUsage = [.keyCertSign, .crlSign] }
        leaf = try issuing.leaf(names: ["www.example.com"])
        serial = Array(try X509Certificate(der: leaf.der).serialNumber)
    }

    private func failure(
        _ lists: [[UInt8]], isRequired: Bool = false, chain: [[UInt8]]? = nil, at time: Date? = nil,
        limits: ValidationLimits = ValidationLimits()
    ) throws -> TrustFailure.Code? {
        let validator = PathValidator(
            anchors: try TrustAnchors(der: [root.root]), limits: limits,
            revocation: .crls(try lists.map { try CertificateRevocationList(der: $0) }, isRequired: isRequired))
        let outcome = validator.validate(
            PresentedChain(chain ?? leaf.chain), for: .server(identity: try DialedHost("www.example.com")),
            at: time ?? root.clock.now
        ) { _ in true }
        #expect((outcome.path == nil) == (outcome.failure != nil))
        return outcome.failure?.code
    }

    @Test("A certificate on its issuer's list is refused, one that is not passes")
    func listed() throws {
        #expect(try failure([issuing.revocationList()]) == nil)
        #expect(try failure([issuing.revocationList { $0.serialNumbers = [[1], serial] }]) == .revoked)
    }

    @Test("An intermediate on its issuer's list is refused")
    func listedIntermediate() throws {
        let serial = Array(try X509Certificate(der: issuing.certificate.der).serialNumber)
        #expect(try failure([root.revocationList { $0.serialNumbers = [serial] }]) == .revoked)
    }

    @Test("The same serial number on another issuer's list means nothing")
    func otherIssuer() throws {
        #expect(try failure([root.revocationList { $0.serialNumbers = [serial] }]) == nil)
    }

    @Test("Without a list a certificate passes, unless lists are required")
    func required() throws {
        #expect(try failure([]) == nil)
        #expect(try failure([], isRequired: true) == .revocationUnknown)
        #expect(try failure([issuing.revocationList()], isRequired: true) == .revocationUnknown)
        #expect(try failure([issuing.revocationList(), root.revocationList()], isRequired: true) == nil)
    }

    @Test("A list that somebody else signed in the issuer's name is no answer")
    func foreignSignature() throws {
        let stranger = try TestKey()
        #expect(try failure([issuing.revocationList { $0.signer = stranger }]) == .revocationUnknown)
        let lists = try [issuing.revocationList { $0.signer = stranger }, issuing.revocationList()]
        #expect(try failure(lists) == nil)
    }

    @Test("A list that is out of date, of the future or without a next update is no answer")
    func outOfDate() throws {
        let list = try issuing.revocationList { $0.nextUpdate = .hours(1) }
        #expect(try failure([list], at: root.clock.now + 1_800) == nil)
        #expect(try failure([list], at: root.clock.now + 3_700) == .revocationUnknown)
        #expect(try failure([issuing.revocationList { $0.thisUpdate = .hours(1) }]) == .revocationUnknown)
        #expect(try failure([issuing.revocationList { $0.nextUpdate = nil }]) == .revocationUnknown)
    }

    @Test("An issuer whose keyUsage lacks cRLSign signs no lists; one without keyUsage does")
    func listSigning() throws {
        for (usage, expected) in [
            (
                CertificateSpecification.KeyUsage.keyCertSign as CertificateSpecification.KeyUsage?,
                TrustFailure.Code.revocationUnknown
            ),
            (nil, nil),
        ] {
            let issuing = try root.intermediate { $0.keyUsage = usage }
            let leaf = try issuing.leaf(names: ["www.example.com"])
            #expect(try failure([issuing.revocationList()], chain: leaf.chain) == expected)
        }
    }

    @Test("A list without a number, or with a critical one, is not understood")
    func number() throws {
        #expect(try failure([issuing.revocationList { $0.number = nil }]) == .revocationUnknown)
        #expect(try failure([issuing.revocationList { $0.isNumberCritical = true }]) == .revocationUnknown)
    }

    @Test("A list with an unknown critical extension is not understood")
    func unknownExtension() throws {
        let list = try issuing.revocationList {
            $0.extensions = [TestExtension([1, 3, 6, 1, 4, 1, 55_738, 1], isCritical: true, value: TestDER.null)]
        }
        #expect(try failure([list]) == .revocationUnknown)
    }

    private func scope(_ fields: [[UInt8]]) -> TestExtension {
        TestExtension([2, 5, 29, 28], isCritical: true, value: TestDER.sequence(fields))
    }

    @Test("A list for CAs only does not speak of a server, one for end entities only does")
    func scopeByKind() throws {
        let forCAs = try issuing.revocationList {
            $0.extensions = [scope([TestDER.context(2, primitive: [0xFF])])]
        }
        #expect(try failure([forCAs]) == nil)
        #expect(try failure([forCAs, root.revocationList()], isRequired: true) == .revocationUnknown)
        let forServers = try issuing.revocationList {
            $0.serialNumbers = [serial]
            $0.extensions = [scope([TestDER.context(1, primitive: [0xFF])])]
        }
        #expect(try failure([forServers]) == .revoked)
    }

    @Test("A list of a distribution point speaks of the certificates that name it")
    func scopeByDistributionPoint() throws {
        func name(_ text: String) -> [UInt8] {
            TestDER.context(
                0, constructed: TestDER.context(0, constructed: TestDER.context(6, primitive: Array(text.utf8))))
        }
        let leaf = try issuing.leaf(names: ["www.example.com"]) {
            $0.extensions = [
                TestExtension(
                    [2, 5, 29, 31], value: TestDER.sequence([TestDER.sequence([name("http://crl.example/1")])]))
            ]
        }
        let serial = Array(try X509Certificate(der: leaf.der).serialNumber)
        for (point, expected) in [
            ("http://crl.example/1", nil), ("http://crl.example/2", TrustFailure.Code.revocationUnknown as _?),
        ] {
            let list = try issuing.revocationList { $0.extensions = [scope([name(point)])] }
            #expect(try failure([list], chain: leaf.chain) == nil)
            #expect(try failure([list, root.revocationList()], isRequired: true, chain: leaf.chain) == expected)
            // A serial number of an issuer is of one certificate, whatever part of his the list is for.
            let stranger = try TestKey()
            for (signer, code) in [(nil, .revoked), (stranger, .revocationUnknown)]
                as [(TestKey?, TrustFailure.Code?)]
            {
                let listing = try issuing.revocationList {
                    $0.serialNumbers = [serial]
                    $0.extensions = [scope([name(point)])]
                    $0.signer = signer
                }
                #expect(try failure([listing], chain: leaf.chain) == code)
            }
        }
    }

    @Test("Lists for other certificates cost no signature")
    func otherScopes() throws {
        let point = TestDER.context(
            0, constructed: TestDER.context(0, constructed: TestDER.context(6, primitive: Array("http://a".utf8))))
        var limits = ValidationLimits()
        limits.signatures = 2
        let lists = try (1..<20 as Range<UInt8>).map { number in
            try issuing.revocationList {
                $0.serialNumbers = [[number]]
                $0.extensions = [scope([point])]
            }
        }
        #expect(try failure(lists, limits: limits) == nil)
    }

    @Test("An indirect list is not understood")
    func indirect() throws {
        let list = try issuing.revocationList { $0.extensions = [scope([TestDER.context(4, primitive: [0xFF])])] }
        #expect(try failure([list]) == .revocationUnknown)
    }

    @Test("Signatures of lists count against the budget")
    func budget() throws {
        var limits = ValidationLimits()
        limits.signatures = 2
        #expect(try failure([issuing.revocationList()], limits: limits) == .budgetExceeded)
        limits.signatures = 3
        #expect(try failure([issuing.revocationList()], limits: limits) == nil)
    }

    @Test("A remembered path is not found again under other lists")
    func cache() throws {
        let cache = VerifiedPathCache()
        let anchors = try TrustAnchors(der: [root.root])
        func outcome(_ list: [UInt8]) throws -> ValidationOutcome {
            let revocation = Revocation.crls([try CertificateRevocationList(der: list)])
            return PathValidator(anchors: anchors, revocation: revocation, cache: cache).validate(
                PresentedChain(leaf.chain), for: .server(identity: nil), at: root.clock.now
            ) { _ in true }
        }
        let good = try issuing.revocationList()
        #expect(try outcome(good).path != nil)
        #expect(try outcome(good).effort.usedCachedPath)
        #expect(try outcome(issuing.revocationList { $0.serialNumbers = [serial] }).failure?.code == .revoked)
    }

    @Test("A remembered path is forgotten when a list it was checked against is out of date, or a newer one counts")
    func cacheEnds() throws {
        let anchors = try TrustAnchors(der: [root.root])
        func outcomes(_ lists: [[UInt8]]) throws -> (TimeInterval) -> ValidationOutcome {
            let revocation = Revocation.crls(try lists.map { try CertificateRevocationList(der: $0) })
            let validator = PathValidator(anchors: anchors, revocation: revocation, cache: VerifiedPathCache())
            return { seconds in
                validator.validate(
                    PresentedChain(leaf.chain), for: .server(identity: nil), at: root.clock.now + seconds
                ) { _ in true }
            }
        }
        let short = try outcomes([issuing.revocationList { $0.nextUpdate = .after(.seconds(30)) }])
        #expect(short(0).path != nil)
        #expect(short(30).effort.usedCachedPath)
        #expect(short(31).failure?.code == .revocationUnknown)
        let replaced = try outcomes([
            issuing.revocationList(),
            issuing.revocationList {
                $0.number = 2
                $0.thisUpdate = .after(.seconds(30))
            },
        ])
        #expect(replaced(0).path != nil)
        #expect(replaced(29).effort.usedCachedPath)
        #expect(!replaced(30).effort.usedCachedPath)
        #expect(!short(-1).effort.usedCachedPath)
    }

    @Test("What is no list is an error that says so")
    func unreadable() throws {
        #expect(throws: CertificateError.self) { try CertificateRevocationList(der: []) }
        #expect(throws: CertificateError.self) { try CertificateRevocationList(der: leaf.der) }
        let list = try issuing.revocationList()
        #expect(throws: CertificateError.self) { try CertificateRevocationList(der: list + [0]) }
        for count in stride(from: 0, to: list.count, by: 7) {
            #expect(throws: CertificateError.self) { try CertificateRevocationList(der: Array(list.prefix(count))) }
        }
    }

    #if os(macOS) || os(Linux)
    @Test("openssl reads the test kit's lists", .needs(.openSSL))
    func opensslReads() async throws {
        let list = try issuing.revocationList { $0.serialNumbers = [serial] }
        try await withTemporaryFolder { folder in
            try Data(list).write(to: folder.appending(path: "list.crl"))
            try Data(issuing.certificate.pem.utf8).write(to: folder.appending(path: "issuer.pem"))
            let output = try await OpenSSLProgram.run(
                ["crl", "-inform", "DER", "-in", "list.crl", "-CAfile", "issuer.pem", "-noout", "-text"], in: folder)
            #expect(output.status == 0)
            #expect(output.text.contains("verify OK"))
            #expect(output.text.contains("Revoked Certificates"))
        }
    }
    #endif
}
