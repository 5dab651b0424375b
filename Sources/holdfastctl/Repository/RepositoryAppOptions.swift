import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTUF

/// The oldest build that must be able to update, and where it looks for the repository.
struct RepositoryAppOptions: ParsableArguments {
    @Option(
        name: .customLong("app-root"),
        help: ArgumentHelp(
            "The root of the oldest supported build of the app: prove that this build can still update.",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var appRoot: String?

    @Option(
        help: ArgumentHelp(
            "Test from outside, at this URL of the folder public; goes with --app-root.", valueName: "url"))
    var url: String?

    @Option(
        help: ArgumentHelp(
            "With --url: trust the certificates in this file (PEM or DER) instead of the system's.", valueName: "file"),
        completion: .file(extensions: ["pem", "crt", "cer", "der"]))
    var ca: String?

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp("With --url: give up on a file after this time.", valueName: "span"),
        transform: TimeSpan.read)
    var timeoutArgument = TimeSpan(seconds: 10)

    private var timeout: Int { Int(timeoutArgument.seconds) }

    func validate() throws {
        try timeoutArgument.validate("--timeout", TimeSpan.timeouts)
        guard let url else {
            guard ca == nil, timeout == 10 else { throw ValidationError("--ca and --timeout go with --url.") }
            return
        }
        guard appRoot != nil else { throw ValidationError("--url goes with --app-root.") }
        try RepositoryOrigin.validate(url, "--url")
    }

    /// Reads the root; nil if none was given.
    func root() throws(CommandFailure) -> Data? {
        guard let appRoot else { return nil }
        return try InputFile.content(of: appRoot, maximumBytes: TUFSettings().rootBytes)
    }

    /// Updates from the repository as apps with the root do, in both ways in which they can.
    /// - Parameter folder: the repository, unless a URL was given.
    func report(
        root: Data, folder: TUFRepositoryFolder?, at time: Date
    ) async throws(CommandFailure) -> RepositoryFollowing? {
        if let url {
            let origin = try await RepositoryOrigin(url, timeout: timeout) { () throws(CommandFailure) in
                try ConnectionOptions.proxiesOfEnvironment()
            } anchors: { () async throws(CommandFailure) in
                try await ConnectionOptions.anchors(ca: ca)
            }
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
