import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Repositories of The Update Framework")
struct RepositoryTests {
    private func refusal(_ report: GateReport) -> String {
        report.refusal.map { "\($0.gate.rawValue): \($0.refusals.joined(separator: "; "))" } ?? "none"
    }

    @Test("Files over those of the audit keep what a storage of repositories promises")
    func storage() async throws {
        try await PublicationStorageConformance.check { RepositoryFiles(named: "nobody's") }
        try await World.run { world in
            try await PublicationStorageConformance.check { try await world.catalog.repository(of: world.app) }
        }
    }

    @Test("From an approved change over its holders' signatures to apps that follow it from the oldest root")
    func published() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publisher.begin(world.app, holders, in: world.folder)
            let change = try await world.approvedRepository(holders, beside: [ContentFormat(.list, refresh: 3_600)])
            let early = try await world.publisher.rehearse(change)
            #expect(refusal(early).contains("signatures: apps that follow the repository repo/bank would find nothing"))
            await expectError(.gate) { try await world.publisher.publish(change) }

            let drafted = try await world.publisher.draftRepository(change, by: "operator")
            #expect(!drafted.isEnough)
            #expect(drafted.changes.contains { $0.contains("api.example.com") }, "\(drafted.changes)")
            // One of two, then both: what is prepared stays when it is asked for again.
            try await world.publisher.pass(world.app, to: [holders.targets[0]], in: world.folder)
            let half = try await world.publisher.rehearse(change)
            #expect(refusal(half).contains("would refuse the next targets: 1 of 2 signatures by the keys of root 1"))
            try await world.publisher.draftRepository(change, by: "operator")
            try await world.publisher.pass(world.app, to: [holders.targets[1]], in: world.folder)
            let outcome = try await world.publisher.publish(change)
            #expect(outcome == .published(generation: 1))

            for isBundle in [true, false] {
                let app = try world.repositoryApp(isBundle: isBundle)
                #expect(try await app.letsIn(world.shown, trusting: world.root))
                #expect(try await app.letsIn(world.announced, trusting: world.root))
                let stranger = try world.root.leaf(names: [.dns(World.host)])
                #expect(try await !app.letsIn(stranger, trusting: world.root))
            }
            let pins = try await world.followed()
            #expect(try PinFile(json: pins).app == "bank")
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            try await world.everybodyFollows(lettingIn: [world.shown, world.announced], refusing: [stranger])
            // The folder has the same, for any web server.
            for (path, document) in world.publisher.live.current.documents {
                #expect(try world.publisher.folder.read(path) == document.bytes, "\(path)")
            }
            #expect(try await world.publisher.examine().filter(\.isFault) == [])
        }
    }

    @Test(
        "If a file of a repository cannot be written, files that name it wait, also while it is not tried again yet",
        arguments: ["metadata/1.targets.json", "metadata/timestamp.json"])
    func order(_ name: String) async throws {
        try await World.run { world in
            let blocked = "repo/bank/\(name)"
            let obstacle = world.publisher.folder.url.appending(path: blocked)
            try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
            try await world.publishRepository(RepositoryHolders())
            let rank = try #require(RepositoryPath.rank(of: blocked))
            func isInOrder() throws -> Bool {
                try world.publisher.live.current.documents.keys.filter { $0 != blocked }.allSatisfy { path in
                    let isThere = try world.publisher.folder.read(path) != nil
                    return isThere == (try #require(RepositoryPath.rank(of: path)) <= rank)
                }
            }
            #expect(try isInOrder())
            try FileManager.default.removeItem(at: obstacle)
            // The pause after a failure is not over, and nothing overtakes it.
            #expect(try await world.publisher.deliver().confirmed == [])
            #expect(try isInOrder())
            try await world.pass(5)
            let delivery = try await world.publisher.deliver()
            #expect(delivery.confirmed.first == blocked && delivery.confirmed.last == "repo/bank/bundle.json")
            #expect(delivery.problems == [])
            #expect(try await world.publisher.examine().filter(\.isFault) == [])
        }
    }
}
