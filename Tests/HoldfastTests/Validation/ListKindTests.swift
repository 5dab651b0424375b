import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("What a revocation list is good for, RFC 5280 5.2 and 6.3.3 (b)")
struct ListKindTests {
    private typealias Points = RevocationPoints

    private let root: TestAuthority
    private let issuing: TestAuthority

    init() throws {
        root = try Judge.root(TestName([.init(.country, "DE"), .init(.commonName, "Root")]))
        issuing = try root.intermediate(name: TestName([.init(.country, "DE"), .init(.commonName, "Issuing")]))
    }

    private func scene(_ lists: [[UInt8]]) throws -> RevocationScene {
        var scene = RevocationScene(root)
        scene.lists = try [root.revocationList()] + lists
        return scene
    }

    private func leaf(_ extensions: TestExtension...) throws -> TestCertificate {
        try issuing.leaf(names: ["www.example.com"]) { [extensions] in $0.extensions = extensions }
    }

    private func list(_ extensions: [TestExtension], _ serials: [[UInt8]] = [], entry: [TestExtension] = []) throws
        -> [UInt8]
    {
        try issuing.revocationList {
            $0.extensions = extensions
            $0.serialNumbers = serials
            $0.entryExtensions = entry
        }
    }

    private static let reason: TestObjectIdentifier = [2, 5, 29, 21]

    @Test(
        "Delta lists, indirect ones, those for some reasons or attribute certificates vouch for nobody, each by its name",
        arguments: [
            (RevocationPoints.delta(base: 1), "a delta list"),
            (RevocationPoints.inList([RevocationPoints.flag(4)]), "an indirect list"),
            (RevocationPoints.inList([RevocationPoints.someReasons]), "a list for some reasons"),
            (RevocationPoints.inList([RevocationPoints.flag(5)]), "a list for attribute certificates"),
            (TestExtension([1, 2, 3], isCritical: true, value: [5, 0]), "a list with the critical extension 1.2.3"),
        ])
    func kinds(kind: TestExtension, name: String) throws {
        let leaf = try leaf()
        let serial = try RevocationScene.serial(leaf)
        let unusable = try list([kind])
        for unknown in [Revocation.UnknownStatus.fails, .passesWithoutList] {
            let outcome = try scene([unusable]).outcome(leaf, unknownLeaf: unknown)
            #expect(outcome.failure?.code == .revocationUnknown)
            #expect(outcome.failure?.found == name)
        }
        #expect(try scene([unusable]).code(leaf, unknownLeaf: .passes) == nil)
        // Beside a complete list it changes nothing, but what it revokes is revoked.
        #expect(try scene([unusable, list([])]).code(leaf) == nil)
        #expect(try CertificateRevocationList(der: unusable).unsupported == name)
        let naming = try list([kind], [serial])
        let isAboutAttributes = name.contains("attribute")
        for lists in [[naming, try list([])], [try list([]), naming]] {
            #expect(try scene(lists).code(leaf) == (isAboutAttributes ? nil : .revoked))
        }
        #expect(try scene([naming]).code(leaf, unknownLeaf: .passes) == (isAboutAttributes ? nil : .revoked))
    }

    @Test("A delta list that takes an entry back revokes nothing, and vouches for nothing")
    func removed() throws {
        let leaf = try leaf()
        let serial = try RevocationScene.serial(leaf)
        func entry(_ reason: UInt8) -> [TestExtension] { [.init(Self.reason, value: [0x0A, 1, reason])] }
        let removing = try list([Points.delta(base: 1)], [serial], entry: entry(8))
        #expect(try scene([list([]), removing]).code(leaf) == nil)
        #expect(try scene([list([], [serial], entry: entry(6)), removing]).code(leaf) == .revoked)
        #expect(try scene([list([]), list([Points.delta(base: 1)], [serial], entry: entry(1))]).code(leaf) == .revoked)
        // Outside delta lists there is no taking back.
        #expect(try scene([list([], [serial], entry: entry(8))]).code(leaf) == .revoked)
    }

