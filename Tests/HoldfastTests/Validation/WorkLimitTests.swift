import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("What a decision may cost")
struct WorkLimitTests {
    private func outcome(
        _ chain: HostileChain, profile: ValidationProfile = .standard, limits: ValidationLimits = ValidationLimits()
    ) throws -> ValidationOutcome {
        let validator = PathValidator(
            anchors: try TrustAnchors(der: [chain.anchor]), profile: profile, limits: limits)
        return validator.validate(
            PresentedChain(chain.presented), for: .server(identity: try DialedHost(HostileChain.host)), at: Judge.now
        ) { _ in false }
    }

    /// Dearer and dearer chains: the best of each field is changed in one number at a time.
    @Test("No chain of a seeded campaign costs more than the budget", arguments: HostileChain.Field.allCases)
    func campaign(field: HostileChain.Field) throws {
        var generator = SplitMix64(seed: 0x51AC_E0FF)
        let limits = ValidationLimits()
        var dearest = (recipe: HostileChain.Recipe(field, kind: 0, size: 500, count: 4), work: 0)
        for round in 0..<16 {
            var recipe = dearest.recipe
            switch round % 4 {
            case 0, 1: recipe.kind = round < 14 ? round : generator.below(64)
            case 2: recipe.size = generator.below(2_000)
            default: recipe.count = generator.below(64)
            }
            let chain = try HostileChain(recipe, clock: Judge.clock)
            #expect(chain.presented.reduce(0) { $0 + $1.count } <= HostileChain.maximumBytes)
            for profile in ValidationProfile.allCases {
                let effort = try outcome(chain, profile: profile).effort
                #expect(effort.work <= limits.work, "\(recipe)")
                #expect(effort.work >= effort.nameConstraintComparisons + 20 * effort.steps, "\(recipe)")
                if effort.work > dearest.work { dearest = (recipe, effort.work) }
            }
        }
        #expect(dearest.work > 5_000, "a campaign that finds nothing dear looks for nothing: \(dearest)")
    }

    @Test("Names that grow when they are folded are not folded, and what folding costs is counted")
    func folding() {
        for (text, isFolded) in [
            (String(repeating: "\u{FDFA}", count: 100), false), (String(repeating: "\u{FDFB}", count: 100), false),
            (String(repeating: "\u{3316}", count: 100), false), (String(repeating: "\u{FB03}", count: 100), true),
            (String(repeating: "e\u{301}", count: 400), false), (String(repeating: "é", count: 64), true),
            (String(repeating: "a", count: 900), true),
        ] {
            var work = 0
            let name = DistinguishedName(der: TestName.commonName(text).der[...])
            let folded = name.folded(work: &work)
            #expect((folded != nil) == isFolded, "\(text.prefix(2))")
            #expect(work >= name.der.count / 8 || !isFolded)
            #expect((folded?.octets.count ?? 0) <= 4 * name.der.count)
            #expect(name.matches(name))
        }
    }

    @Test("Folding decoys' names is effort, and each is folded once")
    func decoys() throws {
        let chain = try HostileChain(.init(.names, kind: 2, size: 900, count: 2), clock: Judge.clock)
        let effort = try outcome(chain).effort
        #expect(effort.signatures <= 1)
        #expect(effort.work > 20_000)
        // Of what was presented, nothing is gone through more often than a few times.
        var once = 0
        for der in chain.presented {
            let certificate = try X509Certificate(der: der)
            _ = certificate.subject.folded(work: &once)
        }
        #expect(effort.work < 2 * once + 40_000)
    }

    @Test("Directory names are folded once, however many subtrees they are compared with")
    func directoryNames() throws {
        let text = String(repeating: "\u{FB03}", count: 120)
        func names(_ mark: String) -> [TestGeneralName] {
            (0..<16).map { .directory(TestName([.init(.commonName, "\(mark)\($0)"), .init(.organization, text)])) }
        }
        let specification = CertificateSpecification.testCA.with { $0.nameConstraints = .init(excluded: names("b")) }
        let issuer = try X509Certificate(der: TestAuthority.selfSigned(specification).der)
        var meter = WorkMeter(ValidationLimits())
        let read = try #require(try issuer.nameConstraints)
        let constraints = try #require(NameConstraintCheck.Constraints(read, meter: &meter))
        let value = TestDER.sequence(names("a").map(\.der))
        var folding = 0
        let list = try GeneralNameSlice.readAll(0..<value.count, of: value).map { ConstrainedName($0, work: &folding) }
        let before = meter.effort.work
        guard case .allowed = NameConstraintCheck(constraints: constraints).check(list, meter: &meter) else {
            Issue.record("refused")
            return
        }
        // 256 comparisons cost less than to fold the 16 names.
        #expect(folding > 16 * 1_000)
        #expect(meter.effort.work - before < 256 * 150)
    }

