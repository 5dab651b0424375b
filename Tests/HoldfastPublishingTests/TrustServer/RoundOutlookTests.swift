#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("What a round of a trust server means for clients")
struct RoundOutlookTests {
    private let root: TestAuthority
    private let issuing: TestAuthority
    private let clock = ManualClock(now: SystemWallClock().now)
    private let host: DialedHost
    private let key: TrustServerKey
    private let storage = MemoryStorage()

    init() throws {
        root = try TestAuthority.root(clock: clock)
        issuing = try root.intermediate()
        host = try DialedHost("a.example.com", port: 443)
        key = try TrustServerKey(customer: "acme", kind: .p256, at: clock.now)
    }

    private func leaf() throws -> TestCertificate { try issuing.leaf(names: ["a.example.com"]) }

    private func path(_ leaf: TestCertificate) throws -> ValidatedPath {
        let validator = PathValidator(anchors: try TrustAnchors(der: [root.root]))
        let outcome = validator.validate(
            PresentedChain(leaf.chain), for: .server(identity: host), at: clock.now
        ) { _ in true }
        return try #require(outcome.path)
    }

    private func publish(
        _ shown: TestCertificate..., holdingChanges holdsChanges: Bool = false
    ) async throws -> TrustServerPublisher.Report {
        var rules = PublishingRound.Rules()
        rules.holdsChanges = holdsChanges
        let publisher = TrustServerPublisher(
            customer: "acme", key: key, storage: storage, rules: rules, clock: clock)
        let answer = PublishingRound.Answer(paths: try shown.map(path), problems: [])
        return try await publisher.publish([(host, answer)], backups: TrustServerBackups(), at: clock.now)
    }

    @Test("Clients get in with everything that a round validated, at every address")
    func everythingIsIn() async throws {
        let report = try await publish(leaf(), leaf())
        #expect(report.refusals.isEmpty && !report.isNegative && !report.isIncomplete)
        clock.advance(by: .seconds(300))
        #expect(try await publish(leaf()).refusals.isEmpty)
    }

    @Test("A certificate that waits for approval locks its clients out, and the round says so")
    func waiting() async throws {
        let old = try leaf()
        _ = try await publish(old)
        clock.advance(by: .seconds(300))
        #expect(try await publish(old, holdingChanges: true).refusals.isEmpty)
        clock.advance(by: .seconds(300))
        let report = try await publish(leaf(), holdingChanges: true)
        #expect(report.refusals.map(\.host) == [host])
        #expect(report.refusals[0].reason.contains("pinMismatch"))
        #expect(report.isNegative)
        // One address of two has it.
        clock.advance(by: .seconds(300))
        #expect(try await publish(old, leaf(), holdingChanges: true).refusals.map(\.host) == [host])
    }
}
#endif
