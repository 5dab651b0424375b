import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Path building against every path there is")
struct RandomGraphTests {
    @Test("A path is found exactly where one exists, on random graphs", arguments: [1, 2] as [UInt64])
    func random(seed: UInt64) throws {
        let pool = try GraphPool(seed: seed)
        var generator = SplitMix64(seed: seed &+ 100)
        var (found, missing, pinned, cut) = (0, 0, 0, 0)
        for round in 0..<1_000 {
            guard let leaf = pool.leaves.randomElement(using: &generator) else { return }
            let sample = pool.authorities.shuffled(using: &generator)
            let anchors = Array(sample.prefix(Int.random(in: 1...4, using: &generator)))
            let presented = Array(sample.dropFirst(4).prefix(Int.random(in: 0...24, using: &generator)))
            var limits = ValidationLimits()
            limits.intermediates = [0, 1, 2, 3, 4, 8].randomElement(using: &generator) ?? 8
            let oracle = GraphOracle(presented: presented, anchors: anchors, maximumIntermediates: limits.intermediates)
            let chain = [leaf.der] + presented.map(\.der) + (round % 3 == 0 ? anchors.map(\.der) : [])

            let outcome = try Judge.outcome(chain, trusting: anchors.map(\.der), limits: limits)
            if outcome.failure?.code == .budgetExceeded {
                cut += 1
                continue
            }
            let exists = oracle.hasPath(from: leaf) { _ in true }
            #expect((outcome.path != nil) == exists, "seed \(seed), round \(round)")
            exists ? (found += 1) : (missing += 1)

            // And with a pin on one anchor, which makes the search go on after valid paths.
            guard exists, let wanted = anchors.randomElement(using: &generator) else { continue }
            let pin = try Judge.outcome(chain, trusting: anchors.map(\.der), limits: limits) {
                $0.anchor?.der == wanted.der
            }
            guard pin.failure?.code != .budgetExceeded else { continue }
            #expect(
                (pin.path != nil) == oracle.hasPath(from: leaf) { $0.number == wanted.number },
                "seed \(seed), round \(round)")
            if pin.path != nil { pinned += 1 }
            // An accepted path is valid by the oracle's rules as well.
            for path in [pin.path, outcome.path].compactMap(\.self) + pin.otherPaths {
                let facts = path.certificates.map { one in ([leaf] + presented + anchors).first { $0.der == one.der } }
                    .compactMap(\.self)
                #expect(facts.count == path.certificates.count)
                for place in facts.indices.dropFirst() {
                    #expect(oracle.mayFollow(facts[place], Array(facts[..<place]), isAnchor: place == facts.count - 1))
                }
            }
        }
        // A pool in which nothing, or everything, is valid would test nothing; nor may the budget end many.
        #expect(found > 100 && missing > 100 && pinned > 50)
        #expect(cut < 50, "\(cut) of 1000 searches ended with the budget")
    }
}
