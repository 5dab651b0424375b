import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Certificate policies that the application requires, RFC 5280 6.1.1 (c), (e) to (g)")
struct RequiredPolicyTests {
    private static let a: TestObjectIdentifier = [1, 3, 6, 1, 4, 1, 55_738, 1]
    private static let b: TestObjectIdentifier = [1, 3, 6, 1, 4, 1, 55_738, 2]
    private static let c: TestObjectIdentifier = [1, 3, 6, 1, 4, 1, 55_738, 3]
    private static let any: TestObjectIdentifier = [2, 5, 29, 32, 0]
    private let a = "1.3.6.1.4.1.55738.1"
    private let b = "1.3.6.1.4.1.55738.2"
    private let c = "1.3.6.1.4.1.55738.3"
    private let anyText = "2.5.29.32.0"

    private static func mapping(_ from: TestObjectIdentifier, _ to: TestObjectIdentifier) -> TestExtension {
        let pair = TestDER.sequence([TestDER.objectIdentifier(from), TestDER.objectIdentifier(to)])
        return TestExtension([2, 5, 29, 33], isCritical: true, value: TestDER.sequence([pair]))
    }

    /// The result for root, intermediates and a leaf, each with its policies: the path's, or the failure's code.
    private func answer(
        _ policies: CertificatePolicies, _ path: [[TestObjectIdentifier]?],
        mappings: [Int: TestExtension] = [:], cache: VerifiedPathCache? = nil
    ) throws -> Result<Set<String>, Violation> {
        let root = try Judge.root()
        var authority = root
        for (place, named) in path.dropLast().enumerated() {
            authority = try authority.intermediate(name: .commonName("CA \(place)")) {
                $0.certificatePolicies = named
                $0.extensions = [mappings[place]].compactMap(\.self)
            }
        }
        let leaf = try authority.leaf(names: ["www.example.com"]) { $0.certificatePolicies = path.last ?? nil }
        let validator = PathValidator(
            anchors: try TrustAnchors(der: [root.root]), certificatePolicies: policies, cache: cache)
        let outcome = validator.validate(
            PresentedChain(leaf.chain), for: .server(identity: try DialedHost(Judge.host)), at: Judge.now
        ) { _ in true }
        if let found = outcome.path { return .success(found.policies) }
        let code = try #require(outcome.failure?.code)
        return .failure(Violation(code, nil, "", ""))
    }

    private func found(
        _ policies: CertificatePolicies, _ path: [[TestObjectIdentifier]?], mappings: [Int: TestExtension] = [:]
    ) throws -> Set<String>? {
        switch try answer(policies, path, mappings: mappings) {
        case .success(let found): return found
        case .failure(let violation):
            #expect(violation.code == .policyConstraintViolated)
            return nil
        }
    }

    @Test("A path is valid for the acceptable policies that every certificate names")
    func acceptable() throws {
        let path = [[Self.a, Self.b], [Self.a, Self.b], [Self.a]]
        #expect(try found(.any, path) == [a])
        #expect(try found(CertificatePolicies(requiresExplicitPolicy: true), path) == [a])
        #expect(try found(.required([a]), path) == [a])
        #expect(try found(.required([a, c]), path) == [a])
        #expect(try found(.required([b]), path) == nil)
        #expect(try found(.required([c, "no identifier"]), path) == nil)
        #expect(try found(.required([]), path) == nil)
        #expect(try found(.required([c, anyText]), path) == [a])
        // Without a requirement, the acceptable policies refuse no path.
        #expect(try found(CertificatePolicies(acceptable: [b]), path) == [])
        #expect(try found(CertificatePolicies(acceptable: [b]), [nil, nil]) == [])
        #expect(try found(.any, [nil, nil]) == [])
        #expect(try found(CertificatePolicies(requiresExplicitPolicy: true), [[Self.a], nil]) == nil)
        #expect(try found(CertificatePolicies(requiresExplicitPolicy: true), [nil, [Self.a]]) == nil)
        #expect(try found(CertificatePolicies(requiresExplicitPolicy: true), [[Self.b], [Self.a]]) == nil)
    }

    @Test("anyPolicy stands for whatever is acceptable, unless that is inhibited")
    func anyPolicy() throws {
        #expect(try found(.required([a, b]), [[Self.any], [Self.any]]) == [a, b])
        #expect(try found(.required([a, b]), [[Self.any], [Self.a]]) == [a])
        #expect(try found(.required([a, b]), [[Self.a, Self.c], [Self.any]]) == [a])
        #expect(try found(.any, [[Self.any], [Self.any]]) == [anyText])
        #expect(try found(CertificatePolicies(requiresExplicitPolicy: true), [[Self.any], [Self.any]]) == [anyText])
        let inhibited = CertificatePolicies(requiresExplicitPolicy: true, inhibitsAnyPolicy: true)
        #expect(try found(inhibited, [[Self.any], [Self.a]]) == nil)
        #expect(try found(inhibited, [[Self.a], [Self.any]]) == nil)
        #expect(try found(inhibited, [[Self.a, Self.any], [Self.a]]) == [a])
    }

