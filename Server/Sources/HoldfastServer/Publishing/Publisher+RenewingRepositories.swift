import Foundation
import HoldfastPublishing

extension Publisher {
    /// A timestamp is signed anew once this much later than the one before, in seconds.
    private static let repositoryRound: TimeInterval = 86_400

    /// Signs the timestamp of a repository again once a day, and its snapshot before that ends: of what clients have
    /// already, whatever is prepared meanwhile.
    /// - Throws: ``ServerError``; `brokenChain` if what clients have is not what was approved.
    func renewRepository(
        _ permit: SigningPermit, _ scene: AppSnapshot
    ) async throws(ServerError) -> [String] {
        let (content, files, now) = (permit.content, scene.repository, scene.now)
        guard now <= content.end else { throw content.hasEnded }
        // What others write from here on is newer.
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
            // Whoever has another content by now has a newer timestamp already.
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
