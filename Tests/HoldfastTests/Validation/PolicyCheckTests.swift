import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Certificate policies, RFC 5280 6.1")
struct PolicyCheckTests {
    private typealias Change = (inout CertificateSpecification) -> Void

    private static let a: TestObjectIdentifier = [1, 3, 6, 1, 4, 1, 55_738, 1]
    private static let b: TestObjectIdentifier = [1, 3, 6, 1, 4, 1, 55_738, 2]
    private static let any: TestObjectIdentifier = [2, 5, 29, 32, 0]

    private static func mappings(_ pairs: [(TestObjectIdentifier, TestObjectIdentifier)]) -> TestExtension {
        let list = pairs.map {
            TestDER.sequence([TestDER.objectIdentifier($0.0), TestDER.objectIdentifier($0.1)])
        }
        return TestExtension([2, 5, 29, 33], isCritical: true, value: TestDER.sequence(list))
    }

    private static func inhibitAny(_ count: Int) -> TestExtension {
        TestExtension([2, 5, 29, 54], isCritical: true, value: TestDER.integer(count))
    }

    private static func requiring(_ count: Int, _ policies: [TestObjectIdentifier]?) -> Change {
        {
            $0.policyConstraints = .init(requireExplicitPolicy: count)
            $0.certificatePolicies = policies
        }
    }

    private static func naming(_ policies: [TestObjectIdentifier]?, _ extensions: TestExtension...) -> Change {
        { [extensions] in
            $0.certificatePolicies = policies
            $0.extensions = extensions
        }
    }

    /// The failure of root, two intermediates and a leaf; nil if they are accepted.
    private func complaint(
        _ upper: Change, _ lower: Change, _ leaf: Change, root: Change = { _ in }
    ) throws -> TrustFailure.Code? {
        let root = try Judge.root(configure: root)
        let issuing = try root.intermediate(name: "Upper", configure: upper).intermediate(
            name: "Lower", configure: lower)
        let chain = try issuing.leaf(names: ["www.example.com"], configure: leaf).chain
        return try Judge.complaint(chain, trusting: [root.root])
    }

    private let none: Change = { _ in }

    @Test("A padded number of certificates is no number: zero is not to pass for a large one")
    func paddedCount() throws {
        for octets in [[0x80, 5, 0, 0, 0, 0, 0], [0x80, 2, 0, 1], [0x80, 1, 0x80], [0x80, 0]] as [[UInt8]] {
            let constraint = TestExtension(
                [2, 5, 29, 36], isCritical: true, value: [0x30, UInt8(octets.count)] + octets)
            #expect(try complaint({ $0.extensions = [constraint] }, none, none) == .malformedExtension)
        }
    }

    @Test("What nobody requires is not missed, whatever critical extensions speak of policies")
    func notRequired() throws {
        let talk = Self.naming([Self.a], Self.mappings([(Self.a, Self.b)]), Self.inhibitAny(0))
        #expect(try complaint(talk, talk, none) == nil)
        #expect(try complaint({ $0.policyConstraints = .init(inhibitPolicyMapping: 0) }, none, none) == nil)
        // Requirements of the anchor are not part of the path (RFC 5280 6.1).
        #expect(try complaint(none, none, none, root: Self.requiring(0, nil)) == nil)
    }

    @Test("A required policy must be valid on the whole path")
    func required() throws {
        let upper = Self.requiring(0, [Self.a])
        #expect(try complaint(upper, Self.naming([Self.a]), Self.naming([Self.a])) == nil)
        #expect(try complaint(upper, Self.naming([Self.a, Self.b]), Self.naming([Self.b, Self.a])) == nil)
        for (lower, leaf) in [
            (none, none), (Self.naming([Self.a]), none), (none, Self.naming([Self.a])),
            (Self.naming([Self.b]), Self.naming([Self.b])), (Self.naming([Self.a]), Self.naming([Self.b])),
        ] as [(Change, Change)] {
            #expect(try complaint(upper, lower, leaf) == .policyConstraintViolated)
        }
        #expect(try complaint(Self.requiring(0, nil), Self.naming([Self.a]), Self.naming([Self.a])) != nil)
        #expect(try complaint(none, none, Self.requiring(0, nil)) == .policyConstraintViolated)
        let leaf = Self.requiring(0, [Self.a])
        #expect(try complaint(Self.naming([Self.a]), Self.naming([Self.a]), leaf) == nil)
    }

    @Test("A requirement begins after as many certificates as it says")
    func later() throws {
        for (count, code) in [
            (0, .policyConstraintViolated), (1, .policyConstraintViolated), (2, .policyConstraintViolated), (3, nil),
            (100_000_000_000, nil),
        ] as [(Int, TrustFailure.Code?)] {
            #expect(try complaint(Self.requiring(count, [Self.a]), none, none) == code, "\(count)")
        }
    }

    @Test("anyPolicy stands for every policy until it is inhibited")
    func anyPolicy() throws {
        let upper = Self.requiring(0, [Self.any])
        #expect(try complaint(upper, Self.naming([Self.any]), Self.naming([Self.a])) == nil)
        #expect(try complaint(upper, Self.naming([Self.a]), Self.naming([Self.any])) == nil)
        #expect(try complaint(upper, Self.naming([Self.any]), none) == .policyConstraintViolated)
        let inhibited: Change = {
            upper(&$0)
            $0.extensions = [Self.inhibitAny(0)]
        }
        #expect(try complaint(inhibited, Self.naming([Self.a]), Self.naming([Self.a])) == nil)
        #expect(try complaint(inhibited, Self.naming([Self.any]), Self.naming([Self.a])) == .policyConstraintViolated)
    }