    @Test("A key's work grows with its size and with its exponent")
    func keys() {
        let usual = CertificatePublicKey.workOfRSA(bits: 2_048, exponentBits: 17)
        #expect(usual == 1)
        #expect(CertificatePublicKey.workOfRSA(bits: 8_192, exponentBits: 17) == 8)
        #expect(CertificatePublicKey.workOfRSA(bits: 8_192, exponentBits: 33) == 16)
        #expect(CertificatePublicKey.workOfRSA(bits: 2_048, exponentBits: 2) == 1)
    }

    @Test("Thirty keys of 8,192 bits with the longest exponent are more than the budget allows")
    func slowKeys() throws {
        let chain = try HostileChain(.init(.keys, kind: 2, size: 0, count: 1), clock: Judge.clock)
        let effort = try outcome(chain).effort
        #expect(effort.signatures > 0 && effort.signatures <= 15)
        #expect(effort.signatureWork <= 240)
    }

    @Test("A long common name beside thousands of entries is compared with those of its length")
    func commonName() throws {
        let long = String(repeating: "e\u{301}", count: 10_000) + ".example"
        let leaf = try Judge.root().leaf(
            names: (0..<2_000).map { .dns("h\($0).example.com") }, subject: .commonName(long))
        let certificate = try X509Certificate(der: leaf.der)
        let context = PathRuleContext(time: 0, isServer: true)
        #expect(PathRule.commonName.violation(of: certificate, in: context)?.code == .profileViolation)
        let names = try #require(try certificate.subjectAltName)
        var work = 0
        #expect(PathRule.differsInCase(Array(long.utf8), from: names, work: &work) == false)
        #expect(work == names.count)
        // Only an entry of its length is looked at.
        work = 0
        #expect(PathRule.differsInCase(Array("H1.example.com".utf8), from: names, work: &work) == true)
        #expect(work == names.count + 10 * ("h1.example.com".utf8.count - 1))
        #expect(certificate.rulesWork(.strict) >= certificate.rulesWork(.standard) + 20_000)
    }

    @Test("Pinned keys in many presented certificates cost what is counted")
    func pinnedDecoys() throws {
        let chain = try HostileChain(.init(.names, kind: 2, size: 900, count: 2), clock: Judge.clock)
        let pins = try chain.presented.dropFirst().map { try X509Certificate(der: $0).publicKeyPin }
        let policy = try PinnedPolicy(
            host: HostPattern(HostileChain.host), pins: PinSet(pins: pins), certificatePinOnly: true)
        let trust = ServerTrust(
            chain: PresentedChain(chain.presented), purpose: .server(identity: try DialedHost(HostileChain.host)),
            validator: PathValidator(anchors: TrustAnchors([])))
        let decision = policy.evaluate(trust, at: Judge.now)
        #expect(!decision.isTrusted)
        #expect((20_000...ValidationLimits().work).contains(decision.effort.work))
    }

    @Test("Certificates of one signature are told apart by their hash")
    func hashes() throws {
        let root = try Judge.root()
        let der = try root.leaf(names: ["www.example.com"]).der
        let serial = try X509Certificate(der: der).layout.serialNumber
        var hashes: Set<Int> = []
        for octet in 0..<64 as Range<UInt8> {
            var copy = der
            copy[serial.upperBound - 1] = octet
            hashes.insert(try X509Certificate(der: copy).hashValue)
        }
        #expect(hashes.count == 64)
    }

    @Test("Many long identifiers that differ at their end are still told apart, and one twice is refused")
    func longIdentifiers() throws {
        let arcs = [UInt](repeating: 1, count: 1_000)
        func certificate(_ last: [UInt]) throws -> X509Certificate {
            let specification = CertificateSpecification.testLeaf.with {
                $0.extensions = last.map { TestExtension(TestObjectIdentifier([1, 3] + arcs + [$0]), value: []) }
            }
            return try X509Certificate(der: TestAuthority.selfSigned(specification).der)
        }
        #expect(try certificate(Array(1...40)).layout.extensions.count > 40)
        #expect(throws: CertificateError.self) { try certificate(Array(1...40) + [40]) }
    }
}
