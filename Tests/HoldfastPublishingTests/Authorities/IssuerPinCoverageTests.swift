import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("Which pins of issuers let in whatever an authority issues next")
struct IssuerPinCoverageTests {
    private typealias Scene = AuthorityScene

    private static func names(_ certificates: [X509Certificate]) -> Set<String> {
        Set(certificates.compactMap(\.subject.commonName))
    }

    /// The authorities whose certificates clients would refuse.
    private static func refused(_ coverage: IssuerPinCoverage) -> Set<String> {
        names(coverage.findings.flatMap(\.gaps).compactMap(\.issuers.first))
    }

    @Test("Both roots pin everything that comes below them, whatever certifies it, and whatever comes next")
    func roots() throws {
        let scene = try Scene()
        let pins = try scene.pinFile([scene.x1, scene.x2])
        for platform in [
            Scene.platform("today", scene.x1, scene.x2), Scene.platform("old", scene.x1),
            Scene.platform("other", scene.x2),
        ] {
            let coverage = try scene.coverage(
                pins, of: scene.everything, showing: [scene.shown(by: scene.e7)],
                on: [Scene.platform("old", scene.x1, scene.x2)])
            #expect(coverage.isComplete && coverage.isLasting, "\(platform.name)")
            #expect(coverage.findings.count == 1 && coverage.findings[0].chains > 6)
            #expect(coverage.missing.isEmpty && coverage.missingToLast.isEmpty && coverage.untrusted.isEmpty)
        }
    }

    @Test("A pin of the intermediate in use is incomplete: the authority issues from others as well")
    func oneIntermediate() throws {
        let scene = try Scene()
        let today = Scene.platform("today", scene.x1, scene.x2)
        let coverage = try scene.coverage(
            scene.pinFile([scene.e7]), of: scene.firstGeneration, showing: [scene.shown(by: scene.e7)], on: [today])
        #expect(!coverage.isComplete && !coverage.isLasting)
        #expect(Self.refused(coverage) == ["E8", "R12"])
        #expect(coverage.findings[0].gaps.allSatisfy { $0.unknownAuthorities == 0 && $0.instant == Scene.start })
        #expect(Self.names(coverage.missing).isSubset(of: ["Root X1", "Root X2"]))
        // Pinning the missing certificates is enough.
        let missing = coverage.missing.compactMap { certificate in
            scene.everything.first { $0.certificate.der == certificate.der }
        }
        let mended = try scene.coverage(
            scene.pinFile([scene.e7] + missing), of: scene.firstGeneration, showing: [scene.shown(by: scene.e7)],
            on: [today])
        #expect(mended.isComplete)
    }

    @Test("All intermediates of a generation are complete for what was announced, and for nothing else")
    func allIntermediates() throws {
        let scene = try Scene()
        let today = Scene.platform("today", scene.x1, scene.x2)
        let pins = try scene.pinFile([scene.e7, scene.e8, scene.r12])
        let shown = try scene.shown(by: scene.e8)
        let coverage = try scene.coverage(pins, of: scene.firstGeneration, showing: [shown], on: [today])
        #expect(coverage.isComplete && !coverage.isLasting)
        #expect(coverage.missing.isEmpty)
        #expect(Self.names(coverage.missingToLast) == ["Root X1", "Root X2"])
        #expect(coverage.findings[0].unannounced.allSatisfy { (1...2).contains($0.unknownAuthorities) })
        // The next generation is announced.
        let next = try scene.coverage(pins, of: scene.everything, showing: [shown], on: [today])
        #expect(Self.refused(next) == ["YE1", "YR1"])
    }

    @Test("Once a platform trusts the next generation's roots, the old roots' pins no longer suffice")
    func trustedNextGeneration() throws {
        let scene = try Scene()
        let next = Scene.platform("next", scene.x1, scene.x2, scene.ye, scene.yr)
        let shown = try scene.shown(by: scene.e7)
        let coverage = try scene.coverage(
            scene.pinFile([scene.x1, scene.x2]), of: scene.everything, showing: [shown], on: [next])
        #expect(Self.refused(coverage) == ["YE1", "YR1"])
        // It is the short chain that is refused; with the old root's certificate a path with a pin is found.
        #expect(coverage.findings[0].gaps.allSatisfy { $0.issuers.count == 1 })
        #expect(Self.names(coverage.missing) == ["Root YE", "Root YR"])
        let mended = try scene.coverage(
            scene.pinFile([scene.x1, scene.x2, scene.ye, scene.yr]), of: scene.everything, showing: [shown],
            on: [next])
        #expect(mended.isComplete && mended.isLasting)
    }