    @Test("A mapped policy is valid under its new name, until mapping is inhibited; anyPolicy is never mapped")
    func mapped() throws {
        let map: Change = {
            Self.requiring(0, [Self.a])(&$0)
            $0.extensions = [Self.mappings([(Self.a, Self.b)])]
        }
        #expect(try complaint(map, Self.naming([Self.b]), Self.naming([Self.b])) == nil)
        #expect(try complaint(map, Self.naming([Self.a]), Self.naming([Self.a])) == .policyConstraintViolated)
        let inhibit: Change = {
            $0.policyConstraints = .init(requireExplicitPolicy: 0, inhibitPolicyMapping: 0)
            $0.certificatePolicies = [Self.a]
        }
        let lower = Self.naming([Self.a], Self.mappings([(Self.a, Self.b)]))
        #expect(try complaint(inhibit, lower, Self.naming([Self.b])) == .policyConstraintViolated)
        #expect(try complaint(Self.requiring(0, [Self.a]), lower, Self.naming([Self.b])) == nil)
        for pair in [(Self.any, Self.b), (Self.b, Self.any)] {
            let odd = Self.naming([Self.a], Self.mappings([pair]))
            #expect(try complaint(odd, Self.naming([Self.a]), Self.naming([Self.a])) == .malformedExtension)
        }
    }

    @Test("Mappings that would make a tree grow exponentially cost what they cost once")
    func wide() throws {
        let policies = (0..<200 as Range<UInt>).map { number -> TestObjectIdentifier in
            [1, 3, 6, 1, 4, 1, 55_738, 3, number]
        }
        let every = Self.mappings(policies.flatMap { from in policies.prefix(20).map { (from, $0) } })
        var authority = try Judge.root()
        let root = authority
        for depth in 0..<8 {
            authority = try authority.intermediate(name: .commonName("CA \(depth)")) {
                $0.certificatePolicies = policies
                $0.policyConstraints = .init(requireExplicitPolicy: 0)
                $0.extensions = [every]
            }
        }
        let good = try authority.leaf(names: ["www.example.com"]) { $0.certificatePolicies = [policies[19]] }
        let bad = try authority.leaf(names: ["www.example.com"]) { $0.certificatePolicies = [policies[20]] }
        // More than a peer can present in a handshake.
        var limits = ValidationLimits()
        (limits.work, limits.nameConstraintComparisons) = (2_000_000, 2_000_000)
        #expect(try Judge.complaint(good.chain, trusting: [root.root], limits: limits) == nil)
        #expect(
            try Judge.complaint(bad.chain, trusting: [root.root], limits: limits) == .policyConstraintViolated)
    }

    @Test("Policies count against the budget, on every path that is tried")
    func budget() throws {
        let many = (0..<500 as Range<UInt>).map { number -> TestObjectIdentifier in
            [1, 3, 6, 1, 4, 1, 55_738, 3, number]
        }
        let root = try Judge.root()
        let issuing = try root.intermediate(name: "Issuing", configure: Self.requiring(0, many))
        let uppers = try (0..<8).map { try root.intermediate(name: .commonName("Upper \($0)")) }
        let leaf = try issuing.leaf(names: ["www.example.com"])
        let chain =
            try leaf.chain
            + uppers.flatMap {
                [try $0.crossSign(issuing, configure: Self.requiring(0, many)).certificate.der, $0.certificate.der]
            }
        var limits = ValidationLimits()
        limits.nameConstraintComparisons = 10_000
        let cut = try Judge.outcome(chain, trusting: [root.root], limits: limits)
        #expect(cut.failure?.code == .budgetExceeded)
        #expect(cut.effort.nameConstraintComparisons <= 10_000)
        let whole = try Judge.outcome(chain, trusting: [root.root])
        #expect(whole.failure?.code == .policyConstraintViolated)
        #expect(whole.effort.nameConstraintComparisons > 10_000)
        #expect(cut.effort.signatures < whole.effort.signatures)
    }

    @Test("A path without a required policy does not hide one that has it, and is examined as such")
    func otherPath() throws {
        let root = try Judge.root()
        let issuing = try root.intermediate(name: "Issuing", configure: Self.requiring(0, [Self.a]))
        let lax = try root.crossSign(issuing) {
            $0.policyConstraints = nil
            $0.certificatePolicies = nil
        }
        let leaf = try issuing.leaf(names: ["www.example.com"])
        #expect(try Judge.complaint(leaf.chain, trusting: [root.root]) == .policyConstraintViolated)
        #expect(try Judge.complaint(leaf.chain + [lax.certificate.der], trusting: [root.root]) == nil)
        let validator = PathValidator(anchors: try TrustAnchors(der: [root.root]))
        let outcomes = validator.outcomes(
            of: PresentedChain(leaf.chain), for: .server(identity: try DialedHost(Judge.host)), at: Judge.now)
        #expect(outcomes.compactMap(\.failure?.code) == [.policyConstraintViolated])
    }
}
