import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

@Suite("Restoring a repository from a backup")
struct RepositoryRestoringTests {
    private static let timestamp = "repo/bank/metadata/timestamp.json"
    private static let day: Int64 = 86_400

    private func version(_ world: World) throws -> Int64 {
        let document = try #require(world.publisher.live.current.document(at: Self.timestamp.utf8))
        return try TUFMetadataFile(Data(document.bytes)).version
    }

    /// The app asks another server.
    private func ask(_ app: RepositoryApp, _ world: World, letIn certificates: [TestCertificate]) async throws {
        let provider = SnapshotProvider(live: world.publisher.live, app: world.app, clock: world.clock)
        let asking = try app.with(provider, keepingWhatItHas: true)
        for certificate in certificates { #expect(try await asking.letsIn(certificate, trusting: world.root)) }
    }

    @Test(
        "Timestamps that the backup does not know are no obstacle: what follows is newer for everybody, and signed daily"
    )
    func renewed() async throws {
        try await World.settled { world in
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            let change = try await world.approvedRepository(holders) { $0.lifetime = 170 * Self.day }
            try await world.publisher.draftRepository(change, by: "operator")
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            for _ in 0..<3 {
                try await world.pass(Self.day)
                #expect(try await world.publisher.renew().problems == [])
            }
            let apps = try [true, false].map { try world.repositoryApp(isBundle: $0) }
            for app in apps { #expect(try await app.letsIn(world.shown, trusting: world.root)) }
            let last = try version(world)
            #expect(last == 4)
            try await world.restored(backup) { restored, report in
                #expect(report.held == [] && report.adopted == [] && report.withheld == [], "\(report)")
                for app in apps { try await ask(app, restored, letIn: [world.shown]) }
                try await restored.pass(Self.day)
                #expect(try await restored.publisher.renew().problems == [])
                #expect(try version(restored) > 1_000_000)
                for app in apps { try await ask(app, restored, letIn: [world.shown, world.announced]) }
                try await restored.pass(Self.day)
                let round = try await restored.publisher.renew()
                #expect(round.signed.contains(Self.timestamp) && round.problems == [])
                for app in apps { try await ask(app, restored, letIn: [world.shown]) }
                // The drafts are there as well, with the keys that sign.
                let files = try await restored.catalog.repository(of: world.app)
                #expect(try await files.state().draftTargets?.version == 2)
                #expect(try await restored.publisher.examine().filter(\.isFault) == [])
            }
        }
    }

    @Test("Pins that the backup does not know stay public, hold the app, and are followed by the next change")
    func newer() async throws {
        try await World.settled { world in
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            try await world.pass(600)
            let next = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try await world.catalog.announce(
                CertificateChain(next.chain), from: world.now + World.month, on: world.catalogHost, of: world.app,
                by: "operator")
            try await world.publishRepository(holders)
            let served = world.publisher.live.current.documents.mapValues(\.bytes)
            for place in [
                PublicPlace.folder(world.folder.appending(path: "public")),
                .address(
                    try #require(URL(string: "https://pins.example.com/")),
                    FolderProvider(folder: world.folder.appending(path: "public"))),
            ] {
                let app = try world.repositoryApp(isBundle: false)
                #expect(try await app.letsIn(next, trusting: world.root))
                try await world.restored(backup, places: [place]) { restored, report in
                    #expect(report.held == [world.app])
                    #expect(report.adopted.contains("repo/bank/metadata/2.targets.json"), "\(report.adopted)")
                    for (path, bytes) in restored.publisher.live.current.documents.mapValues(\.bytes) {
                        #expect(bytes == served[path], "\(path)")
                    }
                    try await ask(app, restored, letIn: [next])
                    try await restored.pass(Self.day)
                    #expect(try await restored.publisher.renew().signed == [])
                    // The next change, with the certificate that the backup forgot.
                    try await restored.catalog.announce(
                        CertificateChain(next.chain), from: restored.now + World.month, on: world.catalogHost,
                        of: world.app,
                        by: "operator")
                    try await restored.publishRepository(holders)
                    #expect(
                        restored.publisher.live.current.document(at: "repo/bank/metadata/3.targets.json".utf8) != nil)
                    try await ask(app, restored, letIn: [next, world.shown])
                    try await restored.pass(Self.day)
                    #expect(try await restored.publisher.renew().problems == [])
                }
            }
        }
    }

    @Test("A public repository with another root, or with files that do not verify, stops the restoration")
    func foreign() async throws {
        try await World.settled { world in
            try await world.publishRepository(RepositoryHolders())
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            let path = world.folder.appending(path: "public/repo/bank/metadata/1.targets.json")
            let good = try Data(contentsOf: path)
            try Data("{}".utf8).write(to: path)
            await expectError(.invalidSignature) { try await world.restored(backup) { _, _ in } }
            try await world.restored(backup, disregarding: [Self.timestamp]) { restored, report in
                #expect(report.held == [world.app])
                let document = restored.publisher.live.current.document(at: "repo/bank/metadata/1.targets.json".utf8)
                #expect(document?.bytes == Array(good))
            }
        }
    }
}
