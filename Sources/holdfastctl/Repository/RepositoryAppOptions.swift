import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTUF

/// The oldest build that must be able to update, and the URL from which it updates.
struct RepositoryAppOptions: ParsableArguments {
    @Option(
        name: .customLong("app-root"),
        help: ArgumentHelp(
            "The root of the oldest supported build of the app: prove that this build can still update.",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var appRoot: String?

    @OptionGroup
    var server: RepositoryServer

    var url: String? { server.url }

    func validate() throws {
        guard server.url == nil || appRoot != nil else { throw ValidationError("--url goes with --app-root.") }
    }

    /// Reads the root; nil if none was given.
    func root() throws(CommandFailure) -> Data? {
        guard let appRoot else { return nil }
        return try AppRoot.content(of: appRoot)
    }

    /// Updates from the repository as apps with the root do, in both supported ways.
    /// - Parameter folder: the repository, unless a URL was given.
    func report(
        root: Data, folder: TUFRepositoryFolder?, by connection: ConnectionOptions, at time: Date
    ) async throws(CommandFailure) -> RepositoryFollowing? {
        if let origin = try await server.origin(connection) {
            let following = try await origin.following(root: root, at: time)
            let bundle = try await origin.bundle()
            var report = RepositoryFollowing(following, bundle: bundle, root: root, at: time)
            report.url = origin.name
            report.forbidden = origin.forbidden
            return report
        }
        guard let folder else { return nil }
        let following: TUFFollowing
        let bundle: Data?
        do {
            following = try await TUFFollowing(folder.source, root: root, at: time)
            bundle = try await folder.publishedBundle()
        } catch let error as TUFError {
            throw RepositoryOrigin.noRoot(error)
        } catch let error as TUFRepositoryError {
            throw CommandFailure(error)
        } catch {
            throw CommandFailure(.unreadableFile, ForeignErrorText.whole(error))
        }
        return RepositoryFollowing(following, bundle: bundle, root: root, at: time)
    }
}
