import Foundation
import Holdfast
import HoldfastTUF
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

@Suite("The canary of a repository")
struct RepositoryCanaryTests {
    private static let day: Int64 = 86_400

    /// Answers with the files of another repository, as an attacker on the network can.
    private struct Swapping: RemoteDataProvider {
        let provider: SnapshotProvider
        let from: String
        let to: String

        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
            let path = request.url.path.replacing("/repo/\(from)/", with: "/repo/\(to)/")
            guard let document = provider.live.current.document(at: path.dropFirst().utf8) else {
                throw RemoteDataError(status: 404)
            }
            return RemoteDataResponse(.body(Data(document.bytes)))
        }
    }

    /// An app for the canary, with a repository that other people's keys sign.
    private func addCanary(to world: World, _ holders: RepositoryHolders) async throws -> AppName {
        let name = try AppName("bank-canary")
        try await world.catalog.addApp(
            name, displayName: "Canary",
            settings: AppSettings(canary: 0, anchors: [world.root.root], builds: []), by: "operator")
        try await world.catalog.set(world.catalogHost, of: name, by: "operator")
        try await world.see(world.shown, of: name)
        try await world.publisher.begin(name, holders, in: world.folder)
        return name
    }

    private func publishLike(
        _ change: RandomID, _ world: World, _ name: AppName, _ holders: RepositoryHolders
    ) async throws {
        // An observation that is over an hour old stops a change.
        try await world.see(world.shown, of: name)
        let format = try await ContentFormat(.repository, refresh: 21_600, root: world.catalog.firstRoot(of: name))
        let content = try await world.catalog.content(of: name, like: change, formats: [format])
        let id = try await world.propose(content).change
        try await world.approve(id)
        try await world.publisher.sign(id, holders, in: world.folder)
        guard case .published = try await world.publisher.publish(id).stage else {
            Issue.record("the canary's app has a canary itself")
            return
        }
    }

    private func apps(_ world: World, _ name: AppName) throws -> [RepositoryApp] {
        let path = "repo/\(name)/metadata/1.root.json"
        let root = Data(try #require(world.publisher.live.current.document(at: path.utf8)).bytes)
        return try [true, false].map { isBundle in
            try RepositoryApp(
                "https://pins.example.com/repo/\(name)", root: root, isBundle: isBundle,
                provider: SnapshotProvider(live: world.publisher.live, app: name, clock: world.clock),
                clock: world.clock, application: "\(name)")
        }
    }

    private func refusal(_ change: RandomID, _ world: World) async throws -> String {
        try await world.approve(change)
        return await expectError(.gate) { try await world.publisher.publish(change) }?.found ?? ""
    }

    @Test("A change of a repository waits until the canary's repository has had the same hosts for its time")
    func waits() async throws {
        try await World.run(canary: Self.day) { world in
            let (holders, others) = (RepositoryHolders(), RepositoryHolders())
            try await world.publisher.begin(world.app, holders, in: world.folder)
            let canary = try await addCanary(to: world, others)
            let change = try await world.approvedRepository(holders, beside: World.fewFormats)
            try await world.publisher.sign(change, holders, in: world.folder)
            #expect(try await world.publisher.publish(change) == .canary(until: world.now + Self.day))
            // The other formats' canary has its documents under the same name.
            #expect(world.publisher.live.current.document(at: "lists/bank-canary.json".utf8) != nil)
            try await world.pass(Self.day + 1)
            #expect(try await refusal(change, world).contains("has no repository repo/bank-canary yet"))

            try await publishLike(change, world, canary, others)
            let early = try apps(world, canary)
            for app in early { #expect(try await app.letsIn(world.shown, trusting: world.root)) }
            #expect(world.publisher.live.current.document(at: "lists/bank-canary.json".utf8) != nil)
            #expect(world.publisher.live.current.document(at: "repo/bank/bundle.json".utf8) == nil)
            #expect(
                try await refusal(change, world).contains("the canary bank-canary follows it in repo/bank-canary until")
            )
            // No probe came for a day: the time counts from the first one.
            try await world.followCanary(for: Self.day + CanaryProbes.maximumPause)
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .published(generation: 1))
            for app in try apps(world, world.app) { #expect(try await app.letsIn(world.shown, trusting: world.root)) }
            try await world.everybodyFollows(as: .canary)
            try await world.everybodyFollows()

            // The next change has to reach the canary first as well.
            // Apps go on with the old pins for the staleness, which begins only after the canary's day.
            let next = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try await world.catalog.announce(
                CertificateChain(next.chain), from: world.now + World.month + 2 * Self.day, on: world.catalogHost,
                of: world.app, by: "operator")
            let second = try await world.approvedRepository(holders, beside: World.fewFormats)
            try await world.publisher.sign(second, holders, in: world.folder)
            #expect(try await world.publisher.publish(second) == .canary(until: world.now + Self.day))
            try await world.pass(Self.day + 1)
            let waiting = try await refusal(second, world)
            #expect(waiting.contains("follows other pins for api.example.com:443"), "\(waiting)")
            try await publishLike(second, world, canary, others)
            for app in early { #expect(try await app.letsIn(next, trusting: world.root)) }
            for app in try apps(world, world.app) { #expect(try await !app.letsIn(next, trusting: world.root)) }
            // Rejected: the canary goes back by a version that is higher.
            try await world.catalog.add(try await world.statement(.carol, .reject, of: second))
            try await publishLike(change, world, canary, others)
            for app in early {
                #expect(try await !app.letsIn(next, trusting: world.root))
                #expect(try await app.letsIn(world.shown, trusting: world.root))
            }
        }
    }

    @Test("Nothing of a canary's repository is valid for clients of the real one, nor the other way round")
    func apart() async throws {
        try await World.run { world in
            let (holders, others) = (RepositoryHolders(), RepositoryHolders())
            let change = try await world.publishRepository(holders)
            let canary = try await addCanary(to: world, others)
            try await publishLike(change, world, canary, others)
            for (name, other) in [(world.app, canary), (canary, world.app)] {
                let provider = Swapping(
                    provider: SnapshotProvider(live: world.publisher.live, app: name, clock: world.clock),
                    from: "\(name)", to: "\(other)")
                for app in try apps(world, name) {
                    #expect(try await app.letsIn(world.shown, trusting: world.root))
                    for isInstalled in [true, false] {
                        let misled = try app.with(provider, keepingWhatItHas: isInstalled)
                        let repository = try misled.started()
                        let update = try? await repository.update(mode: .forced)
                        #expect(update == nil || update?.error != nil)
                        #expect(try misled.letsIn(world.shown, repository, trusting: world.root) == isInstalled)
                    }
                }
                let root = try #require(try apps(world, name).first).configuration.root
                let base = try #require(URL(string: "https://pins.example.com/repo/\(name)"))
                let client = TUFClient(
                    store: MetadataMemory(),
                    source: HTTPRepositorySource(
                        metadata: base.appending(path: "metadata"), targets: base.appending(path: "targets"),
                        provider: provider), trustedRoot: root, clock: world.clock)
                await #expect(throws: (any Error).self) { try await client.refresh() }
            }
        }
    }
}