    @Test("A mapped policy counts as the one of the anchor's domain that it was mapped from")
    func mapped() throws {
        let path = [[Self.a], [Self.b], [Self.b]]
        let map = [0: Self.mapping(Self.a, Self.b)]
        #expect(try found(.required([a]), path, mappings: map) == [a])
        #expect(try found(.required([b]), path, mappings: map) == nil)
        #expect(try found(CertificatePolicies(acceptable: [b]), path, mappings: map) == [])
        #expect(try found(.any, path, mappings: map) == [a])
        let inhibited = CertificatePolicies(requiresExplicitPolicy: true, inhibitsPolicyMapping: true)
        #expect(try found(inhibited, path, mappings: map) == nil)
        // Twice, and out of anyPolicy.
        let twice = [0: Self.mapping(Self.a, Self.b), 1: Self.mapping(Self.b, Self.c)]
        #expect(try found(.required([a]), [[Self.a], [Self.b], [Self.c]], mappings: twice) == [a])
        #expect(try found(.required([a]), [[Self.any], [Self.b]], mappings: map) == [a])
        #expect(try found(.required([b]), [[Self.any], [Self.b]], mappings: map) == nil)
        // One that leads nowhere does not count.
        #expect(try found(.any, [[Self.a, Self.c], [Self.b, Self.c], [Self.c]], mappings: map) == [c])
    }

    @Test("A leaf that is an anchor itself has no policies to lack")
    func alone() throws {
        let leaf = try TestAuthority.selfSigned(names: ["www.example.com"], clock: Judge.clock)
        let validator = PathValidator(anchors: try TrustAnchors(der: [leaf.der]), certificatePolicies: .required([a]))
        let outcome = validator.validate(PresentedChain([leaf.der]), for: .server(identity: nil), at: Judge.now) { _ in
            true
        }
        #expect(outcome.path?.policies == [a])
    }

    @Test("A path that was remembered for other policies is not found again")
    func cache() throws {
        let root = try Judge.root()
        let leaf = try root.leaf(names: ["www.example.com"]) { $0.certificatePolicies = [Self.a] }
        let cache = VerifiedPathCache()
        func outcome(_ policies: CertificatePolicies) throws -> ValidationOutcome {
            PathValidator(anchors: try TrustAnchors(der: [root.root]), certificatePolicies: policies, cache: cache)
                .validate(PresentedChain(leaf.chain), for: .server(identity: nil), at: Judge.now) { _ in true }
        }
        #expect(try outcome(.any).path?.policies == [a])
        #expect(try outcome(.required([b])).failure?.code == .policyConstraintViolated)
        #expect(try outcome(.required([a])).path?.policies == [a])
        #expect(try outcome(.required([a])).effort.usedCachedPath)
    }

    @Test("Policies of a pinned issuer's path are asked where pins alone decide, and the rule stands in the trace")
    func pinOnly() throws {
        let root = try Judge.root()
        let leaf = try root.leaf(names: ["www.example.com"]) { $0.certificatePolicies = [Self.a] }
        let policy = try PinnedPolicy(
            host: HostPattern(Judge.host), pins: PinSet(pins: [X509Certificate(der: root.root).publicKeyPin]),
            certificatePinOnly: true)
        for (required, code) in [(a, nil), (b, .policyConstraintViolated)] as [(String, TrustFailure.Code?)] {
            let validator = PathValidator(
                anchors: try TrustAnchors(der: [root.root]), certificatePolicies: .required([required]))
            let trust = ServerTrust(
                chain: PresentedChain(leaf.chain + [root.root]),
                purpose: .server(identity: try DialedHost(Judge.host)),
                validator: validator)
            #expect(policy.evaluate(trust, at: Judge.now).failure?.code == code)
            let rules = validator.outcomes(of: PresentedChain(leaf.chain), for: .client, at: Judge.now)
            #expect(rules.first { $0.rule == "certificate policies" }?.failure?.code == code)
        }
    }

    @Test(
        "What is no object identifier is told", arguments: [("1.2.3", true), ("1", false), ("a.b", false), ("", false)])
    func identifiers(text: String, isOne: Bool) {
        #expect(CertificatePolicies.isObjectIdentifier(text) == isOne)
    }
}
