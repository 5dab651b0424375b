import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Path building, RFC 4158")
struct PathSearchTests {
    @Test("A chain leads to its root in any order, with duplicates and garbage between")
    func anyOrder() throws {
        let root = try Judge.root()
        let (first, other) = (try root.intermediate(name: "One"), try Judge.root("Stranger"))
        let leaf = try first.intermediate(name: "Two").leaf(names: ["www.example.com"])
        let rest = Array(leaf.chain.dropFirst()) + [root.root]
        let noise = [[], [0x30], Array("garbage".utf8), other.root, leaf.der] + rest + [rest[0], rest[0]]
        var generator = SplitMix64(seed: 1)
        for count in 0..<20 {
            let presented = [leaf.der] + (rest + noise.prefix(count)).shuffled(using: &generator)
            let outcome = try Judge.outcome(presented, trusting: [other.root, root.root])
            #expect(outcome.path?.certificates.map(\.der) == leaf.chain + [root.root])
            #expect(outcome.effort.signatures == 3)
            #expect(outcome.failure == nil)
        }
    }

    @Test("A certificate that cannot be read is skipped, counted and named, unless it is the leaf")
    func unreadable() throws {
        let root = try Judge.root()
        let leaf = try root.intermediate().leaf(names: ["www.example.com"])
        let outcome = try Judge.outcome([leaf.der, [1, 2, 3], leaf.chain[1]], trusting: [root.root])
        #expect(outcome.path != nil)
        #expect(outcome.unusable.map(\.position) == [1])
        let failed = try Judge.outcome([leaf.der, [1, 2, 3]], trusting: [root.root])
        #expect(failed.failure?.unusable.map(\.position) == [1])
        #expect(failed.failure?.description.contains("certificate 1 of the presented chain was left out") == true)
        #expect(try Judge.complaint([[1, 2, 3]] + leaf.chain, trusting: [root.root]) == .unreadableCertificate)
    }

    @Test("What was presented makes no anchor: not a root, not a self-signed leaf")
    func presentedRoots() throws {
        let (root, trusted) = (try Judge.root(), try Judge.root("Trusted"))
        let leaf = try root.leaf(names: ["www.example.com"])
        #expect(try Judge.complaint(leaf.chain + [root.root], trusting: [trusted.root]) == .unknownIssuer)
        let own = try TestAuthority.selfSigned(names: ["www.example.com"], clock: Judge.clock)
        #expect(try Judge.complaint([own.der], trusting: [trusted.root]) == .unknownIssuer)
        #expect(try Judge.complaint([own.der, trusted.root], trusting: [trusted.root]) == .unknownIssuer)
        // A root of the same name with another key, presented and trusted.
        let twin = try Judge.root()
        #expect(try Judge.complaint(leaf.chain + [root.root], trusting: [twin.root]) == .unknownIssuer)
        let nameless = try Judge.root { $0.subjectKeyIdentifier = .absent }
        #expect(try Judge.complaint(leaf.chain + [root.root], trusting: [nameless.root]) == .invalidSignature)
    }

    @Test("An authority that renewed its key under the same name is told from a certificate that was altered")
    func renewedAuthority() throws {
        let (old, new) = (try Judge.root(), try Judge.root())
        let leaf = try new.leaf(names: ["www.example.com"])
        let failure = try #require(try Judge.outcome(leaf.chain, trusting: [old.root]).failure)
        #expect(failure.code == .unknownIssuer && failure.expected.contains("authorityKeyIdentifier names"))
        let identifier = try #require(try X509Certificate(der: new.root).subjectKeyIdentifier)
        #expect(failure.expected.contains(Hexadecimal.encode(identifier)), "\(failure.expected)")
        #expect(failure.remedy.contains("more than one key") && !failure.description.contains("altered"))
        // The same further up in a chain, and whatever else has the name.
        let deep = try new.intermediate().leaf(names: ["www.example.com"])
        let other = try Judge.outcome(deep.chain, trusting: [try Judge.root("Other").root, old.root]).failure
        #expect(other?.remedy == failure.remedy)
        // With its own key, an altered one is one.
        let altered = try new.leaf(names: ["www.example.com"]) { $0.faults = [.flippedSignatureBit] }
        #expect(try Judge.complaint(altered.chain, trusting: [new.root]) == .invalidSignature)
    }

    @Test("A missing intermediate cannot be made up for")
    func missing() throws {
        let root = try Judge.root()
        let leaf = try root.intermediate(name: "One").intermediate(name: "Two").leaf(names: ["www.example.com"])
        #expect(try Judge.complaint([leaf.der, leaf.chain[1]], trusting: [root.root]) == .unknownIssuer)
        #expect(try Judge.complaint([leaf.der, leaf.chain[2]], trusting: [root.root]) == .unknownIssuer)
        #expect(try Judge.complaint([leaf.der], trusting: [root.root]) == .unknownIssuer)
        #expect(try Judge.complaint(leaf.chain, trusting: [root.root]) == nil)
    }

