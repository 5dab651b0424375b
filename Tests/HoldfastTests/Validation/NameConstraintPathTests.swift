import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Name constraints along a path")
struct NameConstraintPathTests {
    private func complaint(
        root: CertificateSpecification.NameConstraints? = nil,
        intermediate: CertificateSpecification.NameConstraints? = nil,
        intermediateNames: [TestGeneralName]? = nil, leaf: (inout CertificateSpecification) -> Void = { _ in }
    ) throws -> TrustFailure.Code? {
        let root = try Judge.root { $0.nameConstraints = root }
        let issuing = try root.intermediate {
            $0.nameConstraints = intermediate
            $0.subjectAltName = intermediateNames
        }
        return try Judge.complaint(
            try issuing.leaf(names: ["www.example.com"], configure: leaf).chain, trusting: [root.root])
    }

    @Test("Constraints of the anchor, and of each intermediate, count; both must be kept")
    func places() throws {
        let (com, org) = (
            CertificateSpecification.NameConstraints(permitted: [.dns("example.com")]),
            CertificateSpecification.NameConstraints(permitted: [.dns("org")])
        )
        #expect(try complaint(root: com, intermediate: com) == nil)
        #expect(try complaint(root: org) == .nameConstraintViolated)
        #expect(try complaint(intermediate: org) == .nameConstraintViolated)
        #expect(try complaint(root: com, intermediate: org) == .nameConstraintViolated)
        #expect(try complaint(root: org, intermediate: com) == .nameConstraintViolated)
        #expect(try complaint(intermediate: .init(excluded: [.dns("")])) == .nameConstraintViolated)
        #expect(try complaint(intermediate: .init(permitted: [.dns("example.com")], isCritical: false)) == nil)
        #expect(
            try complaint(intermediate: .init(permitted: [.dns("org")], isCritical: false)) == .nameConstraintViolated)
    }

    @Test("The names of intermediates are constrained as well")
    func intermediates() throws {
        let com = CertificateSpecification.NameConstraints(permitted: [.dns("example.com")])
        #expect(try complaint(root: com, intermediateNames: ["ca.example.com"]) == nil)
        #expect(try complaint(root: com, intermediateNames: ["ca.example.org"]) == .nameConstraintViolated)
        #expect(try complaint(intermediate: com, intermediateNames: ["ca.example.org"]) == nil)
        #expect(try complaint(root: com, intermediateNames: []) == .malformedExtension)
        #expect(try complaint(root: .init(excluded: [.directory("Test Issuing CA")])) == .nameConstraintViolated)
    }

    @Test("Every name of a leaf counts, wildcards by what they reach")
    func names() throws {
        let com = CertificateSpecification.NameConstraints(permitted: [.dns("example.com")])
        #expect(
            try complaint(root: com) { $0.subjectAltName = ["www.example.com", "evil.org"] } == .nameConstraintViolated)
        #expect(try complaint(root: com) { $0.subjectAltName = ["*.example.com"] } == nil)
        #expect(
            try complaint(root: .init(excluded: [.dns("secret.example.com")])) { $0.subjectAltName = ["*.example.com"] }
                == .nameConstraintViolated)
        #expect(
            try complaint(root: .init(excluded: [.dns("")])) { $0.subjectAltName = ["*.example.com"] }
                == .nameConstraintViolated)
        #expect(try complaint(root: .init(permitted: [.dns("")])) { $0.subjectAltName = ["*.example.com"] } == nil)
        #expect(
            try complaint(root: .init(excluded: [.email("example.com")])) {
                $0.subjectAltName = ["www.example.com", .email("a@example.com")]
            } == .nameConstraintViolated)
    }

    @Test(
        "A subject does not escape a directory name by case, spaces or string type",
        arguments: [
            TestName([.init(.organization, "evil  corp")]),
            TestName([.init(.organization, "EVIL CORP", as: .printable)]),
            TestName([.init(.organization, " Evil Corp ", as: .ia5)]),
            TestName([.init(.organization, "Ev\u{AD}il Corp")]),
            TestName([.init(.organization, "Evil Corp"), .init(.commonName, "x")]),
        ])
    func subjects(subject: TestName) throws {
        let evil = TestGeneralName.directory(TestName([.init(.organization, "Evil Corp")]))
        #expect(try complaint(root: .init(excluded: [evil])) { $0.subject = subject } == .nameConstraintViolated)
        #expect(
            try complaint(root: .init(permitted: [.directory("Test Issuing CA"), evil])) { $0.subject = subject } == nil
        )
        #expect(
            try complaint(root: .init(permitted: [.directory("Test Issuing CA"), .directory("Other")])) {
                $0.subject = subject
            } == .nameConstraintViolated)
    }

    @Test("A self-issued intermediate is not constrained, a self-issued leaf is")
    func selfIssued() throws {
        let constraints = CertificateSpecification.NameConstraints(permitted: [
            .dns("example.com"), .directory("Other"),
        ])
        let root = try Judge.root("CA") { $0.nameConstraints = constraints }
        let renewed = try root.intermediate(name: "CA") { $0.subjectAltName = ["ca.example.org"] }
        let good = try renewed.leaf(names: ["www.example.com"], subject: "Other")
        #expect(try Judge.complaint(good.chain, trusting: [root.root]) == nil)
        let selfIssuedLeaf = try root.leaf(names: ["www.example.com"], subject: "CA")
        #expect(try Judge.complaint(selfIssuedLeaf.chain, trusting: [root.root]) == .nameConstraintViolated)
        let issued = try root.intermediate(name: "Not the CA")
        #expect(
            try Judge.complaint(
                try issued.leaf(names: ["www.example.com"], subject: "Other").chain, trusting: [root.root])
                == .nameConstraintViolated)
    }

    @Test("Constraints that cost too much end the search")
    func budget() throws {
        let many = CertificateSpecification.NameConstraints(excluded: (0..<400).map { .dns("h\($0).example.org") })
        func outcome(_ limit: Int) throws -> ValidationOutcome {
            let root = try Judge.root { $0.nameConstraints = many }
            let leaf = try root.leaf(names: ["www.example.com"] + (0..<400).map { .dns("h\($0).example.net") })
            var limits = ValidationLimits()
            (limits.work, limits.nameConstraintComparisons) = (1_000_000, limit)
            return try Judge.outcome(leaf.chain, trusting: [root.root], limits: limits)
        }
        #expect(try outcome(1_000_000).path != nil)
        let cut = try outcome(100_000)
        #expect(cut.failure?.code == .budgetExceeded)
        #expect(cut.effort.nameConstraintComparisons <= 100_000)
        #expect(cut.effort.signatures == 0)
    }
}
