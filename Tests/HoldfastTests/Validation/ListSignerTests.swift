import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Who may sign a revocation list, RFC 5280 6.3.3 (f)")
struct ListSignerTests {
    private let root: TestAuthority
    private let old: TestAuthority
    private let new: TestAuthority
    private let leaf: TestCertificate
    private let serial: [UInt8]

    init() throws {
        root = try Judge.root()
        old = try root.intermediate(name: "Issuing")
        new = try root.intermediate(name: "Issuing")
        leaf = try old.leaf(names: ["www.example.com"])
        serial = try RevocationScene.serial(leaf)
    }

    private func scene(_ lists: [[UInt8]], presented: [TestAuthority] = [], given: [TestAuthority] = []) throws
        -> RevocationScene
    {
        var scene = RevocationScene(root)
        scene.lists = try [root.revocationList()] + lists
        (scene.presented, scene.certificates) = (presented, given)
        return scene
    }

    @Test("After a rollover the authority's new key vouches and revokes, be its certificate presented or given")
    func rollover() throws {
        let clean = try new.revocationList()
        let revoking = try new.revocationList { $0.serialNumbers = [serial] }
        #expect(try scene([clean], presented: [new]).code(leaf) == nil)
        #expect(try scene([clean], given: [new]).code(leaf) == nil)
        #expect(try scene([revoking], presented: [new]).code(leaf) == .revoked)
        #expect(try scene([revoking], given: [new]).code(leaf) == .revoked)
        #expect(try scene([clean]).code(leaf) == .revocationUnknown)
        // A list under each key: whichever revokes counts.
        #expect(try scene([old.revocationList(), revoking], given: [new]).code(leaf) == .revoked)
        #expect(try scene([revoking, old.revocationList()], given: [new]).code(leaf) == .revoked)
    }

    @Test("A new key that the old one certified, and an old one that the new one certified, sign lists as well")
    func selfIssued() throws {
        let newWithOld = try old.crossSign(try TestAuthority.root(name: "Issuing", clock: Judge.clock))
        // The certificate of the new key is on a list under the old key, which is for it alone.
        let point = RevocationPoints.directory("Issuing, rollover")
        let listed = try old.intermediate(name: "Issuing") { $0.extensions = [RevocationPoints.inCertificate([point])] }
        let ofNew = try old.revocationList { $0.extensions = [RevocationPoints.inList([point])] }
        #expect(try scene([ofNew, listed.revocationList()], presented: [listed]).code(leaf) == nil)
        let revoking = try listed.revocationList { $0.serialNumbers = [serial] }
        #expect(try scene([ofNew, revoking], presented: [listed]).code(leaf) == .revoked)
        // Without it, the new key would speak for itself alone.
        #expect(
            try scene([newWithOld.revocationList()], presented: [newWithOld]).code(leaf) == .revocationUnknown)

