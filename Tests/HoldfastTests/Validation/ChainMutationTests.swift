import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Damaged chains")
struct ChainMutationTests {
    private struct Scene {
        let chain: [[UInt8]]
        let anchor: [UInt8]
        let issuing: TestAuthority
        let signed: [[UInt8]]
    }

    private func scene(key: TestKey.Choice, signature: TestSignature = .automatic) throws -> Scene {
        let root = try Judge.root("Root", key: key) { $0.signature = signature }
        let issuing = try root.intermediate(name: "Issuing", key: key, pathLength: 0) {
            $0.signature = signature
            $0.nameConstraints = .init(permitted: [.dns("example.com"), .directory(.empty)], excluded: [.email("a@b")])
        }
        let leaf = try issuing.leaf(names: ["www.example.com", "*.example.com"], key: .p256) {
            $0.signature = signature
        }
        return Scene(
            chain: leaf.chain, anchor: root.root, issuing: issuing, signed: try leaf.chain.map(Self.signedPart))
    }

    private static func signedPart(_ der: [UInt8]) throws -> [UInt8] {
        let certificate = try X509Certificate(der: der)
        return Array(der[certificate.layout.toBeSigned])
    }

    /// Whatever comes out is an answer, within the budget, that can be printed.
    private func judge(_ chain: [[UInt8]], _ scene: Scene) throws -> ValidatedPath? {
        let outcome = try Judge.outcome(chain, trusting: [scene.anchor])
        #expect((outcome.path == nil) == (outcome.failure != nil))
        let (effort, limits) = (outcome.effort, ValidationLimits())
        #expect(
            effort.signatures <= limits.signatures && effort.steps <= limits.steps
                && effort.nameConstraintComparisons <= limits.nameConstraintComparisons)
        if let failure = outcome.failure { #expect(failure.description.utf8.count < 60_000) }
        return outcome.path
    }

    private static let tokens: [[UInt8]] = [
        [0x30, 0x80], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x05, 0x00], [0x01, 0x01, 0xFF], [0x01, 0x01, 0x00],
        [0x00],
        [0xFF, 0xFF], [0x06, 0x03, 0x55, 0x1D, 0x11], [0x82, 0x0F] + Array("www.example.com".utf8), [0x30, 0x00],
    ]

    @Test(
        "A changed octet is never accepted where a signature or an identity depends on it",
        arguments: [
            (.p256, .automatic, 1_500), (.ed25519, .automatic, 500),
            (.sharedRSA(bits: 2048, index: 0), .automatic, 400),
            (.sharedRSA(bits: 2048, index: 0), .rsaPSS(.sha256), 300),
        ] as [(TestKey.Choice, TestSignature, Int)])
    func octets(key: TestKey.Choice, signature: TestSignature, rounds: Int) throws {
        let scene = try scene(key: key, signature: signature)
        #expect(try judge(scene.chain, scene) != nil)
        var generator = SplitMix64(seed: UInt64(rounds))
        var read = 0
        for round in 0..<rounds {
            var chain = scene.chain
            let place = round % 2
            if round % 3 == 0 {
                // One bit, the nearest that a mutant can be.
                let bit = Int.random(in: 0..<chain[place].count * 8, using: &generator)
                chain[place][bit / 8] ^= 1 << UInt8(bit % 8)
            } else {
                chain[place] = generator.mutated(chain[place], tokens: Self.tokens)
            }
            guard chain != scene.chain else { continue }
            if (try? X509Certificate(der: chain[place])) != nil { read += 1 }
            guard let path = try judge(chain, scene) else { continue }
            // Only what no signature covers may differ: not what was signed, nor the anchor.
            let signed = try path.certificates.map { try Self.signedPart($0.der) }
            #expect(signed.dropLast() == scene.signed[...], "round \(round)")
            #expect(path.anchor?.der == scene.anchor)
        }
        #expect(read > rounds / 10, "too few mutants were certificates at all")
    }

    @Test("Splices of two certificates, and swapped elements, are never accepted")
    func splices() throws {
        let scene = try scene(key: .p256)
        let other = try Judge.root("Root").intermediate(name: "Issuing").leaf(names: [
            "www.example.com", "evil.example",
        ])
        let donors = try (scene.chain + other.chain + [scene.anchor]).map { try #require(DERTree($0)) }
        var generator = SplitMix64(seed: 4)
        for round in 0..<1_500 {
            let place = round % 2
            var tree = donors[place]
            for _ in 0...(round % 3) {
                guard let donor = donors.randomElement(using: &generator) else { return }
                tree.mutate(from: donor, using: &generator)
            }
            var chain = scene.chain
            chain[place] = tree.der
            guard chain != scene.chain, let path = try judge(chain, scene) else { continue }
            #expect(
                try path.certificates.dropLast().map { try Self.signedPart($0.der) } == scene.signed, "round \(round)")
        }
    }

    @Test("Malformed content under a good signature gets an answer as well")
    func signedNonsense() throws {
        let scene = try scene(key: .p256)
        let donors = try (scene.chain + [scene.anchor]).map { try #require(DERTree(Self.signedPart($0))) }
        var generator = SplitMix64(seed: 5)
        var (accepted, refused) = (0, 0)
        for round in 0..<1_500 {
            var tree = donors[round % 2]
            guard let donor = donors.randomElement(using: &generator) else { return }
            tree.mutate(from: donor, using: &generator)
            let content = tree.der
            let algorithm = HandMadeDER.sequence(TestDER.objectIdentifier([1, 2, 840, 10_045, 4, 3, 2]))
            let signer = round % 2 == 0 ? scene.issuing.certificate.key : scene.issuing.certificate.issuers[0].key
            let signature = TestDER.bitString(try signer.signature(of: content))
            var chain = scene.chain
            chain[round % 2] = HandMadeDER.sequence(content, algorithm, signature)
            guard let path = try judge(chain, scene), let leaf = path.leaf else {
                refused += 1
                continue
            }
            accepted += 1
            // Whatever was signed: the leaf names the host, the issuer is a CA.
            #expect(
                leaf.subjectAlternativeNames.contains {
                    [.dNSName("www.example.com"), .dNSName("*.example.com")].contains($0)
                })
            for issuer in path.certificates.dropFirst() {
                #expect(try issuer.basicConstraints?.isCertificateAuthority == true)
            }
            let examined = PathValidator(anchors: try TrustAnchors(der: [scene.anchor]))
                .outcomes(of: PresentedChain(chain), for: .server(identity: try DialedHost(Judge.host)), at: Judge.now)
            #expect(examined.allSatisfy { $0.failure == nil })
        }
        #expect(accepted > 20 && refused > 20)
    }
}