    @Test("A leaf that is an anchor stands alone, judged by every rule for leaves")
    func leafAsAnchor() throws {
        let own = try TestAuthority.selfSigned(names: ["www.example.com"], clock: Judge.clock)
        let outcome = try Judge.outcome([own.der], trusting: [own.der])
        #expect(outcome.path?.certificates.count == 1)
        #expect(outcome.effort.signatures == 0)
        #expect(try Judge.complaint([own.der], trusting: [own.der], for: "other.example") == .hostNameMismatch)
        #expect(try Judge.complaint([own.der], trusting: [own.der], at: Judge.now + 86_400 * 91) == .expired)
        let issued = try Judge.root().leaf(names: ["www.example.com"])
        #expect(try Judge.complaint([issued.der], trusting: [issued.der]) == nil)
    }

    @Test("An anchor that is no CA, has expired or may not sign ends no path but its own")
    func unfitAnchors() throws {
        for (change, code) in [
            ({ $0.basicConstraints = nil }, .notACertificateAuthority),
            ({ $0.notAfter = .after(.seconds(-1)) }, .expired),
            ({ $0.keyUsage = .digitalSignature }, .keyUsageForbidsSigning), ({ $0.version = 1 }, .unsupportedVersion),
            ({ $0.extendedKeyUsage = [.emailProtection] }, .wrongExtendedKeyUsage),
            (
                {
                    $0.subject = .empty; $0.issuer = "x"
                }, .emptyName
            ),
        ] as [((inout CertificateSpecification) -> Void, TrustFailure.Code)] {
            let root = try Judge.root(configure: change)
            let leaf = try root.leaf(names: ["www.example.com"])
            #expect(try Judge.complaint(leaf.chain, trusting: [root.root]) == code)
        }
    }