    @Test("A pin at a depth does not follow when the chain gets one certificate more")
    func depth() throws {
        let scene = try Scene()
        let platform = Scene.platform("newer", scene.x2)
        let list = try scene.list([(scene.x2, 2)])
        let shown = try scene.shown(by: scene.e7)
        let first = try scene.coverage(
            list, of: [scene.x2, scene.e7, scene.e8], showing: [shown], on: [platform])
        #expect(first.isComplete && !first.isLasting)
        #expect(first.findings[0].unannounced.contains { $0.unknownAuthorities == 2 })
        let next = try scene.coverage(
            list, of: [scene.x2, scene.e7, scene.e8, scene.ye, scene.yeByX2, scene.ye1], showing: [shown],
            on: [platform])
        #expect(Self.refused(next) == ["YE1"])
        // The same root at both depths.
        let both = try scene.coverage(
            scene.list([(scene.x2, 2), (scene.x2, 3)]),
            of: [scene.x2, scene.e7, scene.e8, scene.ye, scene.yeByX2, scene.ye1], showing: [shown], on: [platform])
        #expect(both.isComplete)
    }

    @Test("A pin of an intermediate's certificate does not match the same key in a cross-signed certificate")
    func crossSigned() throws {
        let scene = try Scene()
        let authorities = [scene.x1, scene.x2, scene.e7, scene.e7ByX1]
        let today = Scene.platform("today", scene.x1, scene.x2)
        let shown = try scene.shown(by: scene.e7)
        let coverage = try scene.coverage(
            scene.list([(scene.e7, 1)]), of: authorities, showing: [shown], on: [today])
        #expect(coverage.findings[0].gaps.map { $0.issuers.map(\.der) } == [[scene.e7ByX1.certificate.der]])
        #expect(
            try scene.coverage(
                scene.list([(scene.e7, 1), (scene.e7ByX1, 1)]), of: authorities, showing: [shown], on: [today]
            ).isComplete)
        // A pin of the key matches both.
        #expect(
            try scene.coverage(scene.pinFile([scene.e7]), of: authorities, showing: [shown], on: [today]).isComplete)
    }

    @Test("A root that only another authority's root certifies is refused where only that one is trusted and pinned")
    func foreignRoot() throws {
        let scene = try Scene()
        let foreign = try TestAuthority.root(name: "Foreign Root", clock: scene.clock)
        let x1ByForeign = try foreign.crossSign(scene.x1)
        let authorities = [scene.x1, x1ByForeign, scene.r12]
        let old = Scene.platform("old", foreign)
        let shown = try scene.shown(by: scene.r12, presenting: [scene.r12, x1ByForeign])
        // The key is the same, wherever its certificate comes from.
        #expect(try scene.coverage(scene.pinFile([scene.x1]), of: authorities, showing: [shown], on: [old]).isComplete)
        // Not so its certificate.
        let coverage = try scene.coverage(
            scene.list([(scene.x1, 2), (scene.r12, 1)]), of: authorities, showing: [shown], on: [old])
        #expect(coverage.isComplete && !coverage.isLasting)
        // The foreign root may issue by itself as well, so its key follows the authority's own.
        #expect(Self.names(coverage.missingToLast) == ["Root X1", "Foreign Root"])
    }

    @Test("Pins of the server's own key do not depend on the authority")
    func ownKey() throws {
        let scene = try Scene()
        let leaf = try scene.e7.leaf(names: [.dns(Scene.host)])
        let shown = PublicationOutlook.Presentation(leaf.chain.map { Data($0) }, at: "192.0.2.1", seen: Scene.start)
        let today = Scene.platform("today", scene.x1, scene.x2)
        let pins = try scene.pinFile([], leaf: leaf)
        let coverage = try scene.coverage(pins, of: scene.everything, showing: [shown], on: [today])
        #expect(coverage.findings.isEmpty && coverage.isComplete)
        // With the pin of an issuer beside it, what the authority issues for another key counts.
        let both = try scene.coverage(
            scene.pinFile([scene.e7], leaf: leaf), of: scene.firstGeneration, showing: [shown], on: [today])
        #expect(Self.refused(both) == ["E8", "R12"])
    }

    @Test("Without the authority's certificates only unannounced ones are judged; those of another authority are named")
    func unknownAuthority() throws {
        let scene = try Scene()
        let today = Scene.platform("today", scene.x1, scene.x2)
        let shown = try scene.shown(by: scene.e7)
        for (pinned, lasts) in [([scene.e7], false), ([scene.x2], true)] {
            let coverage = try scene.coverage(scene.pinFile(pinned), of: nil, showing: [shown], on: [today])
            #expect(coverage.isComplete && coverage.isLasting == lasts)
            #expect(coverage.findings[0].chains == 0 && coverage.findings[0].isOfAuthority)
        }
        let other = try TestAuthority.root(name: "Other", clock: scene.clock)
        let foreign = try scene.coverage(
            scene.pinFile([scene.x2]), of: [other, other.intermediate(name: "O1")], showing: [shown], on: [today])
        #expect(foreign.findings.map(\.isOfAuthority) == [false])
        #expect(!foreign.isComplete)
    }

    @Test("An authority that a platform does not trust is named, and so is none whose time is over")
    func untrusted() throws {
        let scene = try Scene()
        let today = Scene.platform("today", scene.x1, scene.x2)
        let stranger = try TestAuthority.root(name: "Root Z", clock: scene.clock)
        let below = try stranger.intermediate(name: "Z1")
        let expired = try scene.x2.intermediate(name: "E1") { $0.notAfter = .hours(-1) }
        let coverage = try scene.coverage(
            scene.pinFile([scene.x1, scene.x2]), of: scene.firstGeneration + [stranger, below, expired],
            showing: [scene.shown(by: scene.e7)], on: [today])
        #expect(coverage.untrusted.map(\.issuer.der) == [below.certificate.der])
        #expect(coverage.untrusted.map(\.platform) == ["today"])
        #expect(!coverage.isComplete && coverage.missing.isEmpty)
    }

    @Test("A pin that ends before the document does leaves a gap from then on")
    func ending() throws {
        let scene = try Scene()
        let today = Scene.platform("today", scene.x1, scene.x2)
        let end = Scene.start.addingTimeInterval(10 * 86_400)
        let pins = [
            try PinFile.KeyPin(Pin.publicKey(of: scene.x2.certificate.der), role: .issuer),
            try PinFile.KeyPin(Pin.publicKey(of: scene.x1.certificate.der), role: .issuer, notAfter: end),
        ]
        let file = try PinFile(
            issuedAt: Scene.start, notAfter: Scene.start.addingTimeInterval(900 * 86_400), refresh: nil,
            hosts: [PinFile.Host(HostPattern(Scene.host), pins: pins)])
        let document = PublicationOutlook.Document(
            "pins", kind: .shippedPins, octets: Data(file.json), published: Scene.start, appVersions: ["1.0"])
        let shown = try scene.shown(by: scene.e7)
        let coverage = try scene.coverage(document, of: scene.firstGeneration, showing: [shown], on: [today])
        // E7 too: a server may present the certificate that X1 signed for it.
        #expect(Self.refused(coverage) == ["R12", "E7"])
        #expect(coverage.findings[0].gaps.allSatisfy { (0...1).contains($0.instant.timeIntervalSince(end)) })
        #expect(
            try scene.coverage(document, of: scene.firstGeneration, showing: [shown], on: [today], span: 9 * 86_400)
                .isComplete)
    }

    @Test("What is no authority's certificate, and more than an authority publishes, is refused")
    func limits() throws {
        let scene = try Scene()
        let leaf = try X509Certificate(der: scene.e7.leaf(names: [.dns(Scene.host)]).der)
        #expect(throws: PublishingError.self) { try AuthorityHierarchy([Scene.certificate(scene.x1), leaf]) }
        let many = try (0...256).map { number in
            try Scene.certificate(scene.x1.intermediate(name: .commonName("I\(number)")))
        }
        #expect(throws: PublishingError.self) { try AuthorityHierarchy(many) }
        #expect(try AuthorityHierarchy(Array(many.dropLast())).certificates.count == 256)
    }
}
