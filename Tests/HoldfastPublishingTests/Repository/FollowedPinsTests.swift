import Foundation
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("The pins that an app with a certain root gets from a repository", .timeLimit(.minutes(15)))
struct FollowedPinsTests {
    @Test("They are the published ones, file by file and from the bundle, and each way has a problem of its own")
    func ways() async throws {
        let (offline, online) = (TUFSigningKey(), TUFSigningKey())
        try await RepositoryScene.published(root: [offline], targets: [offline], online: online) { scene in
            let root = try scene.served("metadata/1.root.json")
            func followed(_ bundle: Data?) async throws -> TUFFollowedPins {
                let following = try await TUFFollowing(scene.repository.source, root: root, at: scene.clock.now)
                return TUFFollowedPins(following, bundle: bundle, root: root, at: scene.clock.now)
            }
            let pins = try #require(try await scene.repository.state().live?.pinFile)
            let bundle = try scene.served("bundle.json")
            let both = try await followed(bundle)
            #expect(both.problem == nil && both.bundleProblem == nil)
            #expect(both.pins?.json == pins.json && both.published != nil)

            let files = try await followed(nil)
            #expect(files.problem == nil && files.bundleProblem == "there is no bundle.json")
            #expect(files.pins?.json == pins.json && files.published == nil)
            let made = try await TUFFollowedPins.bundle(of: scene.repository.source, root: root, at: scene.clock.now)
            #expect(try await followed(made).bundleProblem == nil)

            let damaged = try await followed(Data("{}".utf8))
            #expect(damaged.problem == nil && damaged.bundleProblem != nil)
            #expect(damaged.pins == nil && damaged.published == nil)

            try FileManager.default.removeItem(
                at: scene.repository.published.appending(path: "metadata/timestamp.json"))
            let cut = try await followed(bundle)
            #expect(cut.problem != nil && cut.bundleProblem == nil && cut.pins?.json == pins.json)
            // Expired metadata is accepted in neither way.
            scene.clock.advance(by: .seconds(400 * 86_400))
            let late = try await followed(bundle)
            #expect(late.problem != nil && late.bundleProblem != nil && late.pins == nil)
        }
    }
}
