import Foundation
import HoldfastPublishing
import HoldfastSigning
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// The people who hold the offline keys of a repository. They work as `holdfastctl repository sign` does: on a folder.
struct RepositoryHolders: Sendable {
    let root = TUFSigningKey()
    let targets = [TUFSigningKey(), TUFSigningKey()]

    var rootKeys: TUFRoleKeys { TUFRoleKeys([root.publicKey]) }
    /// Two of two.
    var targetsKeys: TUFRoleKeys { TUFRoleKeys(targets.map(\.publicKey), threshold: 2) }

    /// Signs what is in a folder.
    static func sign(_ folder: TUFRepositoryFolder, with keys: [TUFSigningKey]) async throws {
        var state = try await folder.state()
        for key in keys { _ = try state.sign(by: key) }
        try await folder.writeDrafts(state)
    }
}

extension Publisher {
    /// Exports what is prepared, has holders sign it, and imports it again.
    @discardableResult
    func pass(
        _ app: AppName, to keys: [TUFSigningKey], in folder: URL,
        changing: (TUFRepositoryFolder) async throws -> Void = { _ in }
    ) async throws -> RepositoryProgress {
        let folder = TUFRepositoryFolder(folder.appending(path: "export-\(UUID().uuidString)"))
        try await exportRepository(of: app, to: folder)
        try await changing(folder)
        if !keys.isEmpty { try await RepositoryHolders.sign(folder, with: keys) }
        return try await importRepository(of: app, from: folder, by: "operator")
    }

    /// Begins a repository, with a root that is signed.
    func begin(_ app: AppName, _ holders: RepositoryHolders, in folder: URL) async throws {
        var generator = SystemRandomNumberGenerator()
        let begun = try await beginRepository(
            of: app, root: holders.rootKeys, targets: holders.targetsKeys, by: "operator", using: &generator)
        #expect(!begun.isEnough)
        let signed = try await pass(app, to: [holders.root], in: folder)
        #expect(signed.isEnough)
    }

    /// Has the targets of an approved change signed.
    func sign(_ change: RandomID, _ holders: RepositoryHolders, in folder: URL) async throws {
        let app = try await catalog.change(change).content.app
        try await draftRepository(change, by: "operator")
        try await pass(app, to: holders.targets, in: folder)
    }
}

extension World {
    /// How the repository is published.
    func repositoryFormat() async throws -> ContentFormat {
        try ContentFormat(.repository, refresh: 21_600, root: try await catalog.firstRoot(of: app))
    }

    /// Approves a change with a repository, and with other formats.
    func approvedRepository(
        _ holders: RepositoryHolders, beside formats: [ContentFormat] = [], forcing gates: Set<Gate> = [],
        _ change: (inout Catalog.DraftOptions) throws -> Void = { _ in }
    ) async throws -> RandomID {
        let format = try await repositoryFormat()
        let id = try await propose(
            draft { wishes in
                wishes.formats = [format] + formats
                try change(&wishes)
            }, forcing: gates
        ).change
        try await approve(id)
        return id
    }

    /// Publishes a repository, from the keys on, and has every kind of client follow.
    @discardableResult
    func publishRepository(_ holders: RepositoryHolders, beside formats: [ContentFormat] = []) async throws -> RandomID
    {
        if try await catalog.firstRoot(of: app) == nil { try await publisher.begin(app, holders, in: folder) }
        let id = try await approvedRepository(holders, beside: formats)
        try await publisher.sign(id, holders, in: folder)
        try await publisher.publish(id)
        try await everybodyFollows(isThorough: false)
        return id
    }

    /// The first root, with which the oldest app was built.
    func oldestRoot() throws -> Data {
        let path = "repo/\(app)/metadata/1.root.json"
        return Data(try #require(publisher.live.current.document(at: path.utf8)).bytes)
    }
}
