import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing

/// The versions that clients know, read where they look: a folder that was put back from a copy must go on above them.
struct RepositoryServedVersions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Make timestamp and snapshot later than those that are served at this URL of the folder public: for a folder "
                + "that was restored from a copy.", valueName: "url"))
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
        try RepositoryOrigin.validate(url, "--url")
    }

    /// The latest version of timestamp and snapshot that is served, proved from the folder's own root on; nil without
    /// --url.
    /// - Parameters:
    ///   - live: what the folder has.
    ///   - path: the folder's name for messages.
    /// - Throws: if it cannot be asked, or if it serves roots or pins that the folder does not have: renewing what is
    ///   older would lose them.
    func latest(over live: TUFRepositoryState.Live, in path: String, at now: Date) async throws(CommandFailure)
        -> Int64?
    {
        guard let url, let root = live.roots.first else { return nil }
        let origin = try await RepositoryOrigin(url, timeout: timeout) { () throws(CommandFailure) in
            try ConnectionOptions.proxiesOfEnvironment()
        } anchors: { () async throws(CommandFailure) in
            try await ConnectionOptions.anchors(ca: ca)
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
