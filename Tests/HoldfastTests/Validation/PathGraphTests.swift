import HoldfastTesting
import Testing

@testable import Holdfast

/// Graphs of authorities as they come about by cross-signing, each with some certificates at fault and another path
/// left: what the paper on BetterTLS asks of path building, with graphs and faults of our own.
@Suite("Paths around faulty certificates")
struct PathGraphTests {
    enum Fault: CaseIterable, Sendable {
        case expired, notAuthority, noBasicConstraints, wrongPurpose, sha1, nameConstraint, notYetValid, forged,
            noCertSign, criticalExtension

        func apply(to specification: inout CertificateSpecification, stranger: TestKey) {
            switch self {
            case .expired: specification.notAfter = .hours(-1)
            case .notYetValid: specification.notBefore = .hours(1)
            case .notAuthority: specification.basicConstraints = .init(isAuthority: false)
            case .noBasicConstraints: specification.basicConstraints = nil
            case .wrongPurpose: specification.extendedKeyUsage = [.emailProtection]
            case .sha1: specification.signature = .ecdsa(.sha1)
            case .nameConstraint: specification.nameConstraints = .init(permitted: [.dns("example.org")])
            case .forged: specification.faults = [.signedBy(stranger)]
            case .noCertSign: specification.keyUsage = .crlSign
            case .criticalExtension: specification.extensions = [.init([1, 2, 3], isCritical: true, value: [5, 0])]
            }
        }
    }

    /// Edges say who certifies whom; 0 is the leaf's issuer, the last numbers are the roots.
    struct Graph: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let edges: [(below: Int, above: Int)]
        let roots: Set<Int>

        static let all = [
            Graph(testDescription: "linear", edges: [(0, 1), (1, 2)], roots: [2]),
            Graph(testDescription: "two roots", edges: [(0, 1), (0, 2)], roots: [1, 2]),
            Graph(testDescription: "bridge", edges: [(0, 1), (1, 2), (2, 3), (2, 4), (1, 5)], roots: [3, 4, 5]),
            Graph(testDescription: "figure seven", edges: [(0, 1), (1, 2), (0, 3), (3, 1), (2, 4)], roots: [4]),
            Graph(
                testDescription: "mesh",
                edges: [(0, 1), (0, 2), (1, 2), (2, 1), (1, 3), (2, 3), (3, 1), (3, 4), (1, 5), (2, 5)], roots: [4, 5]),
        ]
    }

    @Test("A path without a fault is found in any order, and none where each has one", arguments: Graph.all)
    func faults(graph: Graph) throws {
        var generator = SplitMix64(seed: UInt64(graph.edges.count))
        let count = (graph.edges.flatMap { [$0.below, $0.above] }.max() ?? 0) + 1
        let authorities = try (0..<count).map { try Judge.root(.commonName("CA \($0)")) }
        let leaf = try authorities[0].leaf(names: ["www.example.com"])
        let anchors = graph.roots.map { authorities[$0].root }
        let stranger = try TestKey()
        let good = try graph.edges.map { try authorities[$0.above].crossSign(authorities[$0.below]).certificate.der }
        for fault in Fault.allCases {
            let bad = try graph.edges.map { edge in
                try authorities[edge.above].crossSign(authorities[edge.below]) {
                    fault.apply(to: &$0, stranger: stranger)
                }.certificate.der
            }
            for set in 0..<1 << min(graph.edges.count, 5) {
                // The edges beyond the fifth are at fault as chance has it.
                let faulty = graph.edges.indices.map { $0 < 5 ? set & 1 << $0 != 0 : Bool.random(using: &generator) }
                let certificates = graph.edges.indices.map { faulty[$0] ? bad[$0] : good[$0] }
                var reachable: Set<Int> = [0]
                for _ in 0..<count {
                    for (place, edge) in graph.edges.enumerated() where !faulty[place] && reachable.contains(edge.below)
                    {
                        reachable.insert(edge.above)
                    }
                }
                let chain = [leaf.der] + certificates.shuffled(using: &generator)
                let outcome = try Judge.outcome(chain, trusting: anchors)
                #expect((outcome.path != nil) == !reachable.isDisjoint(with: graph.roots), "\(fault), \(faulty)")
                #expect(outcome.effort.signatures <= 40 && outcome.effort.steps <= 200)
            }
        }
    }
}
