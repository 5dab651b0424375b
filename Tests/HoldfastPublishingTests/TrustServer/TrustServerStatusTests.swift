#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("Whether clients accept the document of a trust server")
struct TrustServerStatusTests {
    private let clock = ManualClock(now: Date(timeIntervalSince1970: 1_900_000_000))
    private let key: TrustServerKey

    init() throws {
        key = try TrustServerKey(customer: "acme", kind: .p256, at: clock.now)
    }

    private func document(aged seconds: Double) throws -> Data {
        try TrustServerDraft(customer: "acme", hosts: [], timestamp: clock.now.addingTimeInterval(-seconds))
            .signed(by: key)
    }

    private func status(
        aged seconds: Double, _ memory: PublishingMemory? = nil, maximumAge: Duration = .seconds(480)
    ) throws -> TrustServerStatus {
        try TrustServerStatus(
            of: document(aged: seconds), signedBy: key.certificate, customer: "acme", memory: memory,
            maximumAge: maximumAge, at: clock.now)
    }

    @Test("Its age decides: young, not signed for a while, refused by new clients, refused by all, to the second")
    func ages() throws {
        for (age, verdict) in [
            (0, TrustServerStatus.Verdict.current), (480, .current), (481, .aged), (600, .aged),
            (-86_400, .current), (-86_401, .aheadOfClock), (-2_000_000_000, .aheadOfClock), (601, .refusedByNewClients),
            (25 * 3_600, .refusedByNewClients), (25 * 3_600 + 1, .refused),
        ] {
            let status = try status(aged: Double(age))
            #expect(status.verdict == verdict && status.age == .seconds(age), "\(age)")
        }
        #expect(try status(aged: 121, maximumAge: .seconds(120)).verdict == .aged)
    }

    @Test("A document that is dated ahead of the clock is refused by the operator's checks, in seconds or milliseconds")
    func aheadOfClock() throws {
        for seconds in [-86_401, -30 * 365 * 86_400] as [Double] {
            let document = try document(aged: seconds)
            let error = #expect(throws: PublishingError.self) {
                try PublishedPins(
                    trustServerDocument: document, named: "acme.signed", signer: key.certificate, customer: nil,
                    at: clock.now)
            }
            #expect(error?.code == .invalidDocument && error?.found.contains("ahead of the clock") == true)
        }
        _ = try PublishedPins(
            trustServerDocument: document(aged: -86_400), named: "acme.signed", signer: key.certificate, customer: nil,
            at: clock.now)
        let milliseconds = clock.now.timeIntervalSince1970 * 999
        #expect(throws: SigningError.self) { try document(aged: -milliseconds) }
    }

    @Test("A document that is signed again and again with old pins is not current")
    func oldPins() async throws {
        let storage = MemoryStorage()
        let root = try TestAuthority.root(clock: clock)
        let leaf = try root.intermediate().leaf(names: ["a.example.com"])
        let host = try DialedHost("a.example.com", port: 443)
        let path = PathValidator(anchors: try TrustAnchors(der: [root.root])).validate(
            PresentedChain(leaf.chain), for: .server(identity: host), at: clock.now
        ) { _ in true }.path
        let publisher = TrustServerPublisher(customer: "acme", key: key, storage: storage, clock: clock)
        _ = try await publisher.publish(
            [(host, .init(paths: [try #require(path)], problems: []))], backups: TrustServerBackups(), at: clock.now)
        let file = try #require(try storage.data(at: TrustServerPath.memory(of: "acme"), atMost: 1 << 20))
        let memory = try PublishingMemory(reading: file)
        #expect(try status(aged: 0, memory).verdict == .current)
        clock.advance(by: .seconds(481))
        _ = try await publisher.resign(at: clock.now)
        let aged = try status(aged: 0, memory)
        #expect(aged.verdict == .aged && aged.staleHosts.map(\.place) == ["a.example.com:443"])
    }
}
#endif
