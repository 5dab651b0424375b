import Foundation
import Holdfast
import HoldfastTUF
import HoldfastTesting
import Logging
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication

/// An app that follows a repository from the root that it was built with, and keeps what it got.
struct RepositoryApp: Sendable {
    let storage: InMemoryDataStore
    /// Whether it asks for the bundle, or file by file.
    var isBundle: Bool { if case .bundle = configuration.source { true } else { false } }
    let configuration: PinRepositoryConfiguration
    let clock: any WallClock

    /// - Parameters:
    ///   - base: where the repository is, without a slash at the end.
    ///   - root: the root of the build.
    ///   - isBundle: whether it asks for the bundle, or file by file.
    ///   - application: whose pins it takes.
    init(
        _ base: String, root: Data, isBundle: Bool, provider: any RemoteDataProvider, clock: any WallClock,
        application: String = "bank", storage: InMemoryDataStore = InMemoryDataStore()
    ) throws {
        let url = try #require(URL(string: base))
        let source: PinRepositoryConfiguration.Source =
            isBundle
            ? .bundle(url.appending(path: "bundle.json"))
            : .files(metadata: url.appending(path: "metadata"), targets: url.appending(path: "targets"))
        var configuration = PinRepositoryConfiguration(
            source: source, root: root, floor: PinFloor(covering: [try HostPattern(World.host)]))
        configuration.application = application
        configuration.allowsPlainHTTP = true
        configuration.remoteDataProvider = provider
        self.storage = storage
        configuration.secureDataStore = storage
        self.configuration = configuration
        self.clock = clock
    }

    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The app, restarted.
    func started() throws -> PinRepository {
        try PinRepository(checking: configuration, clock: clock, logger: Self.silent)
    }

    /// Updates as a restarted app does, and returns whether it accepts a certificate.
    func letsIn(_ certificate: TestCertificate, trusting root: TestAuthority) async throws -> Bool {
        let repository = try started()
        _ = try await repository.update(mode: .forced)
        return try letsIn(certificate, repository, trusting: root)
    }

    /// Whether it lets a certificate in with what it has.
    func letsIn(_ certificate: TestCertificate, _ repository: PinRepository, trusting root: TestAuthority) throws
        -> Bool
    {
        let trust = ServerTrust(
            chain: PresentedChain(certificate.chain), purpose: .server(identity: try DialedHost(World.host, port: 443)),
            validator: PathValidator(anchors: try TrustAnchors(der: [root.root])))
        return try repository.policy(for: World.host).evaluate(trust, at: clock.now).isTrusted
    }
}

extension World {
    /// An app with the oldest root.
    func repositoryApp(isBundle: Bool) throws -> RepositoryApp {
        try RepositoryApp(
            "https://pins.example.com/repo/\(app)", root: oldestRoot(), isBundle: isBundle,
            provider: SnapshotProvider(live: publisher.live, app: app, clock: clock), clock: clock)
    }

    /// The versions that a client of The Update Framework finds, from the oldest root on, and the pin file.
    func followed() async throws -> Data {
        let base = try #require(URL(string: "https://pins.example.com/repo/\(app)"))
        let client = TUFClient(
            store: MetadataMemory(),
            source: HTTPRepositorySource(
                metadata: base.appending(path: "metadata"), targets: base.appending(path: "targets"),
                provider: SnapshotProvider(live: publisher.live, app: app, clock: clock)),
            trustedRoot: try oldestRoot(), clock: clock)
        let update = try await client.refresh()
        return try await update.data(of: update.target("pins.json"))
    }
}

extension RepositoryApp {
    private init(_ other: RepositoryApp, _ provider: any RemoteDataProvider, _ storage: InMemoryDataStore) {
        var configuration = other.configuration
        configuration.remoteDataProvider = provider
        configuration.secureDataStore = storage
        (self.configuration, self.storage, clock) = (configuration, storage, other.clock)
    }

    /// The same app with another provider.
    /// - Parameter keepingWhatItHas: whether it is the installed app, or another one of the same build.
    func with(_ provider: any RemoteDataProvider, keepingWhatItHas: Bool) throws -> RepositoryApp {
        RepositoryApp(self, provider, keepingWhatItHas ? storage : InMemoryDataStore())
    }
}