    @Test("Anchors of one name and different keys are told apart", arguments: [false, true])
    func anchorTwins(identifiers: Bool) throws {
        let roots = try (0..<5).map { _ in
            try Judge.root { $0.subjectKeyIdentifier = identifiers ? .automatic : .absent }
        }
        for root in roots {
            let outcome = try Judge.outcome(
                try root.leaf(names: ["www.example.com"]).chain, trusting: roots.map(\.root))
            #expect(outcome.path?.anchor?.der == root.root)
            if identifiers { #expect(outcome.effort.signatures == 1) }
        }
    }

    @Test("A path is found through a cross-signed root, whichever of the two is trusted")
    func crossSigning() throws {
        let (old, new) = (try Judge.root("Old"), try Judge.root("New"))
        let crossed = try old.crossSign(new)
        let leaf = try new.intermediate().leaf(names: ["www.example.com"])
        let chain = leaf.chain + [crossed.certificate.der]
        #expect(try Judge.outcome(chain, trusting: [old.root]).path?.certificates.count == 4)
        #expect(try Judge.outcome(chain, trusting: [new.root]).path?.certificates.count == 3)
        // The anchor nearest is found first; a caller that wants the other gets it.
        let both = [old.root, new.root]
        #expect(try Judge.outcome(chain, trusting: both).path?.anchor?.der == new.root)
        let wanted = try Judge.outcome(chain, trusting: both) { $0.anchor?.der == old.root }
        #expect(wanted.path?.anchor?.der == old.root)
        #expect(wanted.otherPaths.map { $0.anchor?.der } == [new.root])
        #expect(wanted.failure == nil)
    }

    @Test("Valid paths that the caller does not accept are reported, and are no failure")
    func notAccepted() throws {
        let roots = try (0..<12).map { try Judge.root(.commonName("Root \($0)")) }
        let issuing = try roots[0].intermediate()
        let crossed = try roots.dropFirst().map { try $0.crossSign(issuing).certificate.der }
        let leaf = try issuing.leaf(names: ["www.example.com"])
        var shown = 0
        let outcome = try Judge.outcome(leaf.chain + crossed, trusting: roots.map(\.root)) { _ in
            shown += 1
            return false
        }
        #expect(shown == 12)
        #expect(outcome.path == nil)
        #expect(outcome.failure == nil)
        #expect(outcome.otherPaths.count == 8)
        #expect(Set(outcome.otherPaths.map(\.anchor)).count == 8)
    }

    @Test("What the caller wants above an intermediate that is an anchor itself is found", arguments: [false, true])
    func anchorBelowAnchor(isPresented: Bool) throws {
        let root = try Judge.root()
        let upper = try root.intermediate(name: "Upper")
        let issuing = try upper.intermediate(name: "Issuing")
        let leaf = try issuing.leaf(names: ["www.example.com"])
        let chain = isPresented ? leaf.chain : [leaf.der]
        let anchors = [issuing.certificate.der, upper.certificate.der, root.root]
        #expect(try Judge.outcome(chain, trusting: anchors).path?.anchor?.der == issuing.certificate.der)
        for anchor in anchors {
            let outcome = try Judge.outcome(chain, trusting: anchors) { $0.anchor?.der == anchor }
            #expect(outcome.path?.anchor?.der == anchor)
            #expect(outcome.failure == nil)
        }
        // Its own signature and the rules for issuers hold there as everywhere.
        let stranger = try Judge.root("Stranger")
        let forged = try TestAuthority(
            root.issue(upper.certificate.specification, key: .existing(upper.certificate.key)), clock: Judge.clock
        ).crossSign(issuing) { $0.faults = [.flippedSignatureBit] }
        let refused = try Judge.outcome([leaf.der], trusting: [forged.certificate.der, root.root, stranger.root]) {
            $0.anchor?.der == root.root
        }
        #expect(refused.path == nil)
        #expect(refused.failure == nil)
        #expect(refused.otherPaths.map { $0.anchor?.der } == [forged.certificate.der])
    }

    @Test("Loops end by themselves")
    func loops() throws {
        let (one, two) = (try Judge.root("One"), try Judge.root("Two"))
        let chain = try one.leaf(names: ["www.example.com"]).chain
        let loop = [try two.crossSign(one).certificate.der, try one.crossSign(two).certificate.der]
        let outcome = try Judge.outcome(chain + loop + [one.root, two.root], trusting: [Judge.root("Trusted").root])
        #expect(outcome.failure?.code == .unknownIssuer)
        #expect(outcome.effort.steps < 20)
        #expect(try Judge.complaint(chain + loop, trusting: [two.root]) == nil)
    }

    @Test("Expired and wrong-key twins of an intermediate do not hide the good one", arguments: 0..<6)
    func twins(seed: UInt64) throws {
        let root = try Judge.root()
        let good = try root.intermediate(name: "Issuing")
        let key = TestKey.Choice.existing(good.certificate.key)
        let expired = try root.intermediate(name: "Issuing", key: key) { $0.notAfter = .hours(-1) }
        let noCA = try root.intermediate(name: "Issuing", key: key) { $0.basicConstraints = nil }
        let forged = try Judge.root("Test Root").intermediate(name: "Issuing", key: key)
        let otherKey = try root.intermediate(name: "Issuing")
        let sha1 = try root.intermediate(name: "Issuing", key: key) { $0.signature = .ecdsa(.sha1) }
        var generator = SplitMix64(seed: seed)
        let rest = [good, expired, noCA, forged, otherKey, sha1].map(\.certificate.der).shuffled(using: &generator)
        let leaf = try good.leaf(names: ["www.example.com"])
        #expect(
            try Judge.outcome([leaf.der] + rest, trusting: [root.root]).path?.certificates.map(\.der) == leaf.chain + [
                root.root
            ])
    }

    @Test("Names that are the same by RFC 5280 7.1 chain, also beside one that is the same by its octets")
    func normalizedNames() throws {
        let root = try Judge.root(TestName([.init(.country, "DE"), .init(.commonName, "Test  Root", as: .printable)]))
        let alike = TestName([.init(.country, "de"), .init(.commonName, "TEST ROOT")])
        let leaf = try root.leaf(names: ["www.example.com"]) { $0.issuer = alike }
        #expect(try Judge.complaint(leaf.chain, trusting: [root.root]) == nil)
        let decoy = try Judge.root(alike)
        #expect(try Judge.complaint(leaf.chain, trusting: [decoy.root, root.root]) == nil)
        #expect(try Judge.complaint(leaf.chain + [decoy.root], trusting: [root.root]) == nil)

        let issuing = try root.intermediate(name: "issuing ca") { $0.issuer = alike }
        let below = try issuing.leaf(names: ["www.example.com"]) { $0.issuer = "Issuing CA" }
        #expect(try Judge.complaint(below.chain, trusting: [root.root]) == nil)
        #expect(try Judge.complaint(below.chain, trusting: [decoy.root]) != nil)
    }

    @Test("Key identifiers are a hint: wrong ones cost a try, not a path")
    func keyIdentifiers() throws {
        let root = try Judge.root()
        let good = try root.intermediate(name: "Issuing") { $0.subjectKeyIdentifier = .octets([1]) }
        let leaf = try good.leaf(names: ["www.example.com"]) { $0.authorityKeyIdentifier = .octets([2]) }
        let decoy = try root.intermediate(name: "Issuing") { $0.subjectKeyIdentifier = .octets([2]) }
        let outcome = try Judge.outcome([leaf.der, decoy.certificate.der, good.certificate.der], trusting: [root.root])
        #expect(outcome.path != nil)
        #expect(outcome.effort.signatures == 3)
    }

