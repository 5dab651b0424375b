import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

extension Content {
    /// How the repository is published; nil if it is not.
    var repository: ContentFormat? { formats.first { $0.kind == .repository } }

    /// How long metadata lasts that is signed at a time: nothing that a machine signs outlasts the content.
    func repositoryLifetimes(at now: Int64) -> TUFRepositoryState.Lifetimes {
        var lifetimes = TUFRepositoryState.Lifetimes()
        let left = Duration.seconds(max(1, end - now))
        lifetimes.timestamp = min(lifetimes.timestamp, left)
        lifetimes.snapshot = min(lifetimes.snapshot, left)
        return lifetimes
    }
}

extension RepositoryFiles {
    /// Takes what the code of HoldfastPublishing says about a repository.
    static func translating<Value>(
        _ code: ServerError.Code, of subject: String, _ body: () async throws(TUFRepositoryError) -> Value
    ) async throws(ServerError) -> Value {
        do throws(TUFRepositoryError) {
            return try await body()
        } catch {
            throw ServerError(
                code.unlessUnsupported(error), of: "\(subject)\(error.subject.map { ", \($0)" } ?? "")",
                expected: error.expected, found: error.found, remedy: error.remedy)
        }
    }

    /// The files with which clients get what is prepared, or a later timestamp of what they have.
    /// - Parameters:
    ///   - state: what clients get, and what is prepared.
    ///   - content: what was approved.
    ///   - keys: those that sign snapshot and timestamp.
    ///   - includesDrafts: whether what is prepared is published.
    ///   - now: seconds since 1970.
    /// - Throws: ``ServerError`` `notPublishable` for what clients would refuse, and after the end of the content.
    func publication(
        of state: TUFRepositoryState, _ content: Content, keys: [TUFSigningKey], includingDrafts includesDrafts: Bool,
        at now: Int64
    ) async throws(ServerError) -> TUFPublication {
        guard now <= content.end else { throw content.hasEnded }
        // Only after a backup was restored is the latest that clients may have seen not the one that is here.
        let version = state.live?.timestamp.version ?? 0
        @Sendable func make() async throws(ServerError) -> TUFPublication {
            try await Self.translating(.notPublishable, of: name) { () throws(TUFRepositoryError) in
                var exceptions: Set<TUFPublication.Exception> = [.lifetime]
                // Nobody has the keys anymore that clients know, and the holders of the root gave it others.
                if includesDrafts, try !state.isContinued(by: keys) { exceptions.insert(.gap) }
                return try await TUFPublication.make(
                    of: state, in: self, onlineKeys: keys, lifetimes: content.repositoryLifetimes(at: now),
                    includingDrafts: includesDrafts, allowing: exceptions,
                    above: base.latest > version ? base.latest : 0, at: Date(timeIntervalSince1970: Double(now)))
            }
        }
        // A key without a text is outside this process: a program is waited for.
        guard keys.contains(where: { $0.pem == nil }) else { return try await make() }
        return try await ProgramThreads.runWaiting { () async throws(ServerError) in try await make() }
    }
}

extension TUFRepositoryState {
    /// Whether some of these keys sign snapshot and timestamp by the root that clients have.
    fileprivate func isContinued(by keys: [TUFSigningKey]) throws(TUFRepositoryError) -> Bool {
        guard live != nil else { return true }
        for role in [TUFRole.snapshot, .timestamp] {
            guard try lists(keys.map(\.publicKey), for: role, in: .published) else { return false }
        }
        return true
    }

    /// Whether a root lists one of some keys for a role, under whatever id.
    func lists(
        _ keys: [TUFPublicKey], for role: TUFRole, in root: RootChoice
    ) throws(TUFRepositoryError) -> Bool {
        let listed = try self.keys(of: role, in: root).ids
        return publicKeys(of: [role]).contains { known in
            listed.contains { $0.utf8.elementsEqual(known.id.utf8) } && keys.contains(where: known.isSameKey)
        }
    }
}

extension TUFPublication {
    /// The files as documents of an app, in the order in which they are written.
    func documents(of app: AppName, at now: Int64) -> [SignedDocument] {
        let end = state.live.map { Int64($0.timestamp.end.timeIntervalSince1970) - 1 } ?? now
        return objects.map { object in
            let path = RepositoryPath.prefix(of: app) + object.path
            let refresh = RepositoryPath.refresh(of: path)
            return SignedDocument(
                kind: .repository, path: path, mediaType: "application/json", bytes: Array(object.data),
                refresh: refresh, end: object.isImmutable ? now + 10 * refresh : end)
        }
    }
}