    @Test("An entry of an indirect list that is another issuer's revokes nobody of this one's")
    func otherIssuers() throws {
        let leaf = try leaf()
        let serial = try RevocationScene.serial(leaf)
        for (name, code) in [("Another", nil), ("ISSUING", .revoked)] as [(String, TrustFailure.Code?)] {
            let issuer = TestName([.init(.country, "DE"), .init(.commonName, name)])
            let names = TestDER.sequence([TestDER.context(4, constructed: issuer.der)])
            let entry = TestExtension([2, 5, 29, 29], isCritical: true, value: names)
            let indirect = try list([Points.inList([Points.flag(4)])], [serial], entry: [entry])
            #expect(try scene([list([]), indirect]).code(leaf) == code)
        }
    }

    @Test("An unknown critical extension of an entry makes a list vouch for nobody")
    func criticalEntry() throws {
        let leaf = try leaf()
        let odd = TestExtension([1, 2, 3], isCritical: true, value: [5, 0])
        #expect(try scene([list([], [[1]], entry: [odd])]).code(leaf) == .revocationUnknown)
        let serial = try RevocationScene.serial(leaf)
        #expect(try scene([list([], [serial], entry: [odd])]).code(leaf) == .revoked)
    }

    @Test("Lists for end entities speak of no CA, lists for CAs of no end entity; a CA in a server's place is a CA")
    func kindsOfCertificates() throws {
        let server = try leaf()
        let authority = try issuing.leaf(names: ["www.example.com"]) {
            $0.basicConstraints = .init(isAuthority: true)
            $0.keyUsage = [.keyCertSign, .digitalSignature]
        }
        for (flag, certificate, code) in [
            (1, server, nil), (1, authority, .revocationUnknown), (2, server, .revocationUnknown), (2, authority, nil),
        ] as [(UInt8, TestCertificate, TrustFailure.Code?)] {
            #expect(try scene([list([Points.inList([Points.flag(flag)])])]).code(certificate) == code)
        }
        let both = Points.inList([Points.flag(1), Points.flag(2)])
        #expect(try scene([list([both])]).code(server) == .revocationUnknown)
    }

    private static func name(_ common: String, _ issuer: String = "Issuing") -> TestName {
        TestName([.init(.country, "DE"), .init(.commonName, issuer), .init(.commonName, common)])
    }

    @Test("Distribution points match by any full name, by the whole of a relative one, and by the issuer's own name")
    func points() throws {
        let relative = Points.relative(TestName([.init(.commonName, "Part 1")]))
        let directory = Points.directory(Self.name("Part 1"))
        let other = Points.directory(Self.name("Part 2"))
        let (first, second) = (Points.url("http://crl.example/1"), Points.url("http://crl.example/2"))
        let two = Points.full(
            TestDER.context(6, primitive: Array("ldap://other".utf8)),
            TestDER.context(6, primitive: Array("http://crl.example/1".utf8)))
        let upper = Points.directory(
            TestName([
                .init(.country, "de"), .init(.commonName, "ISSUING"), .init(.commonName, "part  1", as: .printable),
            ]))
        let registered = { (arc: UInt8) in Points.full(TestDER.context(8, primitive: [0x2A, arc])) }
        for (inCertificate, inList, matches) in [
            (directory, directory, true), (directory, other, false), (relative, relative, true),
            (relative, directory, true), (directory, relative, true), (relative, other, false),
            (other, relative, false), (upper, relative, true), (upper, directory, true), (first, first, true),
            (first, second, false), (two, first, true), (first, two, true), (second, two, false),
            (registered(3), registered(3), true), (registered(3), registered(4), false),
            (relative, Points.directory(Self.name("Part 1", "Other")), false),
        ] {
            let leaf = try leaf(Points.inCertificate([inCertificate]))
            let part = try scene([list([Points.inList([inList])])])
            #expect(try part.code(leaf) == (matches ? nil : .revocationUnknown))
            // One point of several is enough.
            let several = try self.leaf(Points.inCertificate([other, inCertificate]))
            #expect(try part.code(several) == (matches || inList == other ? nil : .revocationUnknown))
        }
        let issuer = Points.directory(TestName([.init(.country, "DE"), .init(.commonName, "Issuing")]))
        for certificate in [try leaf(), try leaf(Points.inCertificate([first]))] {
            #expect(try scene([list([Points.inList([issuer])])]).code(certificate) == nil)
            #expect(try scene([list([])]).code(certificate) == nil)
        }
    }

