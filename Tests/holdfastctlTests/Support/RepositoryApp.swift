import Foundation
import Holdfast
import HoldfastTUF
import HoldfastTesting
import Testing

/// An app with the first root of a repository, which fetches its bundle.
struct RepositoryApp {
    private let repository: PinRepository
    private let name: String

    /// - Parameter folder: what is served.
    init(_ folder: URL, name: String) throws {
        self.name = name
        let url = try #require(URL(string: "https://pins.example.com/bundle.json"))
        var configuration = PinRepositoryConfiguration(
            source: .bundle(url), root: try Data(contentsOf: folder.appending(path: "metadata/1.root.json")),
            floor: PinFloor(covering: [try HostPattern(name)]))
        configuration.remoteDataProvider = PublishedFile(url: folder.appending(path: "bundle.json"))
        configuration.secureDataStore = InMemoryDataStore()
        repository = try PinRepository(checking: configuration, logger: RecordingLog().logger)
    }

    /// Fetches the bundle that is served now, which has to be taken, and goes to a server.
    func isLetIn(by certificate: TestCertificate, trusting root: TestAuthority) async throws -> Bool {
        try await repository.update(mode: .forced)
        let trust = ServerTrust(
            certificates: certificate.chain, host: try DialledHost(name),
            anchors: try TrustAnchors(der: [root.certificate.der]))
        return try repository.policy(for: name).evaluate(trust, at: SystemWallClock().now).isTrusted
    }
}
