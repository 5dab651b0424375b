import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("A validator, of a set of anchors and of a store", .timeLimit(.minutes(15)))
struct AnchorSourceTests {
    private let root: TestAuthority
    private let issuing: TestAuthority
    private let leaf: TestCertificate

    init() throws {
        root = try Judge.root()
        issuing = try root.intermediate()
        leaf = try issuing.leaf(names: ["*.co.uk"])
    }

    private func sources() async throws -> [any AnchorSource] {
        let anchors = try TrustAnchors(der: [root.root])
        return [anchors, try await TrustAnchorStore { anchors }]
    }

    private func complaint(_ validator: PathValidator, host: String = "www.co.uk") throws -> TrustFailure.Code? {
        let purpose = ValidationPurpose.server(identity: try DialedHost(host))
        let outcome = validator.validate(PresentedChain(leaf.chain), for: purpose, at: Judge.now) { _ in true }
        #expect((outcome.path == nil) == (outcome.failure != nil))
        return outcome.failure?.code
    }

    @Test("uses the revocation, the limits and the public suffixes that it is given")
    func settings() async throws {
        let serial = Array(try X509Certificate(der: leaf.der).serialNumber)
        let revoked = try issuing.revocationList { $0.serialNumbers = [serial] }
        let lists = try [revoked, root.revocationList()].map { try CertificateRevocationList(der: $0) }
        var limits = ValidationLimits()
        limits.presentedCertificates = 1
        for source in try await sources() {
            #expect(try complaint(PathValidator(anchors: source)) == nil)
            #expect(try complaint(PathValidator(anchors: source, revocation: .crls(lists))) == .revoked)
            #expect(try complaint(PathValidator(anchors: source, limits: limits)) == .chainTooLarge)
            let strict = PathValidator(anchors: source, profile: .strict)
            let withSuffixes = PathValidator(
                anchors: source, profile: .strict, publicSuffixes: try PublicSuffixList("co.uk"))
            #expect(try complaint(strict) == nil)
            #expect(try complaint(withSuffixes) != nil)
        }
    }

    @Test("goes by the store's new anchors at once, and finds no path again that ends in an old one")
    func reloaded() async throws {
        let queue = AnchorQueue([
            try TrustAnchors(der: [root.root]), try TrustAnchors(der: [Judge.root("Another").root]),
            try TrustAnchors(der: [root.root]),
        ])
        let store = try await TrustAnchorStore { try queue.next() }
        let cache = VerifiedPathCache()
        let validator = PathValidator(anchors: store, cache: cache)
        #expect(try complaint(validator) == nil)
        #expect(try await store.reload())
        #expect(validator.anchors == store.current)
        #expect(try complaint(validator) == .unknownIssuer)
        #expect(try await store.reload())
        #expect(try complaint(validator) == nil)
        #expect(cache.count == 1)
    }

    @Test("asks its source once a validation, so that no path is remembered for anchors that it does not end in")
    func snapshot() throws {
        let source = AlternatingSource(first: TrustAnchors([]), second: try TrustAnchors(der: [root.root]))
        let cache = VerifiedPathCache()
        let validator = PathValidator(anchors: source, cache: cache)
        #expect(try complaint(validator) == .noAnchors)
        #expect(source.questions == 1)
        #expect(cache.count == 0)
        #expect(try complaint(validator) == nil)
        #expect(source.questions == 2)
    }
}

/// Answers with one set, and from then on with another.
private final class AlternatingSource: AnchorSource {
    private let first: TrustAnchors
    private let second: TrustAnchors
    private let asked = Lock(0)

    init(first: TrustAnchors, second: TrustAnchors) {
        self.first = first
        self.second = second
    }

    var questions: Int { asked.withLock { $0 } }

    var current: TrustAnchors {
        asked.withLock { asked in
            asked += 1
            return asked == 1 ? first : second
        }
    }
}
