import Foundation
import Holdfast
import HoldfastTUF
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// An app with a root of a repository, the first one unless it is said, which fetches its bundle, or its files one by one.
struct RepositoryApp {
    let repository: PinRepository
    private let name: String

    /// - Parameter folder: what is served.
    init(_ folder: URL, name: String, fetchingFiles: Bool = false, root: Int = 1) throws {
        try self.init(
            root: Data(contentsOf: folder.appending(path: "metadata/\(root).root.json")), name: name,
            url: "https://pins.example.com/", fetchingFiles: fetchingFiles,
            PublishedFolder(folder: folder, url: "https://pins.example.com/"))
    }

    /// - Parameter store: where the repository was uploaded to.
    init(_ store: S3Store, root: Data, name: String, fetchingFiles: Bool) throws {
        try self.init(root: root, name: name, url: store.url, fetchingFiles: fetchingFiles, FetchedFile())
    }

    private init(
        root: Data, name: String, url: String, fetchingFiles: Bool, _ provider: any RemoteDataProvider
    ) throws {
        func place(_ path: String) throws -> URL { try #require(URL(string: url + path)) }
        self.name = name
        var configuration = PinRepositoryConfiguration(
            source: fetchingFiles
                ? .files(metadata: try place("metadata"), targets: try place("targets"))
                : .bundle(try place("bundle.json")),
            root: root, floor: PinFloor(covering: [try HostPattern(name)]))
        configuration.allowsPlainHTTP = true
        configuration.remoteDataProvider = provider
        configuration.secureDataStore = InMemoryDataStore()
        repository = try PinRepository(checking: configuration, logger: RecordingLog().logger)
    }

    /// Fetches what is served now, which has to be taken.
    func update() async throws { try await repository.update(mode: .forced) }

    /// Fetches what is served now, which has to be taken, and goes to a server.
    func isLetIn(by certificate: TestCertificate, trusting root: TestAuthority) async throws -> Bool {
        try await update()
        let trust = ServerTrust(
            certificates: certificate.chain, host: try DialedHost(name),
            anchors: try TrustAnchors(der: [root.certificate.der]))
        return try repository.policy(for: name).evaluate(trust, at: SystemWallClock().now).isTrusted
    }
}

/// The files of a folder as a web server would serve them.
private struct PublishedFolder: RemoteDataProvider {
    let folder: URL
    let url: String

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let path = String(request.url.absoluteString.dropFirst(url.count))
        guard let data = try? Data(contentsOf: folder.appending(path: path)) else { throw RemoteDataError(status: 404) }
        return RemoteDataResponse(.body(data))
    }
}

/// The files that a server on loopback does serve.
private struct FetchedFile: RemoteDataProvider {
    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let run = try await CommandRun.run(
            try #require(ForeignPeers.curl), ["-sS", "-w", "\n%{http_code}", request.url.absoluteString])
        let status = run.output.split(separator: "\n").last.flatMap { Int($0) } ?? 0
        guard status == 200 else { throw RemoteDataError(status: status) }
        return RemoteDataResponse(.body(Data(run.output.utf8.dropLast("\n200".utf8.count))))
    }
}
