import Foundation
import HoldfastPublishing
import PinChanges
import ServerFoundation
import ServerModel
import ServerStore

extension Publisher {
    /// The interval between timestamps, in seconds.
    private static let repositoryRound: TimeInterval = 86_400

    /// Signs the timestamp of a repository again once per day, and its snapshot before that ends. Signs only published
    /// files, regardless of drafts.
    /// - Throws: ``ServerError``; `brokenChain` if the published files are not the approved ones.
    func renewRepository(
        _ permit: SigningPermit, _ scene: AppSnapshot
    ) async throws(ServerError) -> [String] {
        let (content, files, now) = (permit.content, scene.repository, scene.now)
        guard now <= content.end else { throw content.hasEnded }
        // Later writes of other processes are newer.
        let before = catalog.ledger.documents
        let (held, state) = try await RepositoryFiles.translating(.notPublishable, of: files.name) {
            () throws(TUFRepositoryError) -> (Date?, TUFRepositoryState?) in
            // Nothing was published yet, or all of it was withdrawn.
            guard try await files.isThere() else { return (nil, nil) }
            let state = try await files.state(includingDrafts: false)
            return (state.live?.timestamp.end, state)
        }
        guard let held, let state else { return [] }
        let next = Date(timeIntervalSince1970: Double(now)).addingTimeInterval(
            TimeInterval(content.repositoryLifetimes(at: now).timestamp.components.seconds))
        let isOver = held <= Date(timeIntervalSince1970: Double(now))
        guard next.timeIntervalSince(held) >= (isOver ? 1 : Self.repositoryRound) else { return [] }
        let judge = RepositoryJudge(scene, content)
        guard state.firstRoot.map({ Digest(of: $0) }) == content.repository?.root,
            state.live.map({ judge.says($0.pins) }) ?? false
        else {
            throw ServerError(
                .brokenChain, of: files.name, expected: "the root and the pins that were approved", found: "others")
        }
        let keys = try keys(for: permit, scene.keys)
        let publication = try await files.publication(
            of: state, content, keys: keys.repository, includingDrafts: false, at: now)
        let documents = publication.documents(of: content.app, at: now)
        return try await write(of: content.app) { ledger throws(ServerError) in
            // After a change of the content, a newer timestamp exists already.
            guard ledger.content(for: .everybody, of: content.app) == content.digest else { return [] }
            // Another process has signed it again meanwhile.
            let timestamp = Ledger.Name(
                app: content.app, name: RepositoryPath.prefix(of: content.app) + RepositoryPath.timestamp)
            guard ledger.documents[timestamp] == before[timestamp] else { return [] }
            try Catalog.requireUnchanged(files.base, of: content.app, includingDraft: false, in: ledger)
            return documents.map { ($0, [$0.path]) }
        }
    }
}
