import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("A requirement matched against a path")
struct PinMatchTests {
    private let pki: PolicyFixture
    private let path: ValidatedPath

    init() throws {
        pki = try PolicyFixture()
        path = ValidatedPath(
            uncheckedLeaf: try X509Certificate(der: pki.leaf.der),
            issuers: try [pki.issuing.der, pki.root.der].map { try X509Certificate(der: $0) })
    }

    /// The pin of the certificate at a position; of none for others.
    private func pin(_ position: Int, _ subject: Pin.Subject) throws -> Pin {
        guard position < path.certificates.count else {
            return try Pin(subject: subject, digest: [UInt8](repeating: UInt8(position), count: 32))
        }
        let certificate = path.certificates[position]
        return subject == .publicKey ? certificate.publicKeyPin : certificate.certificatePin
    }

    @Test("Each place counts for its own certificates")
    func places() throws {
        let cases: [(PinRule.Place, Set<Int>)] = [
            (.anywhere, [0, 1, 2]), (.leaf, [0]), (.issuer, [1, 2]), (.depth(0), [0]), (.depth(1), [1]),
            (.depth(2), [2]), (.depth(3), []),
        ]
        for subject in Pin.Subject.allCases {
            for (place, positions) in cases {
                for position in 0...3 {
                    let rule = PinRule(try pin(position, subject), at: place)
                    let match = try PinSet(rules: [rule]).match(in: path, at: pki.now)
                    #expect((match?.rules == [rule]) == positions.contains(position), "\(place) \(position)")
                    #expect((match == nil) == !positions.contains(position))
                }
            }
        }
    }

    @Test("At a depth above the leaf only a certificate authority counts")
    func depthOfNoAuthority() throws {
        let leaf = path.certificates[0]
        let odd = ValidatedPath(uncheckedLeaf: path.certificates[1], issuers: [leaf])
        let rule = PinRule(leaf.certificatePin, at: .depth(1))
        #expect(try PinSet(rules: [rule]).match(in: odd, at: pki.now) == nil)
    }

    @Test("What matched holds until its last rule ends, of both roles until the first does")
    func holdsUntil() throws {
        func rule(_ position: Int, _ seconds: Double?, _ place: PinRule.Place) throws -> PinRule {
            PinRule(try pin(position, .publicKey), at: place, until: seconds.map { pki.now + $0 })
        }
        let leaf = try (rule(0, 10, .leaf), rule(0, 30, .depth(0)))
        let issuer = try (rule(1, 20, .issuer), rule(2, nil, .issuer))
        func end(_ rules: [PinRule], _ requirement: PinSet.Requirement = .any, at seconds: Double = 0) throws -> Date? {
            try PinSet(rules: rules, requirement: requirement).match(in: path, at: pki.now + seconds)?.holdsUntil
        }
        #expect(try end([leaf.0]) == pki.now + 10)
        #expect(try end([leaf.0, issuer.0]) == pki.now + 20)
        #expect(try end([leaf.0, issuer.1]) == .distantFuture)
        #expect(try end([leaf.0, leaf.1, issuer.0], .oneOfEachRole) == pki.now + 20)
        #expect(try end([leaf.0, issuer.1], .oneOfEachRole) == pki.now + 10)
        #expect(try end([leaf.0, issuer.1], .oneOfEachRole, at: 9) == pki.now + 10)
        #expect(try end([leaf.0, issuer.1], .oneOfEachRole, at: 10) == nil)
        #expect(try end([leaf.0, issuer.0], at: 10) == pki.now + 20)
        #expect(try end([leaf.0, issuer.0], at: 20) == nil)
    }

    /// The rule of the requirement, written apart from it.
    private func isMet(_ rules: [PinRule], _ requirement: PinSet.Requirement, at time: Date) -> Bool {
        let matching = path.certificates.enumerated().map { position, certificate in
            rules.contains { rule in
                guard !rule.isCandidate, rule.end > time else { return false }
                let pin = rule.pin.subject == .publicKey ? certificate.publicKeyPin : certificate.certificatePin
                guard pin == rule.pin else { return false }
                switch rule.place {
                case .anywhere: return true
                case .leaf: return position == 0
                case .issuer: return position != 0
                case .depth(let depth): return depth == position
                }
            }
        }
        let hasIssuer = matching.dropFirst().contains(true)
        return requirement == .any ? matching[0] || hasIssuer : matching[0] && hasIssuer
    }

