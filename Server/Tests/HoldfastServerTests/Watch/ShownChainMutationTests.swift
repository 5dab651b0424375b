import Foundation
import Holdfast
import HoldfastProbe
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel

/// Damaged chains of hosts and answers of resolvers, as the watcher evaluates them.
@Suite("Chains and addresses of hosts, damaged", .timeLimit(.minutes(60)))
struct ShownChainMutationTests {
    private static let name = "www.example.com"

    @Test("A damaged chain is known only with the certificate that was pinned, and is kept whole or not at all")
    func chains() throws {
        let root = try TestAuthority.root()
        let intermediate = try root.intermediate()
        let leaf = try intermediate.leaf(names: [.dns(Self.name)])
        #expect(leaf.chain.count >= 2)
        let keys = try leaf.subjectPublicKeyInfo
        let content = try ContentHost(
            name: Self.name, port: 443, certificates: [], keys: [ContentHost.Key(pin: Digest(of: keys))])
        let host = try DialedHost(Self.name, port: 443)
        let watched = try WatchedHost(host, published: content)
        let validator = PathValidator(anchors: try TrustAnchors(der: [root.root]))
        let judge = try HostWatch.Judge(watched)
        let clock = SystemWallClock()
        let watch = HostWatch(validator: validator, clock: clock)
        let count = mutants(inPartsOf: 10)
        var verdicts: [WatchFinding.Verdict: Int] = [:]
        let seeds = leaf.chain.indices.map { leaf.chain[$0] }
        var number = 0
        let kept = campaign(0x5C41, seeds, count: count) { mutant in
            var chain = leaf.chain
            // Now and then it is left as it is.
            if number % 32 != 0 { chain[number % seeds.count] = mutant }
            number += 1
            // A certificate twice, many times, or in another place.
            if mutant.count % 16 == 0 { chain += [[UInt8]](repeating: mutant, count: mutant.count % 32) }
            if mutant.count % 16 == 1 { chain.reverse() }
            let trust = ServerTrust(
                chain: PresentedChain(chain), purpose: .server(identity: host), validator: validator)
            let finding = watch.finding(of: judge.policy.evaluate(trust, at: clock.now), at: "192.0.2.1:443", by: judge)
            verdicts[finding.verdict, default: 0] += 1
            #expect(finding.words.utf8.count <= 2_000 && finding.chain.count <= chain.count)
            switch finding.verdict {
            case .known: #expect(finding.chain.first == leaf.der && finding.words.isEmpty)
            case .invalid: #expect(finding.key == Digest(of: keys))
            case .unannounced: #expect(!finding.words.isEmpty)
            case .unpinned, .unreadable: Issue.record("it is pinned, and was shown")
            }
            // A stored chain can be read again.
            let stored = try CertificateChain(finding.chain)
            #expect(try CertificateChain(bytes: stored.bytes) == stored)
        }
        #expect(kept > 0 && kept < count)
        #expect(verdicts[.known, default: 0] > 0 && verdicts[.invalid, default: 0] > 0, "\(verdicts)")
        #expect(verdicts[.unannounced, default: 0] > 0)
    }

    @Test("An address that is not of the public Internet is refused in every form that leads to it")
    func forms() throws {
        let filter = AddressFilter()
        let seeds: [[UInt8]] = [
            [127, 0, 0, 1], [169, 254, 169, 254], [10, 1, 2, 3], [172, 16, 0, 1], [192, 168, 1, 1], [100, 64, 0, 1],
            [0, 0, 0, 0], [224, 0, 0, 1], [255, 255, 255, 255], [192, 0, 2, 1], [198, 18, 0, 1], [8, 8, 8, 8],
        ]
        let forms: [([UInt8]) -> [UInt8]] = [
            { [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + $0 },
            { [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8) + $0 },
            { [0x20, 0x02] + $0 + [UInt8](repeating: 0, count: 9) + [1] },
        ]
        var refused = 0
        _ = campaign(0xADD4, seeds) { mutant in
            let bytes = Array((mutant + [7, 7, 7, 7]).prefix(4))
            guard let address = IPAddress(octets: bytes) else { return }
            guard filter.refusal(of: address) != nil else { return }
            refused += 1
            for form in forms {
                let other = try #require(IPAddress(octets: form(bytes)))
                #expect(filter.refusal(of: other) != nil, "\(other)")
            }
        }
        #expect(refused > 0 && refused < mutants)
    }

    @Test("Whatever a resolver says, an address that may not be asked is named, once, and not asked")
    func resolvers() async throws {
        let host = try DialedHost(Self.name, port: 443)
        let watched = try WatchedHost(host, published: nil)
        let validator = PathValidator(anchors: TrustAnchors([]))
        let count = mutants(inPartsOf: 100)
        var most = 0
        _ = await campaign(awaiting: 0x4E50, [[127, 0, 0, 1], [169, 254, 169, 254]], count: count) { mutant in
            var generator = SeededGenerator(seed: mutant.reduce(7) { $0 &* 31 &+ UInt64($1) })
            // Addresses of these blocks only, so that no real host is probed.
            let blocks: [[UInt8]] = [[127], [10], [169, 254], [192, 168]]
            let found = (0..<Int.random(in: 0...200, using: &generator)).compactMap { _ -> IPAddress? in
                let block = blocks[Int.random(in: 0..<blocks.count, using: &generator)]
                let rest = (0..<(4 - block.count)).map { _ in UInt8.random(in: 0...3, using: &generator) }
                return IPAddress(octets: block + rest)
            }
            let watch = HostWatch(validator: validator, resolver: AddressResolver { _ in found })
            let findings = await watch.look(at: watched)
            #expect(findings.count == max(1, Set(found).count))
            #expect(findings.allSatisfy { $0.verdict == .unreadable && $0.chain.isEmpty && !$0.words.isEmpty })
            most = max(most, findings.count)
        }
        #expect(most > HostProbe.maximumAddresses)
    }
}
