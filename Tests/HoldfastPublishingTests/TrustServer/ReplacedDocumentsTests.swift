#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("The documents of a trust server that rounds replaced while clients hold them", .timeLimit(.minutes(15)))
struct ReplacedDocumentsTests {
    private let root: TestAuthority
    private let issuing: TestAuthority
    private let clock = ManualClock(now: Date(timeIntervalSince1970: 1_900_000_000))
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

    @discardableResult
    private func publish(
        _ shown: TestCertificate, backups: TrustServerBackups = TrustServerBackups()
    ) async throws -> TrustServerPublisher.Report {
        let validator = PathValidator(anchors: try TrustAnchors(der: [root.root]))
        let path = validator.validate(
            PresentedChain(shown.chain), for: .server(identity: host), at: clock.now
        ) { _ in true }.path
        let publisher = TrustServerPublisher(
            customer: "acme", key: key, storage: storage, clock: clock)
        return try await publisher.publish(
            [(host, .init(paths: [try #require(path)], problems: []))], backups: backups,
            of: RoundClients(appVersions: .noShippedPins), at: clock.now)
    }

    private func kept() throws -> ReplacedDocuments? {
        let path = TrustServerPath.replaced(of: "acme")
        return try storage.data(at: path, atMost: 1 << 24).map { try ReplacedDocuments(reading: $0) }
    }

    private func outlook(showing leaf: TestCertificate, signedBy signer: Data? = nil) throws -> HostsOutlook {
        let path = TrustServerPath.document(of: "acme")
        let data = try #require(try storage.data(at: path, atMost: 1 << 24))
        let current = try PublishedPins(
            trustServerDocument: data, named: "the document", signer: key.certificate, customer: "acme", at: clock.now)
        let earlier = try kept()?.earlier(signedBy: signer ?? key.certificate, customer: "acme", at: clock.now)
        let chain = leaf.chain.map { Data($0) }
        return try HostsOutlook(
            of: [current.document], after: earlier ?? EarlierDocuments(),
            at: [.init(host.name, port: host.port, shown: [.init(chain, at: "192.0.2.1", seen: clock.now)])],
            platforms: [.init("company root", anchors: [Data(root.root)])], appVersions: .noShippedPins, at: clock.now)
    }

    @Test("A round that publishes a new certificate keeps the old document, whose clients are refused for 25 hours")
    func newCertificate() async throws {
        let (old, new) = (try leaf(), try leaf())
        try await publish(old)
        clock.advance(by: .seconds(300))
        try await publish(old)
        // Only signed again.
        #expect(try kept()?.items.isEmpty == true)
        #expect(try outlook(showing: old).worst == nil)

        clock.advance(by: .seconds(300))
        let signed = clock.now.addingTimeInterval(-300)
        let report = try await publish(new)
        #expect(report.refusals.map(\.host) == [host] && !report.isIncomplete)
        #expect(
            report.refusals.first?.reason.contains("an earlier document, which was replaced, are locked out") == true)
        #expect(try kept()?.items.map(\.replaced) == [clock.now])
        let refused = try outlook(showing: new)
        #expect(refused.findings.map(\.kind) == [.refused], "\(refused.findings)")
        #expect(refused.findings.first?.text.contains("an earlier document") == true)
        #expect(refused.premises.contains { $0.contains("an earlier document") })
        // Both documents have the old one.
        #expect(try outlook(showing: old).worst == nil)
        // Clients of another signer never took it.
        let other = try TrustServerKey(customer: "acme", kind: .p256, at: clock.now)
        #expect(try outlook(showing: new, signedBy: other.certificate).worst == nil)

        clock.set(signed.addingTimeInterval(25 * 3_600))
        #expect(try await publish(new).refusals.map(\.host) == [host])
        #expect(try outlook(showing: new).worst == .refused)
        clock.advance(by: .seconds(1))
        let last = try await publish(new)
        #expect(!last.isNegative && !last.isIncomplete)
        #expect(try outlook(showing: new).worst == nil)
    }

    @Test("With the next certificate among the backups, nobody is refused when it is installed")
    func backups() async throws {
        let (old, new) = (try leaf(), try leaf())
        let backups = TrustServerBackups(certificates: [try X509Certificate(der: new.der)], keys: [])
        try await publish(old, backups: backups)
        clock.advance(by: .seconds(300))
        let report = try await publish(new, backups: backups)
        #expect(!report.isNegative && !report.isIncomplete)
        #expect(try outlook(showing: new).worst == nil)
    }

    @Test("A file that is damaged is said, and begins anew; the document is published in any case")
    func damaged() async throws {
        let (old, new) = (try leaf(), try leaf())
        try await publish(old)
        let path = TrustServerPath.replaced(of: "acme")
        #expect(try storage.replace(path, storage.data(at: path, atMost: 1 << 24), with: Data("{}".utf8)))
        clock.advance(by: .seconds(300))
        let report = try await publish(new)
        #expect(report.published == 1 && report.isIncomplete)
        #expect(report.unknown.contains { $0.contains("nobody knows which: acme.replaced.json") }, "\(report.unknown)")
        #expect(try kept()?.items.count == 1)
        for wrong in [
            "{}", #"{"version":2,"documents":[]}"#, #"{"version":1,"documents":[{"document":"","replaced":-1}]}"#,
        ] {
            let error = #expect(throws: SigningError.self) { try ReplacedDocuments(reading: Data(wrong.utf8)) }
            #expect(error?.code == .damagedMemory)
        }
    }

    @Test("A document that is damaged inside a file is not taken for one of another signer")
    func damagedDocument() throws {
        let file = #"{"version":1,"documents":[{"document":"AAAA","replaced":1}]}"#
        let earlier = try ReplacedDocuments(reading: Data(file.utf8)).earlier(
            signedBy: key.certificate, customer: "acme", at: clock.now)
        #expect(earlier.documents.isEmpty && earlier.gaps.count == 1)
    }

    @Test("Documents that no client uses anymore are dropped, and of too many the last stands for those after it")
    func limits() throws {
        var documents = ReplacedDocuments()
        let start = clock.now
        for number in 0..<20 {
            documents.add(Data([UInt8(number)]), replaced: start.addingTimeInterval(Double(number) * 300))
        }
        #expect(documents.items.map(\.document) == (0..<16).map { Data([$0]) })
        #expect(documents.items.last?.replaced == start.addingTimeInterval(19 * 300))
        #expect(try ReplacedDocuments(reading: documents.data) == documents)
        // The same again, after a round that was killed between two files.
        var twice = ReplacedDocuments()
        for seconds in [0.0, 300] { twice.add(Data([1]), replaced: start.addingTimeInterval(seconds)) }
        #expect(twice.items.map(\.replaced) == [start.addingTimeInterval(300)])
        twice.add(Data([2]), replaced: start.addingTimeInterval(300 + 25 * 3_600))
        #expect(twice.items.map(\.document) == [Data([2])])
    }
}
#endif