    @Test("Generated requirements are met exactly where a model says so, and what matches holds as long as it says")
    func model() throws {
        var generator = SplitMix64(seed: 24)
        var met = 0
        for round in 0..<4_000 {
            let rules = try (0..<(1 + generator.below(round % 7 == 0 ? 24 : 4))).map { _ in
                let places: [PinRule.Place] = [.anywhere, .leaf, .issuer, .depth(0), .depth(1), .depth(2)]
                return PinRule(
                    try pin(generator.below(6), generator.below(2) == 0 ? .publicKey : .certificate),
                    at: places[generator.below(places.count)],
                    until: generator.below(3) == 0 ? nil : pki.now + Double(generator.below(40)),
                    isCandidate: generator.below(3) == 0)
            }
            let requirement = PinSet.Requirement.allCases[generator.below(2)]
            let time = pki.now + Double(generator.below(42)) - 1
            let set = PinSet(known: rules, requirement: requirement)
            let match = set.match(in: path, at: time)
            #expect((match != nil) == isMet(rules, requirement, at: time), "\(rules), \(requirement)")
            guard let match else { continue }
            met += 1
            #expect(!set.isExpired(at: time) && match.rules.allSatisfy(rules.contains))
            #expect(match.rules.allSatisfy { !$0.isCandidate && time < $0.end })
            guard match.holdsUntil < .distantFuture else { continue }
            #expect(isMet(rules, requirement, at: match.holdsUntil - 0.5))
            #expect(!isMet(rules, requirement, at: match.holdsUntil))
        }
        #expect(met > 400)
    }

    @Test("Candidates never satisfy anything, whatever else is required, and never stand in the way")
    func isCandidate() throws {
        var generator = SplitMix64(seed: 25)
        let host = try HostPattern(PolicyFixture.host)
        for _ in 0..<1_000 {
            let rules = try (0..<(1 + generator.below(5))).map { _ in
                PinRule(
                    try pin(generator.below(5), .publicKey), at: [.anywhere, .leaf, .issuer][generator.below(3)],
                    isCandidate: generator.below(2) == 0)
            }
            let requirement = PinSet.Requirement.allCases[generator.below(2)]
            let without = PinSet(known: rules.filter { !$0.isCandidate }, requirement: requirement)
            let all = PinSet(known: rules, requirement: requirement)
            let match = all.match(in: path, at: pki.now)
            #expect(match?.rules == without.match(in: path, at: pki.now)?.rules)
            #expect(match?.rules.contains(where: \.isCandidate) != true)
            // The same through the policy, with both enforcements.
            let policies = [PinSet.Enforcement.enforce, .reportOnly].map { enforcement in
                PinnedPolicy(
                    scope: .hosts(host),
                    source: PinSet(known: rules, requirement: requirement, enforcement: enforcement),
                    certificates: [], log: pki.log.policyLog)
            }
            let decisions = try policies.map { $0.evaluate(try pki.trust(), at: pki.now) }
            guard !without.rules.isEmpty, !without.isExpired(at: pki.now) else { continue }
            #expect(decisions[0].isTrusted == (match != nil) && decisions[1].isTrusted)
            #expect(decisions[0].matchedPins == match?.pins ?? [])
            let isNoted = all.trial(in: path, at: pki.now) == false
            #expect(decisions[1].findings.contains(.candidateMismatch) == isNoted)
        }
    }

    @Test("Of many valid paths with many pins no more are explained than a few")
    func explanation() throws {
        let set = try PinSet(pins: [pin(9, .publicKey)])
        let failure = set.mismatch(in: Array(repeating: path, count: 1_000), at: pki.now, leafOnly: false)
        #expect(failure.found == "1000 valid paths without one" && failure.code == .pinMismatch)
    }
}
