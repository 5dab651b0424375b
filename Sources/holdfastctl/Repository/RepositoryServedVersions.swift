import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing

/// The served versions that clients know. A folder that was restored from a backup must continue above them.
struct RepositoryServedVersions: ParsableArguments {
    @OptionGroup
    var server: RepositoryServer

    /// The latest version of timestamp and snapshot that is served, proved from the folder's own root on; nil without
    /// --url.
    /// - Parameters:
    ///   - live: the published metadata of the folder.
    ///   - path: the folder's name for messages.
    /// - Throws: if the request fails, or if the server has roots or pins that the folder does not have: renewing the
    ///   older ones would lose them.
    func latest(
        over live: TUFRepositoryState.Live, in path: String, by connection: ConnectionOptions, at now: Date
    ) async throws(CommandFailure) -> Int64? {
        guard let origin = try await server.origin(connection) else { return nil }
        guard let root = live.roots.first else {
            throw CommandFailure(.invalidList, "\(path) has no published root from which to verify \(origin.name)")
        }
        let served = try await origin.following(root: root.data, at: now)
        func version(of role: TUFRole) -> Int64? { served.roles.first { $0.file.role == role }?.file.version }
        let isNewer =
            served.newestRoot > (live.root?.version ?? 0)
            || version(of: .targets).map { $0 > live.targets.version } ?? false
        guard !isNewer else {
            throw CommandFailure(
                .invalidList,
                "\(origin.name) serves newer roots or pins than \(path) has. Put \(path)/public back from there instead."
            )
        }
        guard let timestamp = version(of: .timestamp) else {
            throw CommandFailure(
                .invalidList,
                "\(origin.name) serves no timestamp that verifies (\(served.problem?.found ?? "none")). If it has expired, "
                    + "read its version and give it with --above.")
        }
        return max(timestamp, version(of: .snapshot) ?? 0)
    }
}