        // The leaf under the old key, whose certificate the new one signed.
        let oldWithNew = try new.intermediate(name: "Issuing")
        let below = try oldWithNew.leaf(names: ["www.example.com"])
        #expect(try scene([new.revocationList()]).code(below) == nil)
        let number = try RevocationScene.serial(below)
        #expect(try scene([new.revocationList { $0.serialNumbers = [number] }]).code(below) == .revoked)
        let own = try RevocationScene.serial(oldWithNew.certificate)
        #expect(try scene([new.revocationList { $0.serialNumbers = [own] }]).code(below) == .revoked)
    }

    private func listKey(
        _ change: @escaping (inout CertificateSpecification) -> Void = { _ in }
    ) throws -> TestAuthority {
        try root.intermediate(name: "Issuing") {
            $0.basicConstraints = nil
            $0.keyUsage = .crlSign
            change(&$0)
        }
    }

    @Test("A key for lists alone signs lists, where its keyUsage says so")
    func listsAlone() throws {
        let key = try listKey()
        let clean = try key.revocationList()
        #expect(try scene([clean], presented: [key]).code(leaf) == nil)
        #expect(
            try scene([key.revocationList { $0.serialNumbers = [serial] }], presented: [key]).code(leaf) == .revoked)
        for usage in [.digitalSignature, nil, .keyCertSign] as [CertificateSpecification.KeyUsage?] {
            let other = try listKey { $0.keyUsage = usage }
            #expect(try scene([other.revocationList()], presented: [other]).code(leaf) == .revocationUnknown)
        }
        // An issuer that may sign no lists leaves that to another key.
        let certifying = try root.intermediate(name: "Issuing") { $0.keyUsage = .keyCertSign }
        let below = try certifying.leaf(names: ["www.example.com"])
        #expect(try scene([certifying.revocationList()]).code(below) == .revocationUnknown)
        #expect(try scene([clean], given: [key]).code(below) == nil)
        // Nor does the key for lists sign certificates.
        let odd = try key.leaf(names: ["www.example.com"])
        #expect(try scene([clean], given: [key]).code(odd) != nil)
    }

    @Test("A signer's certificate is valid, not revoked, of the issuer's name and below the same anchor")
    func unfit() throws {
        for change in [
            { $0.notAfter = .hours(-1) }, { $0.notBefore = .hours(1) }, { $0.subject = "Another" },
            { $0.extensions = [TestExtension([1, 2, 3], isCritical: true, value: [5, 0])] },
            { $0.signature = .ecdsa(.sha1) }, { $0.version = 1 },
        ] as [(inout CertificateSpecification) -> Void] {
            let other = try listKey(change)
            let signed = try old.revocationList { $0.signer = other.certificate.key }
            #expect(try scene([signed], presented: [other]).code(leaf) == .revocationUnknown)
        }
        let key = try listKey()
        var revoked = try scene([key.revocationList()], presented: [key])
        let number = try RevocationScene.serial(key.certificate)
        revoked.lists[0] = try root.revocationList { $0.serialNumbers = [number] }
        #expect(try revoked.code(leaf) == .revocationUnknown)
        #expect(try revoked.outcome(leaf).failure?.found.contains("signer without a valid path") == true)

        let stranger = try Judge.root("Stranger")
        let foreign = try stranger.intermediate(name: "Issuing")
        var both = try scene([foreign.revocationList()], presented: [foreign, stranger])
        #expect(try both.code(leaf) == .revocationUnknown)
        // Not even where that is an anchor as well.
        let validator = PathValidator(
            anchors: try TrustAnchors(der: [root.root, stranger.root]),
            revocation: .crls(try both.lists.map { try CertificateRevocationList(der: $0) }))
        let outcome = validator.validate(
            PresentedChain(leaf.chain + [foreign.certificate.der]), for: .server(identity: nil), at: Judge.now
        ) { _ in true }
        #expect(outcome.failure?.code == .revocationUnknown)
        both.presented = [try root.crossSign(foreign)]
        #expect(try both.code(leaf) == nil)
    }

    @Test("The status of a signer is asked of its own issuer's lists, and no further")
    func oneLevel() throws {
        // The root's list is signed by its new key, and so says nothing about the signer of the issuer's list.
        let rolled = try root.crossSign(try TestAuthority.root(name: "Test Root", clock: Judge.clock))
        let ofRoot = try rolled.revocationList()
        var one = RevocationScene(root)
        one.lists = try [ofRoot, new.revocationList()]
        one.presented = [new, rolled]
        #expect(try one.code(leaf, unknownIssuer: .fails) == .revocationUnknown)
        #expect(try one.code(leaf, unknownIssuer: .passes) == nil)
    }

    @Test("A revoked authority does not clear itself by a signer below it")
    func circle() throws {
        // Issuing makes an authority that is named like its own issuer.
        let below = try old.intermediate(name: "Test Root")
        var scene = RevocationScene(root)
        scene.presented = [below]
        scene.lists = try [below.revocationList(), old.revocationList()]
        #expect(try scene.code(leaf) == .revocationUnknown)
        #expect(try scene.code(leaf, unknownLeaf: .passesWithoutList, unknownIssuer: .passesWithoutList) != nil)
    }

    @Test("Intermediates given with the lists complete a signer's path, and no path of a server")
    func givenIntermediates() throws {
        let upper = try root.intermediate(name: "Upper")
        let key = try upper.intermediate(name: "Issuing")
        var scene = try scene([upper.revocationList(), key.revocationList()], given: [key, upper])
        #expect(try scene.code(leaf) == nil)
        scene.certificates = [key]
        #expect(try scene.code(leaf) == .revocationUnknown)
        let hidden = try upper.leaf(names: ["www.example.com"])
        scene.certificates = [upper]
        let outcome = try scene.validator(.passes, .passes).validate(
            PresentedChain([hidden.der]), for: .server(identity: nil), at: Judge.now
        ) { _ in true }
        #expect(outcome.failure?.code == .unknownIssuer)
    }

    @Test("Signers and their paths come out of the one budget")
    func budget() throws {
        let stranger = try Judge.root("Stranger")
        let decoys = try (0..<100).map { _ in try stranger.intermediate(name: "Issuing") }
        var one = try scene([new.revocationList()], presented: decoys + [new])
        let outcome = try one.outcome(leaf)
        #expect(outcome.effort.signatures <= 10, "decoys lead to no anchor, and lists are not verified under them")
        #expect(outcome.path != nil)
        let used = outcome.effort.signatures
        one.limits.signatures = used
        #expect(try one.code(leaf) == nil)
        one.limits.signatures = used - 1
        #expect(try one.code(leaf) == .budgetExceeded)
        let certified = try (0..<60).map { _ in try root.intermediate(name: "Issuing") }
        let key = try TestKey()
        let many = try scene([old.revocationList { $0.signer = key }], presented: certified)
        #expect(try many.outcome(leaf).effort.signatures <= 100)
        #expect(try many.code(leaf) != nil)
    }

    @Test("A remembered path ends with the certificate of the key that signed the list")
    func end() throws {
        let short = try root.intermediate(name: "Issuing") { $0.notAfter = .hours(2) }
        let path = try #require(try scene([short.revocationList()], presented: [short]).outcome(leaf).path)
        #expect(path.holdsUntil <= Judge.now + 7_201)
    }

    @Test("The rules of lists stand in the trace, those that a list broke where nobody vouches")
    func trace() throws {
        let rules = ["list scope", "list kind", "list validity", "list signer", "list signature", "revocation"]
        let kept = try scene([new.revocationList()], presented: [new]).rules(leaf)
        #expect(kept.allSatisfy { $0.failure == nil })
        #expect(kept.filter { rules.contains($0.rule) }.map(\.rule) == rules + rules)
        for (list, rule) in [
            (try new.revocationList { $0.nextUpdate = .hours(-1) }, "list validity"),
            (try new.revocationList { $0.number = nil }, "list kind"), (try new.revocationList(), "list signature"),
        ] {
            let broken = try scene([list]).rules(leaf).filter { $0.failure != nil }
            #expect(broken.map(\.rule) == [rule, "revocation"])
        }
        let unfit = try listKey { $0.notAfter = .hours(-1) }
        let broken = try scene([unfit.revocationList()], presented: [unfit]).rules(leaf).filter { $0.failure != nil }
        #expect(broken.map(\.rule) == ["list signer", "revocation"])
    }

    @Test("Where pins alone decide, no presented certificate makes another key the issuer's")
    func pinOnly() throws {
        // A thief of the leaf's key signs it as an authority of the issuer's name that certifies the real one's key.
        let fake = try TestAuthority.root(name: "Issuing", clock: Judge.clock)
        let stolen = try fake.impersonate(leaf, key: .existing(leaf.key))
        let certified = try fake.crossSign(old)
        let policy = try PinnedPolicy(
            host: HostPattern(Judge.host), pins: PinSet(pins: [X509Certificate(der: leaf.der).publicKeyPin]),
            certificatePinOnly: true)
        let lists = try [old.revocationList(), root.revocationList()].map { try CertificateRevocationList(der: $0) }
        let validator = PathValidator(
            anchors: try TrustAnchors(der: [root.root]), revocation: .crls(lists, isRequired: true))
        func code(_ chain: [[UInt8]]) throws -> TrustFailure.Code? {
            let trust = ServerTrust(
                chain: PresentedChain(chain), purpose: .server(identity: try DialedHost(Judge.host)),
                validator: validator)
            return policy.evaluate(trust, at: Judge.now).failure?.code
        }
        #expect(try code(leaf.chain) == nil)
        #expect(try code([stolen.der, fake.root, certified.certificate.der]) == .revocationUnknown)
    }

    @Test("Where pins alone decide, a fetched list counts whatever key the presented issuer has")
    func pinOnlyFetched() throws {
        let rsa = try root.intermediate(name: "Issuing", key: .rsa(bits: 2_048))
        let signed = try rsa.leaf(names: ["www.example.com"])
        // The same key, spelled without its parameters.
        let respelled = try Self.withoutParameters(rsa.certificate.der)
        for (leaf, issuer, signer, expected) in [
            (signed, rsa.certificate.der, rsa, TrustFailure.Code.revoked), (signed, respelled, rsa, .revoked),
            // The presenter can compute a P-256 key of the issuer under which the leaf's signature verifies.
            (leaf, old.certificate.der, new, .revocationUnknown),
        ] {
            let serial = try RevocationScene.serial(leaf)
            var list = try CertificateRevocationList(der: signer.revocationList { $0.serialNumbers = [serial] })
            let key = try X509Certificate(der: signer.certificate.der).keyIdentity
            list.provenance = .init(
                digest: SHA256Digest.of(list.der), signer: key, authority: key, address: OctetString([]))
            let policy = try PinnedPolicy(
                host: HostPattern(Judge.host), pins: PinSet(pins: [X509Certificate(der: leaf.der).certificatePin]),
                certificatePinOnly: true)
            let trust = ServerTrust(
                chain: PresentedChain([leaf.der, issuer]), purpose: .server(identity: try DialedHost(Judge.host)),
                validator: PathValidator(anchors: try TrustAnchors(der: [root.root]), revocation: .crls([list])))
            #expect(policy.evaluate(trust, at: Judge.now).failure?.code == expected)
        }
    }

    /// The certificate with a key of RSA whose algorithm has no NULL behind it.
    private static func withoutParameters(_ der: [UInt8]) throws -> [UInt8] {
        let layout = try X509Certificate(der: der).layout
        var outer = DERReader(der)
        var fields = outer.inside(try outer.next(DERTag.sequence))
        var content = DERReader(der, in: try fields.next(DERTag.sequence).content)
        var toBeSigned: [UInt8] = []
        while !content.isAtEnd {
            let field = try content.next()
            guard field.encoded == layout.subjectPublicKeyInfo else {
                toBeSigned += der[field.encoded]
                continue
            }
            var key = DERReader(der, in: field.content)
            var algorithm = key.inside(try key.next(DERTag.sequence))
            let identifier = der[try algorithm.next(DERTag.objectIdentifier).encoded]
            let bits = der[try key.next(DERTag.bitString).encoded]
            toBeSigned += DEREncoding.element(
                DERTag.sequence, DEREncoding.element(DERTag.sequence, Array(identifier)) + bits)
        }
        let rest = der[fields.position..<fields.end]
        return DEREncoding.element(DERTag.sequence, DEREncoding.element(DERTag.sequence, toBeSigned) + rest)
    }
}