    @Test("Path length counts intermediates, self-issued ones not")
    func pathLengths() throws {
        let root = try Judge.root { $0.basicConstraints = .init(isAuthority: true, pathLength: 1) }
        let one = try root.intermediate(name: "One")
        let renewed = try one.intermediate(name: "One")
        #expect(try Judge.complaint(one.leaf(names: ["www.example.com"]).chain, trusting: [root.root]) == nil)
        #expect(try Judge.complaint(renewed.leaf(names: ["www.example.com"]).chain, trusting: [root.root]) == nil)
        let two = try one.intermediate(name: "Two")
        #expect(
            try Judge.complaint(two.leaf(names: ["www.example.com"]).chain, trusting: [root.root])
                == .pathLengthExceeded)
        // A CA in the leaf's place is no intermediate.
        let leafCA = try one.intermediate(name: "Two") { $0.subjectAltName = ["www.example.com"] }
        #expect(try Judge.complaint(leafCA.certificate.chain, trusting: [root.root]) == nil)
    }

    @Test("A depth of intermediates is a setting", arguments: [0, 1, 3, 8])
    func depth(limit: Int) throws {
        var limits = ValidationLimits()
        limits.intermediates = limit
        var authority = try Judge.root()
        for count in 0...(limit + 1) {
            let leaf = try authority.leaf(names: ["www.example.com"])
            let code = try Judge.complaint(leaf.chain, trusting: [authority.root], limits: limits)
            #expect(code == (count > limit ? .pathTooLong : nil), "\(count) intermediates")
            authority = try authority.intermediate(name: .commonName("CA \(count)"))
        }
    }

    /// Issuing is certified by Top, and by Detour, which Top certifies: Top is reached first by way of Detour.
    private func detour(
        limits: ValidationLimits = ValidationLimits(), root change: (inout CertificateSpecification) -> Void
    ) throws -> ValidationOutcome {
        let root = try Judge.root(configure: change)
        let top = try root.intermediate(name: "Top")
        let detour = try top.intermediate(name: "Detour")
        let issuing = try top.intermediate(name: "Issuing")
        let long = try detour.crossSign(issuing)
        let leaf = try issuing.leaf(names: ["www.example.com"])
        let chain = [leaf, long.certificate, detour.certificate, top.certificate, issuing.certificate].map(\.der)
        return try Judge.outcome(chain, trusting: [root.root], limits: limits)
    }

    @Test("What blocks an authority on one path does not on another")
    func deadEnds() throws {
        var limits = ValidationLimits()
        limits.intermediates = 2
        for outcome in [
            try detour { $0.basicConstraints = .init(isAuthority: true, pathLength: 2) },
            try detour { $0.nameConstraints = .init(excluded: [.directory("Detour")]) },
            try detour(limits: limits) { _ in },
        ] {
            #expect(outcome.path?.certificates.map(\.subject.description).contains("CN=Detour") == false)
        }
        #expect(try detour { _ in }.path?.certificates.count == 5)
        #expect(
            try detour { $0.basicConstraints = .init(isAuthority: true, pathLength: 1) }.failure?.code
                == .pathLengthExceeded)
    }

    @Test("A leaf's own violations end it before anything is built")
    func leafFirst() throws {
        let root = try Judge.root()
        for (change, code) in [
            (
                {
                    $0.notAfter = .hours(-1); $0.notBefore = .hours(-2)
                }, .expired
            ), ({ $0.notBefore = .hours(1) }, .notYetValid),
            ({ $0.extendedKeyUsage = [.clientAuthentication] }, .wrongExtendedKeyUsage),
            ({ $0.keyUsage = .crlSign }, .keyUsageForbidsTLS),
            ({ $0.subjectAltName = nil }, .noSubjectAlternativeName), ({ $0.version = 1 }, .unsupportedVersion),
            ({ $0.issuer = .empty }, .emptyName),
            ({ $0.extensions = [.init([1, 2], isCritical: true, value: [])] }, .unknownCriticalExtension),
        ] as [((inout CertificateSpecification) -> Void, TrustFailure.Code)] {
            let outcome = try Judge.outcome(
                try root.leaf(names: ["www.example.com"], configure: change).chain, trusting: [root.root])
            #expect(outcome.failure?.code == code)
            #expect(outcome.effort.signatures == 0 && outcome.effort.steps == 0)
            #expect(outcome.effort.work < 500)
        }
    }
}
