#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("What a round of a trust server means for clients", .timeLimit(.minutes(15)))
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
        _ shown: TestCertificate..., changing maximumChanges: Int? = nil,
        of clients: RoundClients = RoundClients(appVersions: .noShippedPins)
    ) async throws -> TrustServerPublisher.Report {
        let rules = PublishingRound.Rules(maximumChanges: maximumChanges)
        let publisher = TrustServerPublisher(
            customer: "acme", key: key, storage: storage, rules: rules, clock: clock)
        let answer = PublishingRound.Answer(paths: try shown.map(path), problems: [])
        return try await publisher.publish([(host, answer)], backups: TrustServerBackups(), of: clients, at: clock.now)
    }

    /// The currently published document.
    private func document() throws -> Data {
        try #require(try storage.data(at: TrustServerPath.document(of: "acme"), atMost: 1 << 20))
    }

    /// A pin file that a build carries.
    private func shipped(_ leaf: TestCertificate, grace: Bool = false) throws -> PublicationOutlook.Document {
        // Over for an hour, with a day of grace.
        let file = try PinFile(
            issuedAt: clock.now.addingTimeInterval(-86_400),
            notAfter: clock.now.addingTimeInterval(grace ? -3_600 : 86_400),
            refresh: PinFile.Refresh(after: 21_600, grace: 86_400),
            hosts: [
                PinFile.Host(HostPattern("a.example.com"), pins: [PinFile.KeyPin(Pin.publicKey(of: leaf.der))])
            ])
        return .init("7.4.pins.json", kind: .shippedPins, octets: Data(file.json), published: clock.now)
    }

    @Test("Clients get in with everything that a round validated, at every address")
    func everythingIsIn() async throws {
        let (one, other) = (try leaf(), try leaf())
        let report = try await publish(one, other)
        #expect(report.refusals.isEmpty && !report.isNegative && !report.isIncomplete)
        clock.advance(by: .seconds(300))
        #expect(try await publish(one).refusals.isEmpty)
    }

    @Test("A certificate that too many changes keep out locks its clients out, and the round says so")
    func tooManyChanges() async throws {
        let old = try leaf()
        _ = try await publish(old)
        clock.advance(by: .seconds(300))
        #expect(try await publish(old, changing: 0).refusals.isEmpty)
        clock.advance(by: .seconds(300))
        let report = try await publish(leaf(), changing: 0)
        #expect(report.refusals.map(\.host) == [host])
        #expect(report.refusals[0].reason.contains("pinMismatch"))
        #expect(report.isNegative)
        // One address of two has it.
        clock.advance(by: .seconds(300))
        #expect(try await publish(old, leaf(), changing: 0).refusals.map(\.host) == [host])
    }

    @Test("Clients with a document that no round remembers are judged when somebody names it")
    func named() async throws {
        let (old, new) = (try leaf(), try leaf())
        _ = try await publish(old)
        let before = try document()
        for name in [TrustServerPath.document(of: "acme"), TrustServerPath.replaced(of: "acme")] {
            #expect(try storage.replace(name, storage.data(at: name, atMost: 1 << 20), with: nil))
        }
        clock.advance(by: .seconds(300))
        // Nothing is left of the first round, so this one is the first.
        #expect(try await publish(new).refusals.isEmpty)
        var clients = RoundClients(appVersions: .noShippedPins)
        clients.replaced = [
            .init(
                "before.signed", kind: .trustServer(signer: key.certificate, customer: "acme"), octets: before,
                published: .distantPast, replaced: clock.now)
        ]
        let report = try await publish(new, of: clients)
        #expect(report.refusals.map(\.host) == [host])
        #expect(report.refusals.first?.reason.contains("before.signed, which was replaced, are locked out") == true)
    }

    @Test("Builds that carry other pins are locked out, those in grace end soon, and unnamed ones are unknown")
    func builds() async throws {
        let leaf = try leaf()
        func report(_ document: PublicationOutlook.Document?) async throws -> TrustServerPublisher.Report {
            clock.advance(by: .seconds(300))
            guard var document else { return try await publish(leaf, of: RoundClients()) }
            document.appVersions = ["7.4"]
            return try await publish(
                leaf, of: RoundClients(shipped: [document], appVersions: .versions([.init("7.4")])))
        }
        let good = try await report(shipped(leaf))
        #expect(!good.isNegative && !good.isIncomplete && good.ending.isEmpty, "\(good.unknown)")
        let other = try await report(shipped(self.leaf()))
        #expect(other.refusals.map(\.host) == [host] && other.refusals[0].reason.contains("7.4.pins.json"))
        let grace = try await report(shipped(leaf, grace: true))
        #expect(!grace.isNegative && !grace.isIncomplete && grace.ending.count == 1, "\(grace.refusals)")
        #expect(grace.ending.first?.contains("only by grace") == true)
        let unnamed = try await report(nil)
        #expect(!unnamed.isNegative && unnamed.isIncomplete && unnamed.unknown.count == 1)
        #expect(unnamed.unknown.first?.contains("app versions unknown") == true)
    }

    @Test("A document that nobody can have kept, since the file of replaced ones is gone, is unknown for one round")
    func lost() async throws {
        let leaf = try leaf()
        _ = try await publish(leaf)
        let path = TrustServerPath.replaced(of: "acme")
        #expect(try storage.replace(path, storage.data(at: path, atMost: 1 << 20), with: nil))
        clock.advance(by: .seconds(300))
        let report = try await publish(leaf)
        #expect(report.isIncomplete && !report.isNegative && report.published == 1)
        #expect(
            report.unknown == [
                "clients may hold a document that a round has replaced, and nobody knows which: acme.replaced.json: it is not "
                    + "there"
            ])
    }

    @Test("Hosts that left the list are still dialed by clients with the document from before")
    func left() async throws {
        let leaf = try leaf()
        _ = try await publish(leaf)
        clock.advance(by: .seconds(300))
        let other = try DialedHost("b.example.com", port: 443)
        let validator = PathValidator(anchors: try TrustAnchors(der: [root.root]))
        let chain = PresentedChain(try issuing.leaf(names: ["b.example.com"]).chain)
        let path = validator.validate(chain, for: .server(identity: other), at: clock.now) { _ in true }.path
        let publisher = TrustServerPublisher(customer: "acme", key: key, storage: storage, clock: clock)
        let report = try await publisher.publish(
            [(other, .validated(try #require(path)))], backups: TrustServerBackups(),
            of: RoundClients(appVersions: .noShippedPins), at: clock.now)
        #expect(report.round.left == ["a.example.com:443"] && report.isIncomplete && report.refusals.isEmpty)
        #expect(report.unknown.contains { $0.contains("still connect to a.example.com") }, "\(report.unknown)")
    }
}
#endif
