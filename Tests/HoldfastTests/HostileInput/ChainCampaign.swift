import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// 100,000 damaged chains: no certificate is trusted that no authority signed, and no budget is exceeded.
///
/// Three quarters are of a chain that is good for another host, another time, or under another root, and are never
/// accepted whatever is changed; those cost no signature. The others are of a good chain, and are accepted only if
/// no byte differs that a signature covers.
@Suite("100,000 damaged chains", .timeLimit(.minutes(15)))
struct ChainCampaign {
    private struct Scene {
        static let shared = Result { try Scene() }
        let chain: [[UInt8]]
        let longChain: [[UInt8]]
        let anchors: TrustAnchors
        let signed: Set<[UInt8]>
        let host: DialedHost
        let otherHost: DialedHost
        let otherAnchors: TrustAnchors

        init() throws {
            let root = try Judge.root("Root")
            let policy: TestObjectIdentifier = [1, 3, 6, 1, 4, 1, 55_738, 1]
            let upper = try root.intermediate(name: "Upper") {
                $0.certificatePolicies = [policy]
                $0.policyConstraints = .init(requireExplicitPolicy: 0)
            }
            let issuing = try upper.intermediate(name: "Issuing", pathLength: 0) {
                $0.certificatePolicies = [policy]
                $0.nameConstraints = .init(
                    permitted: [.dns("example.com"), .directory(.empty)], excluded: [.email("a@b")])
            }
            let plain = try root.intermediate(name: "Plain", pathLength: 0)
            chain = try plain.leaf(names: ["www.example.com"]).chain
            longChain = try issuing.leaf(names: ["www.example.com", "*.example.com"]) {
                $0.certificatePolicies = [policy]
            }.chain
            anchors = try TrustAnchors(der: [root.root])
            otherAnchors = try TrustAnchors(der: [Judge.root("Root").root])
            signed = Set(try (chain + longChain + [root.root]).map(ChainCampaign.signedPart))
            host = try DialedHost(Judge.host)
            otherHost = try DialedHost("unrelated.test")
        }
    }

    private static func signedPart(_ der: [UInt8]) throws -> [UInt8] {
        Array(der[try X509Certificate(der: der).layout.toBeSigned])
    }

    private enum Setting: CaseIterable {
        case otherHost, otherTime, otherRoot, good
    }

    private static let tokens: [[UInt8]] = [
        [0x30, 0x80], [0x05, 0x00], [0x01, 0x01, 0xFF], [0x01, 0x01, 0x00], [0x00], [0xFF, 0xFF],
        [0x82, 0x0F] + Array("www.example.com".utf8), [0x82, 0x0E] + Array("unrelated.test".utf8), [0x30, 0x00],
    ]

    @Test("are accepted only where nothing differs that was signed, and within the budget", arguments: Campaign.halves)
    func chains(half: Int) async throws {
        let scene = try Scene.shared.get()
        var limits = ValidationLimits()
        (limits.signatures, limits.signatureWork, limits.steps, limits.nameConstraintComparisons) = (4, 20, 12, 2_000)
        let good = PathValidator(anchors: scene.anchors, limits: limits)
        let foreign = PathValidator(anchors: scene.otherAnchors, limits: limits)
        let later = Judge.now.addingTimeInterval(40 * 365 * 86_400)
        for chain in [scene.chain, scene.longChain] {
            let purpose = ValidationPurpose.server(identity: scene.host)
            #expect(good.validate(PresentedChain(chain), for: purpose, at: Judge.now) { _ in true }.path != nil)
        }
        var generator = SplitMix64(seed: 214 + UInt64(half))
        var (accepted, refused, read, constrained) = (0, 0, 0, 0)
        for round in 0..<(Campaign.mutants / 2) {
            await Campaign.letOthersRun(after: round)
            // Each eighth of every setting.
            let original = round / Setting.allCases.count % 8 == 0 ? scene.longChain : scene.chain
            var chain = original
            let place = generator.below(chain.count)
            Self.damage(&chain, at: place, &generator)
            if chain == original { continue }
            let setting = Setting.allCases[round % Setting.allCases.count]
            let host = setting == .otherHost ? scene.otherHost : scene.host
            let outcome = (setting == .otherRoot ? foreign : good).validate(
                PresentedChain(chain), for: .server(identity: host), at: setting == .otherTime ? later : Judge.now
            ) { _ in true }
            let effort = outcome.effort
            if effort.signatures > limits.signatures || effort.steps > limits.steps
                || effort.signatureWork > limits.signatureWork
                || effort.nameConstraintComparisons > limits.nameConstraintComparisons
            {
                Issue.record("\(chain): over the budget, \(effort)")
            }
            if (outcome.path == nil) != (outcome.failure != nil) { Issue.record("\(chain): neither path nor failure") }
            if effort.signatures > 0 { read += 1 }
            if effort.nameConstraintComparisons > 0 { constrained += 1 }
            guard let path = outcome.path else {
                refused += 1
                continue
            }
            accepted += 1
            if setting != .good { Issue.record("\(chain): accepted, though the undamaged one is not") }
            for certificate in path.certificates
            where !scene.signed.contains(Array(certificate.der[certificate.layout.toBeSigned])) {
                Issue.record("\(chain): accepted, though nobody signed it")
            }
        }
        #expect(refused > Campaign.mutants / 4)
        // Some mutants get as far as a signature; some are of what no path needs.
        #expect(accepted > 0 && read > Campaign.mutants / 200 && constrained > Campaign.mutants / 1_000)
    }

    /// Changes certificates of the chain, or the chain itself.
    private static func damage(_ chain: inout [[UInt8]], at place: Int, _ generator: inout SplitMix64) {
        switch generator.below(16) {
        case 0: chain.remove(at: place)
        case 1: chain.insert(chain[generator.below(chain.count)], at: place)
        case 2: chain.swapAt(place, generator.below(chain.count))
        case 3: chain.append(Array(chain[place].prefix(generator.below(chain[place].count))))
        default:
            for _ in 0...generator.below(2) { generator.damage(&chain[place], tokens) }
        }
    }
}
