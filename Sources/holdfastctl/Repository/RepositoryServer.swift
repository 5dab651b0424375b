import ArgumentParser
import Holdfast

/// Where clients find a repository, for verbs that look from outside.
struct RepositoryServer: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The URL at which clients find the folder public: look there, from outside.", valueName: "url"))
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

    /// The repository at the URL; nil without one.
    func origin() async throws(CommandFailure) -> RepositoryOrigin? {
        guard let url else { return nil }
        return try await RepositoryOrigin(url, timeout: timeout) { () throws(CommandFailure) in
            try ConnectionOptions.proxiesOfEnvironment()
        } anchors: { () async throws(CommandFailure) in
            try await ConnectionOptions.anchors(ca: ca)
        }
    }
}
