import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("What is no longer published")
struct WithdrawalTests {
    private static let list = "lists/bank.json"

    @Test(
        "A format that apps ask for is dropped only if its approvers said so; then it goes away, and comes back newer")
    func format() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            #expect(try world.publisher.folder.read(Self.list) != nil)
            let content = try await world.draft { $0.formats = World.fewFormats.filter { $0.kind == .trustServer } }
            let refused = try await world.propose(content)
            let refusal = try #require(refused.report.refusal)
            #expect(refusal.gate == .lint)
            #expect(refusal.refusals.contains { $0.contains("removes list, lists/bank.json") }, "\(refusal)")
            #expect(refused.difference.lines.contains("lists/bank.json goes away"))
            try await world.approve(refused.change)
            await expectError(.gate) { try await world.publisher.publish(refused.change) }
            #expect(try world.publisher.folder.read(Self.list) != nil)

            let outcome = try await world.publish(content, forcing: [.lint])
            #expect(world.catalog.ledger.publication(of: world.app)?.change == outcome)
            for path in [Self.list, "lists/bank-canary.json"] {
                #expect(try world.publisher.folder.read(path) == nil, "\(path)")
                #expect(world.publisher.live.current.document(at: path.utf8) == nil)
            }
            #expect(try await world.publisher.examine().filter(\.isFault) == [])
            // The file was put back, or was never removed.
            try Data([1]).write(to: world.publisher.folder.url.appending(path: Self.list))
            #expect(try await world.publisher.examine().contains { $0.isFault && $0.words.contains(Self.list) })
            // An uploader that was stopped before cannot put the old one back.
            expectError(.outOfTurn) { try world.publisher.folder.write([1], at: Self.list, version: 1) }

            try await world.publish(world.draft { $0.formats = World.fewFormats })
            #expect(
                try world.publisher.folder.read(Self.list)
                    == world.publisher.live.current.document(at: Self.list.utf8)?.bytes)
            #expect(world.catalog.ledger.documents[.init(app: world.app, name: Self.list)]?.version == 3)
        }
    }

    @Test(
        "Clients of a dropped format are judged as long as they hold it: whoever cannot know the next certificate is lost"
    )
    func outlook() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let next = try world.root.leaf(names: [.dns(World.host)])
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            try await world.catalog.announce(
                CertificateChain(next.chain), from: world.now + 32 * 86_400, on: world.catalogHost, of: world.app,
                by: "operator")
            // After the staleness, so that no client that asks is locked out.
            let kept = try await world.propose(world.draft { $0.formats = World.fewFormats })
            #expect(kept.report.refusal == nil, "\(kept.report)")
            let content = try await world.draft { $0.formats = World.fewFormats.filter { $0.kind == .trustServer } }
            let dropped = try await world.propose(content, forcing: [.lint])
            let refusal = try #require(dropped.report.refusal)
            #expect(refusal.gate == .outlook)
            #expect(
                refusal.refusals.contains {
                    $0.contains(
                        "CertStore apps with the list lists/bank.json, which is no longer published, are locked out")
                }, "\(refusal)")
        }
    }

    @Test("A host that is dropped is named by the gates, for the clients that still dial it")
    func host() async throws {
        try await World.run { world in
            let shop = try CatalogHost(name: "shop.example.com")
            try await world.catalog.set(shop, of: world.app, by: "operator")
            let certificate = try world.root.leaf(names: [.dns(shop.name)])
            try await world.see(certificate, on: shop, at: "192.0.2.2")
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.lint])
            let whole = try await world.draft()
            let content = try Content(
                app: world.app, hosts: whole.hosts.filter { $0.name == World.host }, formats: World.fewFormats,
                end: whole.end)
            let lint = try #require(try await world.propose(content).report.refusal)
            #expect(lint.gate == .lint)
            #expect(lint.refusals.contains { $0.contains("removes host shop.example.com:443") }, "\(lint)")
            #expect(
                lint.refusals.contains { $0.contains("are locked out at shop.example.com:443") }, "\(lint)")
        }
    }

    @Test("A content that names another customer takes the old one's document away")
    func customer() async throws {
        try await World.run { world in
            let formats = World.fewFormats
            try await world.publish(world.draft { $0.formats = formats })
            let other = try formats.map { format in
                try format.kind == .trustServer
                    ? ContentFormat(.trustServer, refresh: 300, customer: "other") : format
            }
            let proposal = try await world.propose(world.draft { $0.formats = other })
            #expect(proposal.difference.lines.contains("trust/\(World.customer).json.signed goes away"))
            let words = try #require(proposal.report.refusal?.refusals.joined())
            #expect(words.contains("removes trust-server, trust/\(World.customer).json.signed"))
        }
    }

    @Test("A list names no certificate for longer than its content counts, and neither does a challenge answer")
    func ends() async throws {
        try await World.run { world in
            let content = try await world.draft {
                $0.formats = World.formats
                $0.lifetime = 31 * 86_400
            }
            #expect(content.hosts[0].certificates.contains { $0.expires > content.end })
            try await world.publish(content)
            let entries = try content.entries(at: world.now)
            #expect(entries.count == 2)
            #expect(entries.allSatisfy { Int64($0.end.timeIntervalSince1970) <= content.end + 1 })
            var stores = [try await world.certStore(), try await world.certStore(challenging: true)]
            for store in stores { _ = try await store.update(mode: .forced) }
            for store in stores { #expect(try world.letsIn(world.announced, store.policy(for: World.host))) }
            // An old list, kept or served by another server, after the end.
            try await world.pass(31 * 86_400 + 1, showing: world.announced)
            for store in stores { #expect(try !world.letsIn(world.announced, store.policy(for: World.host))) }
            stores = [try await world.certStore()]
            _ = try? await stores[0].update(mode: .forced)
            #expect(try !world.letsIn(world.announced, stores[0].policy(for: World.host)))
        }
    }

    @Test("What was published before ends when it ends: that stops no change that comes before")
    func renewal() async throws {
        try await World.run { world in
            try await world.publish(
                world.draft {
                    $0.formats = World.fewFormats
                    $0.lifetime = 31 * 86_400
                })
            // Two weeks before the end, within the staleness.
            try await world.pass(17 * 86_400)
            let proposal = try await world.propose(world.draft { $0.formats = World.fewFormats })
            #expect(proposal.report.refusal == nil, "\(proposal.report)")
        }
    }
}
