import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

/// Compares imagined certificates of an authority with real ones: its keys are here, so it issues every certificate
/// that was evaluated, and clients decide about each.
@Suite("Certificates that are imagined, and the same ones issued")
struct RealIssuanceTests {
    /// A certificate of an authority, and the authority that signed it.
    private struct Variant {
        let owner: Int
        let signer: Int
        let authority: TestAuthority
    }

    /// A random authority with several roots, intermediates and cross-signed certificates.
    private struct World {
        var variants: [Variant] = []
        let anchors: [TestAuthority]
        let document: PublicationOutlook.Document

        init(_ random: inout SplitMix64, _ clock: ManualClock) throws {
            let roots = try (0..<Int.random(in: 1...3, using: &random)).map { number in
                try TestAuthority.root(name: .commonName("Root \(number)"), clock: clock)
            }
            for (index, root) in roots.enumerated() {
                variants.append(.init(owner: index, signer: index, authority: root))
            }
            var owners = roots
            for number in 0..<Int.random(in: 1...4, using: &random) {
                let signer = Int.random(in: owners.indices, using: &random)
                let length = [nil, nil, 0, 1].randomElement(using: &random) ?? nil
                let made = try owners[signer].intermediate(name: .commonName("I\(number)"), pathLength: length) {
                    if Int.random(in: 0..<8, using: &random) == 0 {
                        $0.nameConstraints = .init(permitted: [.dns("elsewhere.example")])
                    }
                }
                variants.append(.init(owner: owners.count, signer: signer, authority: made))
                owners.append(made)
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let (owner, signer) = (
                    Int.random(in: owners.indices, using: &random), Int.random(in: owners.indices, using: &random)
                )
                guard owner != signer else { continue }
                variants.append(
                    .init(owner: owner, signer: signer, authority: try owners[signer].crossSign(owners[owner])))
            }
            anchors = roots.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
            let pinned = variants.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }.map(\.authority)
            let scene = try AuthorityScene()
            if Bool.random(using: &random) {
                // A pin file has a key once, whichever certificates have it.
                var keys: Set<Int> = []
                let once = variants.filter { variant in
                    pinned.contains { $0.certificate.der == variant.authority.certificate.der }
                        && keys.insert(variant.owner).inserted
                }
                document = try scene.pinFile(once.isEmpty ? [roots[0]] : once.map(\.authority))
            } else {
                document = try scene.list(pinned.map { ($0, Int.random(in: 1...3, using: &random)) })
            }
        }

        /// The certificates that a server may present above its own, by the rules of this test alone.
        func ways(from variant: Variant, below passed: [Int] = []) -> [[Variant]] {
            guard passed.isEmpty || variant.owner != variant.signer else { return [] }
            let above = variants.filter { next in
                next.owner == variant.signer && next.owner != variant.owner && !passed.contains(next.owner)
            }
            return [[variant]]
                + above.flatMap { ways(from: $0, below: passed + [variant.owner]) }.map { [variant] + $0 }
        }

        var certifying: Set<Int> { Set(variants.filter { $0.owner != $0.signer }.map(\.signer)) }
    }

    /// The clients' decisions about a certificate that was really issued.
    private static func decide(_ world: World, _ below: [TestAuthority], _ way: [Variant], at time: Date) throws -> (
        isTrusted: Bool, isPinned: Bool
    ) {
        guard let issuer = below.first ?? way.first?.authority else { return (false, false) }
        let leaf = try issuer.leaf(names: [.dns(AuthorityScene.host)])
        let chain = [leaf.der] + below.map(\.certificate.der) + way.map(\.authority.certificate.der)
        let outlook = try PublicationOutlook(
            judging: .init(
                documents: [world.document],
                hosts: [
                    .init(
                        AuthorityScene.host, port: 443,
                        shown: [.init(chain.map { Data($0) }, at: "192.0.2.1", seen: time)])
                ],
                platforms: [.init("anchors", anchors: world.anchors.map { Data($0.certificate.der) })],
                appVersions: world.document.appVersions.isEmpty ? .noShippedPins : .versions([.init("1.0")]),
                span: .seconds(1), now: time))
        let trust = ServerTrust(
            certificates: chain, host: try DialedHost(AuthorityScene.host),
            anchors: try TrustAnchors(der: world.anchors.map(\.certificate.der)))
        let standard = StandardPolicy(host: try HostPattern(AuthorityScene.host)).evaluate(trust, at: time)
        return (standard.isTrusted, outlook.verdict == .in)
    }

    @Test("Clients refuse what was said to be refused, and nothing else", arguments: 0..<6)
    func agreement(block: Int) throws {
        var counts = (worlds: 0, refused: 0, admitted: 0)
        for seed in 0..<12 {
            var random = SplitMix64(seed: UInt64(block * 1_000 + seed))
            let clock = ManualClock(now: AuthorityScene.start)
            let world = try World(&random, clock)
            let coverage = try IssuerPinCoverage(
                judging: .init(
                    documents: [world.document], hosts: [.init(AuthorityScene.host, port: 443, shown: [])],
                    platforms: [.init("anchors", anchors: world.anchors.map { Data($0.certificate.der) })],
                    appVersions: world.document.appVersions.isEmpty ? .noShippedPins : .versions([.init("1.0")]),
                    span: .seconds(1), now: AuthorityScene.start),
                issuedBy: AuthorityScene.hierarchy(world.variants.map(\.authority)))
            var expected: [Int: Set<[[UInt8]]>] = [0: [], 1: [], 2: []]
            for variant in world.variants {
                for way in world.ways(from: variant) {
                    var below: [TestAuthority] = []
                    for unknown in 0...2 {
                        if unknown > 0 {
                            let parent = below.first ?? variant.authority
                            below.insert(try parent.intermediate(name: .commonName("New \(unknown)")), at: 0)
                        } else if world.certifying.contains(variant.owner) {
                            continue
                        }
                        let fate = try Self.decide(world, below, way, at: AuthorityScene.start)
                        guard fate.isTrusted else { continue }
                        if fate.isPinned {
                            counts.admitted += 1
                        } else {
                            counts.refused += 1
                            expected[unknown]?.insert(way.map(\.authority.certificate.der))
                        }
                    }
                }
            }
            let gaps = coverage.findings.flatMap { $0.gaps + $0.unannounced }
            for unknown in 0...2 {
                let found = Set(gaps.filter { $0.unknownAuthorities == unknown }.map { $0.issuers.map(\.der) })
                #expect(found == expected[unknown], "seed \(block) \(seed), \(unknown) unknown")
            }
            counts.worlds += 1
        }
        #expect(counts.worlds == 12 && counts.refused > 20 && counts.admitted > 20, "\(counts)")
    }
}
