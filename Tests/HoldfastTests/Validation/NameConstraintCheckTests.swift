import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Name constraints over names, RFC 5280 6.1.4")
struct NameConstraintCheckTests {
    private func constraints(permitted: [TestGeneralName] = [], excluded: [TestGeneralName] = []) throws
        -> NameConstraints
    {
        let specification = CertificateSpecification.testCA.with {
            $0.nameConstraints = .init(permitted: permitted, excluded: excluded)
        }
        let certificate = try X509Certificate(der: TestAuthority.selfSigned(specification).der)
        return try #require(try certificate.nameConstraints)
    }
    private func names(_ names: [TestGeneralName]) throws -> [GeneralNameSlice] {
        let value = TestDER.sequence(names.map(\.der))
        return try GeneralNameSlice.readAll(0..<value.count, of: value)
    }
    private func run(
        _ list: [TestGeneralName], permitted: [TestGeneralName] = [], excluded: [TestGeneralName] = [],
        limit: Int = 250_000
    ) throws -> (code: TrustFailure.Code?, comparisons: Int, work: Int) {
        var limits = ValidationLimits()
        limits.nameConstraintComparisons = limit
        var meter = WorkMeter(limits)
        let prepared = try #require(
            NameConstraintCheck.Constraints(
                try constraints(permitted: permitted, excluded: excluded), meter: &meter))
        var work = 0
        let names = try names(list).map { ConstrainedName($0, work: &work) }
        let outcome = NameConstraintCheck(constraints: prepared).check(names, meter: &meter)
        // The caller that prepares the names also charges for it.
        let (comparisons, total) = (meter.effort.nameConstraintComparisons, meter.effort.work + work)
        switch outcome {
        case .allowed: return (nil, comparisons, total)
        case .violation(let code, _): return (code, comparisons, total)
        case .overBudget: return (.budgetExceeded, comparisons, total)
        }
    }

    @Test("One of the permitted subtrees of a form is enough, each of the excluded too much")
    func lists() throws {
        let two: [TestGeneralName] = [.dns("a.example"), .dns("b.example")]
        #expect(try run(["x.b.example"], permitted: two).code == nil)
        #expect(try run(["x.c.example"], permitted: two).code == .nameConstraintViolated)
        #expect(try run(["x.a.example", "x.c.example"], permitted: two).code == .nameConstraintViolated)
        #expect(try run(["x.b.example"], excluded: two).code == .nameConstraintViolated)
        #expect(try run(["x.c.example"], excluded: two).code == nil)
        #expect(
            try run(["x.b.example"], permitted: two, excluded: [.dns("x.b.example")]).code == .nameConstraintViolated)
    }

    @Test("A form without a subtree is not constrained")
    func forms() throws {
        #expect(try run(["192.0.2.1", .email("a@b"), .uri("urn:x")], permitted: [.dns("a.example")]).code == nil)
        #expect(
            try run(["192.0.2.1"], permitted: [.dns("a.example"), .address([10, 0, 0, 0, 255, 0, 0, 0])]).code
                == .nameConstraintViolated)
        #expect(try run(["::1"], permitted: [.address([10, 0, 0, 0, 255, 0, 0, 0])]).code == .nameConstraintViolated)
    }

    @Test("A constraint that cannot be applied ends it where its form is present, and only there")
    func unsupported() throws {
        let other = TestGeneralName.other([1, 2, 3], TestDER.null)
        #expect(try run([other], permitted: [other]).code == .unsupportedNameConstraint)
        #expect(try run([other], excluded: [other]).code == .unsupportedNameConstraint)
        #expect(try run(["a.example"], excluded: [other]).code == nil)
        #expect(try run(["a.example"], excluded: [.dns("*.example")]).code == .unsupportedNameConstraint)
        #expect(
            try run(["10.0.0.1"], excluded: [.address([10, 0, 0, 0, 255, 0, 255, 0])]).code
                == .unsupportedNameConstraint)
    }

    @Test("The names of a certificate are its subjectAltName and subject, and without the former its mailboxes")
    func namesOfCertificates() throws {
        func names(_ specification: CertificateSpecification) throws -> [String] {
            let certificate = try X509Certificate(der: TestAuthority.selfSigned(specification).der)
            return try ConstrainedName.names(of: certificate).map(\.text)
        }
        let subject = TestName([.init(.commonName, "www.example.org"), .init(.emailAddress, "a@example.org")])
        let leaf = CertificateSpecification.testLeaf.with { $0.subject = subject }
        #expect(try names(leaf) == ["DNS:www.example.com", "dirName:CN=www.example.org, emailAddress=a@example.org"])
        #expect(try names(leaf.with { $0.subjectAltName = nil }).last == "email:a@example.org")
        #expect(try names(leaf.with { $0.subject = .empty }) == ["DNS:www.example.com"])
        #expect(throws: DERError.self) { try names(leaf.with { $0.subjectAltName = [] }) }
    }

    @Test("Work is counted by what it costs")
    func counting() throws {
        let hosts = (0..<100).map { TestGeneralName.dns("h\($0).example") }
        #expect(try run(["x.example"], excluded: hosts).comparisons >= 100)
        #expect(try run(hosts, excluded: hosts.map { .dns("x" + "\($0)".prefix(3)) }).comparisons >= 10_000)
        // A long mailbox or URI is read from end to end, once.
        let long = String(repeating: "a", count: 16_000)
        #expect(try run([.email(long + "@a")], excluded: [.email("b")]).work >= 1_000)
        #expect(try run([.uri("x://" + long)], excluded: [.uri("b")]).work >= 1_000)
        #expect(try run([.dns("a")], excluded: [.dns(long)]).comparisons >= 1_000)
        #expect(
            try run([.directory(.commonName(String(repeating: "é", count: 200)))], excluded: [.directory("b")]).work
                >= 1_000)
        // Every name is looked at, whether or not its form is constrained.
        #expect(try run(hosts, excluded: [.email("b")]).comparisons >= 100)
        // Bases of other forms cost nothing.
        #expect(try run(hosts, excluded: (0..<1_000).map { .email("h\($0).example") }).comparisons <= 200)
    }

    @Test("Past the budget there is no answer")
    func budget() throws {
        let hosts = (0..<100).map { TestGeneralName.dns("h\($0).example") }
        #expect(try run(["x.example"], excluded: hosts, limit: 100).code == .budgetExceeded)
        #expect(try run(["x.example"], excluded: hosts, limit: 1_000).code == nil)
        #expect(
            try run(["a.example"], excluded: [.dns(String(repeating: "a", count: 100_000))], limit: 1_000).code
                == .budgetExceeded)
        #expect(try run(hosts, excluded: [.email("b")], limit: 99).code == .budgetExceeded)
    }

    @Test("A name of any length makes few words")
    func words() throws {
        let long = TestGeneralName.dns(String(repeating: "a", count: 100_000))
        var meter = WorkMeter(ValidationLimits())
        let prepared = try #require(
            NameConstraintCheck.Constraints(try constraints(permitted: [.dns("b")]), meter: &meter))
        var work = 0
        let names = try names([long]).map { ConstrainedName($0, work: &work) }
        guard case .violation(_, let words) = NameConstraintCheck(constraints: prepared).check(names, meter: &meter)
        else {
            Issue.record("the name passed")
            return
        }
        let (expected, found) = words()
        #expect(expected.count + found.count < 2_000)
    }
}
