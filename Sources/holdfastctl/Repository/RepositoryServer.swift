import ArgumentParser
import Holdfast

/// The URL from which clients get a repository, for verbs that check it from outside.
struct RepositoryServer: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The URL at which clients find the folder public: look there, from outside.", valueName: "url"))
    var url: String?

    func validate() throws {
        if let url { try RepositoryOrigin.validate(url, "--url") }
    }

    /// The repository at the URL; nil without one.
    func origin(_ connection: ConnectionOptions) async throws(CommandFailure) -> RepositoryOrigin? {
        guard let url else { return nil }
        return try await RepositoryOrigin(url, timeout: connection.timeout, through: connection.proxies) {
            () async throws(CommandFailure) in try await connection.anchors()
        }
    }
}