    @Test("A distribution point for some reasons, or of another issuer's lists, is none that vouches")
    func partialPoints() throws {
        let point = Points.url("http://crl.example/1")
        let part = try scene([list([Points.inList([point])])])
        let some = try part.outcome(leaf(Points.inCertificate([point], reasons: [0x05, 0x60])))
        #expect(some.failure?.found == "a list of a distribution point for some reasons")
        #expect(try part.code(leaf(Points.inCertificate([point], issuer: "Other"))) == .revocationUnknown)
        // A list for all certificates of the issuer needs none.
        #expect(try scene([list([])]).code(leaf(Points.inCertificate([point], reasons: [0x05, 0x60]))) == nil)
    }

    @Test("Hostile distribution points cost what is counted, and name nothing past a number")
    func hostilePoints() throws {
        let relative = Points.relative(TestName([.init(.commonName, "Part 1")]))
        let certificate = try leaf(Points.inCertificate([[UInt8]](repeating: relative, count: 2_000)))
        var work = 0
        let points = CertificateDistributionPoints(of: try X509Certificate(der: certificate.der), work: &work)
        #expect(points.names.count == 2)
        #expect((1...20_000).contains(work))
        let names = (0..<100).map { TestDER.context(6, primitive: Array("http://crl.example/\($0)".utf8)) }
        let many = try leaf(
            Points.inCertificate([
                TestDER.context(
                    0,
                    constructed: TestDER.context(
                        0, constructed: names.flatMap { $0 }))
            ]))
        let cut = CertificateDistributionPoints(of: try X509Certificate(der: many.der), work: &work)
        #expect(cut.names.count == 1)
    }

    @Test("A list out of date, of the future or without a next update says so; what it revokes stays revoked")
    func validity() throws {
        let leaf = try leaf()
        let serial = try RevocationScene.serial(leaf)
        for (change, found, mayBeOlder) in [
            ({ $0.nextUpdate = .after(.seconds(-1)) }, "a list that is out of date", true),
            ({ $0.thisUpdate = .after(.seconds(1)) }, "a list of the future", false),
            ({ $0.nextUpdate = nil }, "a list without nextUpdate", true),
        ] as [((inout TestRevocationList) -> Void, String, Bool)] {
            let list = try issuing.revocationList(change)
            #expect(try scene([list]).outcome(leaf).failure?.found == found)
            #expect(try scene([list, issuing.revocationList()]).code(leaf) == nil)
            let naming = try issuing.revocationList {
                change(&$0)
                $0.serialNumbers = [serial]
            }
            #expect(try scene([naming]).code(leaf, unknownLeaf: .passes) == .revoked)
            // A newer list on which it no longer stands, after a hold, counts.
            let newer = try issuing.revocationList {
                $0.number = 2
                $0.thisUpdate = .after(.seconds(0))
            }
            #expect(try scene([naming, newer]).code(leaf) == (mayBeOlder ? nil : .revoked))
        }
    }

