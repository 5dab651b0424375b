import Foundation
import HoldfastPublishing
import HoldfastServer
import HoldfastSigning

/// The people who hold the offline keys of the demo's repository. They get folders, and sign what is in them, as
/// `holdfastctl repository sign` does.
struct DemoHolders: Sendable {
    private let root = TUFSigningKey()
    private let targets = TUFSigningKey()
    private let folder: URL

    init(in folder: URL) { self.folder = folder }

    /// Begins the repository of an app with their keys.
    func begin(_ app: AppName, _ publisher: Publisher) async throws {
        var generator = SystemRandomNumberGenerator()
        _ = try await publisher.beginRepository(
            of: app, root: TUFRoleKeys([root.publicKey]), targets: TUFRoleKeys([targets.publicKey]), by: "demo",
            using: &generator)
        try await sign(app, with: root, publisher)
    }

    /// Signs the targets of a change that was approved.
    func sign(_ change: RandomID, of app: AppName, _ publisher: Publisher) async throws {
        try await publisher.draftRepository(change, by: "demo")
        try await sign(app, with: targets, publisher)
    }

    private func sign(_ app: AppName, with key: TUFSigningKey, _ publisher: Publisher) async throws {
        let place = TUFRepositoryFolder(folder.appending(path: "signing-\(UUID().uuidString)"))
        try await publisher.exportRepository(of: app, to: place)
        var state = try await place.state()
        _ = try state.sign(by: key)
        try await place.writeDrafts(state)
        try await publisher.importRepository(of: app, from: place, by: "demo")
    }
}
