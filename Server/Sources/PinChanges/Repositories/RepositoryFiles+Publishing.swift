import Foundation
import Holdfast
package import HoldfastPublishing
package import HoldfastSigning
package import ServerFoundation
package import ServerModel

extension Content {
    /// The repository format of the content; nil if no repository is published.
    package var repository: ContentFormat? { formats.first { $0.kind == .repository } }

    /// The lifetimes of metadata signed at a time. Metadata that a machine signs never outlasts the content.
    package func repositoryLifetimes(at now: Int64) -> TUFRepositoryState.Lifetimes {
        var lifetimes = TUFRepositoryState.Lifetimes()
        let left = Duration.seconds(max(1, end - now))
        lifetimes.timestamp = min(lifetimes.timestamp, left)
        lifetimes.snapshot = min(lifetimes.snapshot, left)
        return lifetimes
    }
}

extension RepositoryFiles {
    /// Translates errors of HoldfastPublishing.
    package static func translating<Value>(
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

    /// The files with which clients get the draft, or a later timestamp for the files that they have.
    /// - Parameters:
    ///   - state: the published files and the draft.
    ///   - content: the approved content.
    ///   - keys: those that sign snapshot and timestamp.
    ///   - includesDrafts: whether the draft is published.
    ///   - now: seconds since 1970.
    /// - Throws: ``ServerError`` `notPublishable` for files that clients would refuse, and after the end of the
    ///   content.
    package func publication(
        of state: TUFRepositoryState, _ content: Content, keys: [TUFSigningKey], includingDrafts includesDrafts: Bool,
        at now: Int64
    ) async throws(ServerError) -> TUFPublication {
        guard now <= content.end else { throw content.hasEnded }
        // Only after a backup was restored may clients have seen a later version than the one here.
        let version = state.live?.timestamp.version ?? 0
        @Sendable func make() async throws(ServerError) -> TUFPublication {
            try await Self.translating(.notPublishable, of: name) { () throws(TUFRepositoryError) in
                var exceptions: Set<TUFPublication.Exception> = [.lifetime]
                // The keys that clients know are gone, and the holders of the root list others.
                if includesDrafts, try !state.isContinued(by: keys) { exceptions.insert(.gap) }
                return try await TUFPublication.make(
                    of: state, in: self, onlineKeys: keys, lifetimes: content.repositoryLifetimes(at: now),
                    includingDrafts: includesDrafts, allowing: exceptions,
                    above: base.latest > version ? base.latest : 0, at: Date(timeIntervalSince1970: Double(now)))
            }
        }
        // A key without PEM text is held by a program, which must be waited for.
        guard keys.contains(where: { $0.pem == nil }) else { return try await make() }
        return try await ProgramThreads.runWaiting { () async throws(ServerError) in try await make() }
    }
}

extension TUFRepositoryState {
    /// Whether some of these keys sign snapshot and timestamp according to the root that clients have.
    fileprivate func isContinued(by keys: [TUFSigningKey]) throws(TUFRepositoryError) -> Bool {
        guard live != nil else { return true }
        for role in [TUFRole.snapshot, .timestamp] {
            guard try lists(keys.map(\.publicKey), for: role, in: .published) else { return false }
        }
        return true
    }

    /// Whether a root lists one of some keys for a role, under any id.
    package func lists(
        _ keys: [TUFPublicKey], for role: TUFRole, in root: RootChoice
    ) throws(TUFRepositoryError) -> Bool {
        let listed = try self.keys(of: role, in: root).ids
        return publicKeys(of: [role]).contains { known in
            listed.contains { $0.utf8.elementsEqual(known.id.utf8) } && keys.contains(where: known.isSameKey)
        }
    }
}

extension TUFPublication {
    /// The files as documents of an app, in writing order.
    package func documents(of app: AppName, at now: Int64) -> [SignedDocument] {
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