    @Test(
        "Lists of every kind of key verify, and none whose signature is broken or made with SHA-1",
        arguments: [
            (TestKey.Choice.p256, TestSignature.ecdsa(.sha256)), (.p384, .ecdsa(.sha384)), (.p521, .ecdsa(.sha512)),
            (.ed25519, .ed25519), (.sharedRSA(bits: 2048, index: 0), .rsaPKCS1(.sha256)),
            (.sharedRSA(bits: 2048, index: 0), .rsaPKCS1(.sha512)),
            (.sharedRSA(bits: 2048, index: 0), .rsaPSS(.sha256)),
            (.sharedRSA(bits: 2048, index: 0), .rsaPSS(.sha384)),
        ])
    func algorithms(key: TestKey.Choice, signature: TestSignature) throws {
        let authority = try root.intermediate(name: "Other", key: key)
        let leaf = try authority.leaf(names: ["www.example.com"])
        let serial = try RevocationScene.serial(leaf)
        let clean = try authority.revocationList { $0.signature = signature }
        #expect(try scene([clean]).code(leaf) == nil)
        let naming = try authority.revocationList {
            $0.signature = signature
            $0.serialNumbers = [serial]
        }
        #expect(try scene([naming]).code(leaf) == .revoked)
        for forged in [clean, naming] {
            var bytes = forged
            bytes[bytes.count - 3] ^= 1
            #expect(try scene([bytes]).code(leaf) == .revocationUnknown)
        }
        if case .p256 = key {
            let weak = try authority.revocationList { $0.signature = .ecdsa(.sha1) }
            #expect(try scene([weak]).outcome(leaf).failure?.found.contains("ECDSA with SHA-1") == true)
        }
    }

    @Test("An unknown status is one thing for a leaf and another for issuers")
    func unknown() throws {
        let leaf = try leaf()
        var scene = RevocationScene(root)
        typealias Unknown = Revocation.UnknownStatus
        func code(_ leafStatus: Unknown, _ issuer: Unknown) throws -> TrustFailure.Code? {
            try scene.code(leaf, unknownLeaf: leafStatus, unknownIssuer: issuer)
        }
        #expect(try code(.passes, .passes) == nil && code(.passesWithoutList, .passesWithoutList) == nil)
        #expect(try code(.fails, .passes) != nil && code(.passes, .fails) != nil)
        scene.lists = [try issuing.revocationList()]
        #expect(try code(.fails, .passes) == nil && code(.passes, .fails) == .revocationUnknown)
        scene.lists = [try root.revocationList()]
        #expect(try code(.fails, .passes) == .revocationUnknown && code(.passes, .fails) == nil)
        scene.lists = [try root.revocationList { $0.nextUpdate = .after(.seconds(-1)) }]
        #expect(try code(.passes, .passes) == nil && code(.passes, .passesWithoutList) == .revocationUnknown)
    }

    @Test("A list says each extension once, and its distribution point has a name")
    func malformed() throws {
        let leaf = try leaf()
        let number = TestExtension([2, 5, 29, 20], value: TestDER.integer(7))
        #expect(try scene([list([number])]).outcome(leaf).failure?.found == "a list with an extension twice")
        for fields in [[TestDER.context(0, constructed: TestDER.context(0, constructed: []))], [[0x05, 0x00]]] {
            let odd = try list([Points.inList(fields)])
            #expect(throws: CertificateError.self) { try CertificateRevocationList(der: odd) }
        }
    }

    @Test("A list of many entries is an index of eight octets each, and finds all of them and no others")
    func many() throws {
        // 3-byte numbers in one list, every second one.
        let serials = (0..<20_000).map { number -> [UInt8] in
            let value = 0x20_0000 + 2 * number
            return [UInt8(value >> 16), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
        }
        let read = try CertificateRevocationList(der: list([], serials + serials.prefix(100)))
        #expect(read.count == serials.count)
        #expect(read.indexBytes <= 9 * serials.count)
        #expect(serials.allSatisfy { read.lists($0[...]) && read.lists(([0] + $0)[...]) })
        #expect(
            !serials.contains { serial in
                var other = serial
                other[2] += 1
                return read.lists(other[...]) || read.lists(serial.prefix(2)) || read.lists((serial + [0])[...])
            })
    }
}
