import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("The budget of a validation")
struct PathBudgetTests {
    private func expectWithin(_ outcome: ValidationOutcome, _ limits: ValidationLimits = ValidationLimits()) {
        #expect(outcome.path == nil)
        #expect(outcome.failure != nil)
        #expect(outcome.effort.signatures <= limits.signatures)
        #expect(outcome.effort.signatureWork <= limits.signatureWork)
        #expect(outcome.effort.steps <= limits.steps)
        #expect(outcome.effort.nameConstraintComparisons <= limits.nameConstraintComparisons)
    }

    /// Layers of CAs, each signed by every CA of the layer above, and none by an anchor.
    private func mesh(width: Int, depth: Int, sameName: Bool = false) throws -> [[UInt8]] {
        var layer = try (0..<width).map { _ in try Judge.root(sameName ? "Mesh" : "Layer 0") }
        var all: [[UInt8]] = []
        for number in 1...depth {
            let name = TestName.commonName(sameName ? "Mesh" : "Layer \(number)")
            let next = try (0..<width).map { _ in try layer[0].intermediate(name: name) }
            for one in next {
                for above in layer { all.append(try above.crossSign(one).certificate.der) }
            }
            layer = next
        }
        return [try layer[0].leaf(names: ["www.example.com"]).der] + all
    }

    @Test(
        "A mesh of CAs that leads nowhere costs no more than the budget",
        arguments: [(2, 12, false), (4, 7, false), (3, 10, true), (11, 1, true)])
    func meshes(width: Int, depth: Int, sameName: Bool) throws {
        let chain = try mesh(width: width, depth: depth, sameName: sameName)
        #expect(chain.count <= 128)
        expectWithin(try Judge.outcome(chain, trusting: [Judge.root("Trusted").root]))
    }

    @Test("A way out of the mesh is found where the budget allows it")
    func wayOut() throws {
        let root = try Judge.root("Trusted")
        let chain = try mesh(width: 2, depth: 6)
        let issuing = try root.intermediate(name: "Layer 6")
        let leaf = try issuing.leaf(names: ["www.example.com"])
        #expect(
            try Judge.outcome([leaf.der] + chain.dropFirst() + [issuing.certificate.der], trusting: [root.root]).path
                != nil)
    }

    @Test("A hundred CAs of one name and other keys are tried, and no more")
    func wrongKeys() throws {
        let issuing = try Judge.root("Issuing")
        let leaf = try issuing.leaf(names: ["www.example.com"])
        let decoys = try (0..<120).map { _ in try Judge.root("Issuing").root }
        let outcome = try Judge.outcome([leaf.der] + decoys, trusting: [Judge.root("Trusted").root])
        #expect(outcome.failure?.code == .budgetExceeded)
        #expect(outcome.effort.signatures == 100)
        // The hint of a key identifier leads past them.
        let root = try Judge.root("Trusted")
        let good = try root.crossSign(issuing)
        #expect(try Judge.outcome([leaf.der] + decoys + [good.certificate.der], trusting: [root.root]).path != nil)
    }

    @Test("A chain of self-issued certificates ends with the budget")
    func selfIssued() throws {
        var authority = try Judge.root("Same")
        var chain: [[UInt8]] = []
        for _ in 0..<110 {
            authority = try authority.intermediate(name: "Same") { $0.subjectKeyIdentifier = .absent }
            chain.append(authority.certificate.der)
        }
        chain.append(try authority.leaf(names: ["www.example.com"]).der)
        expectWithin(try Judge.outcome(chain.reversed(), trusting: [Judge.root("Trusted").root]))
    }

    @Test("Slow keys use the budget up sooner")
    func slowKeys() throws {
        let keys = try (0..<30).map { _ in try TestKey(.p521) }
        let leaf = try Judge.root("Issuing", key: .p521).leaf(names: ["www.example.com"])
        let decoys = try keys.map { try Judge.root("Issuing", key: .existing($0)).root }
        let outcome = try Judge.outcome([leaf.der] + decoys, trusting: [Judge.root("Trusted").root])
        #expect(outcome.failure?.code == .budgetExceeded)
        #expect(outcome.effort.signatures == 10)
        #expect(outcome.effort.signatureWork == 240)
    }

    @Test("What is hashed is work as well")
    func longContent() throws {
        let issuing = try Judge.root("Issuing")
        let leaf = try issuing.leaf(names: ["www.example.com"]) {
            $0.extensions = [.init([1, 2, 3], value: [UInt8](repeating: 0, count: 200_000))]
        }
        let decoys = try (0..<99).map { _ in try Judge.root("Issuing").root }
        let outcome = try Judge.outcome([leaf.der] + decoys, trusting: [Judge.root("Trusted").root])
        #expect(outcome.failure?.code == .budgetExceeded)
        #expect(outcome.effort.signatures < 30)
    }

    @Test("Too many certificates, or bytes, are not looked at")
    func size() throws {
        let root = try Judge.root()
        let leaf = try root.leaf(names: ["www.example.com"])
        for chain in [
            leaf.chain + [[UInt8]](repeating: leaf.der, count: 1_000),
            leaf.chain + [[UInt8](repeating: 0x30, count: 10_000_000)],
            [[UInt8](repeating: 0x30, count: 10_000_000)],
            leaf.chain + [[UInt8]](repeating: [UInt8](repeating: 0, count: 9_000), count: 120),
        ] {
            let outcome = try Judge.outcome(chain, trusting: [root.root])
            #expect(outcome.failure?.code == .chainTooLarge)
            #expect(outcome.effort == ValidationEffort())
            // Nor does reporting it take more than a page.
            #expect((outcome.failure?.description.count ?? 0) < 40_000)
        }
        #expect(try Judge.complaint([], trusting: [root.root]) == .emptyChain)
        #expect(try Judge.complaint([[]], trusting: [root.root]) == .unreadableCertificate)
        #expect(try Judge.complaint(leaf.chain + [[UInt8]](repeating: [], count: 127), trusting: [root.root]) == nil)
        #expect(
            try Judge.complaint(leaf.chain + [[UInt8](repeating: 0x30, count: 300_000)], trusting: [root.root]) == nil)
    }

    @Test("A failure of 128 hostile certificates is a report, not a flood")
    func hostileReport() throws {
        let name = TestName([.init(.commonName, String(repeating: "\u{202E}\n", count: 1_000))])
        let decoys = try (0..<127).map { _ in
            try Judge.root(name, configure: { $0.subjectKeyIdentifier = .absent }).root
        }
        let leaf = try Judge.root(name).leaf(names: ["www.example.com"], subject: name)
        let failure = try #require(try Judge.outcome([leaf.der] + decoys, trusting: [Judge.root().root]).failure)
        #expect(failure.description.utf8.count < 400_000)
        #expect(!failure.description.unicodeScalars.contains { $0.value == 0x202E })
    }

    @Test("Settings of any value only end a search sooner", arguments: [0, -1, .min, .max, 1])
    func settings(value: Int) throws {
        let root = try Judge.root()
        let chain = try root.intermediate().leaf(names: ["www.example.com"]).chain
        for path in [
            \ValidationLimits.intermediates, \.signatures, \.signatureWork, \.steps, \.nameConstraintComparisons,
            \.presentedCertificates, \.presentedBytes,
        ] {
            var limits = ValidationLimits()
            limits[keyPath: path] = value
            let outcome = try Judge.outcome(chain, trusting: [root.root], limits: limits)
            #expect((outcome.path == nil) == (outcome.failure != nil))
        }
    }
}
