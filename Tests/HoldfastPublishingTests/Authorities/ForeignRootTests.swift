import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

/// An authority whose root another authority has certified as well: clients that trust that one's root may also meet what it
/// issues by itself, so pins that are to last name it.
@Suite("Pins of an authority that another one has certified")
struct ForeignRootTests {
    private let scene: AuthorityScene
    private let foreign: TestAuthority
    private let x1ByForeign: TestAuthority

    init() throws {
        scene = try AuthorityScene()
        foreign = try TestAuthority.root(name: "Foreign Root", clock: scene.clock)
        x1ByForeign = try foreign.crossSign(scene.x1)
    }

    private static func names(_ certificates: [X509Certificate]) -> Set<String> {
        Set(certificates.compactMap(\.subject.commonName))
    }

    private func coverage(
        pinning pinned: [TestAuthority], of authorities: [TestAuthority], presenting issuers: [TestAuthority]? = nil,
        trusting anchors: TestAuthority...
    ) throws -> IssuerPinCoverage {
        try scene.coverage(
            scene.pinFile(pinned), of: authorities, showing: [scene.shown(by: scene.r12, presenting: issuers)],
            on: [.init("clients", anchors: anchors.map { Data($0.certificate.der) })])
    }

    @Test("The foreign root is named where it is trusted, alone or beside the authority's own, and nowhere else")
    func trusted() throws {
        let authorities = [scene.x1, x1ByForeign, scene.r12]
        let chain = [scene.r12, x1ByForeign]
        let old = try coverage(pinning: [scene.x1], of: authorities, presenting: chain, trusting: foreign)
        #expect(old.isComplete && !old.isLasting)
        #expect(Self.names(old.missingToLast) == ["Foreign Root"] && old.missing.isEmpty)
        let both = try coverage(pinning: [scene.x1], of: authorities, presenting: chain, trusting: scene.x1, foreign)
        #expect(both.isComplete && Self.names(both.missingToLast) == ["Foreign Root"])
        let new = try coverage(pinning: [scene.x1], of: authorities, presenting: chain, trusting: scene.x1)
        #expect(new.isComplete && new.isLasting && new.missingToLast.isEmpty)
        let mended = try coverage(
            pinning: [scene.x1, foreign], of: authorities, presenting: chain, trusting: scene.x1, foreign)
        #expect(mended.isLasting && mended.missingToLast.isEmpty)
    }

    @Test(
        "A foreign root two steps above is named, and so is the intermediate through which it certified the authority")
    func throughIntermediate() throws {
        let below = try foreign.intermediate(name: "Foreign CA")
        let x1Below = try below.crossSign(scene.x1)
        let coverage = try coverage(
            pinning: [scene.x1], of: [scene.x1, x1Below, scene.r12, below], presenting: [scene.r12, x1Below, below],
            trusting: foreign)
        #expect(coverage.isComplete && !coverage.isLasting)
        #expect(Self.names(coverage.missingToLast).contains("Foreign Root"), "\(coverage.missingToLast)")
        let mended = try self.coverage(
            pinning: [scene.x1, foreign], of: [scene.x1, x1Below, scene.r12, below],
            presenting: [scene.r12, x1Below, below], trusting: foreign)
        #expect(mended.isLasting)
    }

    @Test(
        "What a server presents says that another authority certified the root, whether its list of certificates does or not"
    )
    func presentedOnly() throws {
        let coverage = try coverage(
            pinning: [scene.x1], of: [scene.x1, scene.r12], presenting: [scene.r12, x1ByForeign], trusting: foreign)
        #expect(Self.names(coverage.missingToLast) == ["Foreign Root"])
        // The authority's certificates are not given: only unannounced intermediates are evaluated.
        let unknown = try scene.coverage(
            scene.pinFile([scene.x1]), of: nil,
            showing: [scene.shown(by: scene.r12, presenting: [scene.r12, x1ByForeign])],
            on: [.init("clients", anchors: [Data(foreign.root)])])
        #expect(Self.names(unknown.missingToLast) == ["Foreign Root"])
    }

    @Test("Of a foreign root that a third authority has certified, the one that clients trust is named")
    func thirdAuthority() throws {
        let third = try TestAuthority.root(name: "Third Root", clock: scene.clock)
        let foreignByThird = try third.crossSign(foreign)
        let coverage = try coverage(
            pinning: [scene.x1], of: [scene.x1, x1ByForeign, foreignByThird, scene.r12],
            presenting: [scene.r12, x1ByForeign, foreignByThird], trusting: third)
        #expect(coverage.isComplete && !coverage.isLasting)
        #expect(Self.names(coverage.missingToLast).contains("Third Root"), "\(coverage.missingToLast)")
    }
}
