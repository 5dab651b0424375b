import Foundation
import Holdfast
import HoldfastTUF

/// Refreshes of a repository's metadata by clients of The Update Framework, from one server. All begin with the same
/// stored files of a client.
public struct RepositoryRefreshes: Sendable {
    /// One kind of refresh.
    public struct Refresh: Sendable {
        /// The situation that it meets.
        public let name: String
        /// The URL of the folder with the metadata.
        public let url: URL
        /// The stored files of a client.
        fileprivate let kept: URL
        /// Whether it changes the stored files, so that they are restored before each refresh.
        fileprivate let changesKept: Bool
        /// The newest root and the timestamp.
        fileprivate let served: [String: Data]

        /// Copies the stored files into a folder.
        fileprivate func begin(in folder: URL) throws {
            try? FileManager.default.removeItem(at: folder)
            try FileManager.default.copyItem(at: kept, to: folder)
        }

        /// A workload of a client that stores its files in a folder, which is created.
        public func workload(
            _ client: String, keepingIn folder: URL, repeating run: @escaping @Sendable (Int) async throws -> Void
        ) throws -> Workload {
            try begin(in: folder)
            let prepare: @Sendable () async throws -> Void = { try self.begin(in: folder) }
            return Workload(
                "\(client), \(name)", clock: .wall, prepare: changesKept ? prepare : nil, repeating: run)
        }

        /// Throws unless a client's folder contains all served files.
        public func requireDone(in folder: URL) throws {
            for (name, data) in served {
                try require(
                    try Data(contentsOf: folder.appending(path: name)) == data, "\(self.name): another \(name)")
            }
        }
    }

    /// Nothing new, a new timestamp, ten roots.
    public let refreshes: [Refresh]
    private let server: NginxServer
    private let downloads: any RemoteDataProvider

    /// Makes the repositories and serves them.
    /// - Parameters:
    ///   - folder: for the repositories and the server.
    ///   - memory: a folder, preferably not on a disk, for the stored files of clients.
    public init(in folder: URL, keepingIn memory: URL) async throws {
        let plain = try await RepositorySite(in: folder.appending(path: "plain"), hosts: 10)
        let rotated = try await RepositorySite(in: folder.appending(path: "rotated"), hosts: 10)
        let server = try await NginxServer(in: folder.appending(path: "nginx")) { port in
            "server { listen 127.0.0.1:\(port); root \(folder.path); }"
        }
        self.server = server
        let downloads = try RepositoryDevice.downloads()
        self.downloads = downloads
        func client(_ site: String, _ name: String) throws -> (TUFClient, URL) {
            let kept = memory.appending(path: name)
            return (
                Self.client(try server.url("\(site)/public/metadata"), kept, downloads), kept
            )
        }
        let (older, keptOlder) = try client("plain", "older")
        try older.initialize(root: plain.file("metadata/1.root.json"))
        _ = try await older.refresh()
        try await plain.renew()
        let (newer, keptNewer) = try client("plain", "newer")
        try newer.initialize(root: plain.file("metadata/1.root.json"))
        _ = try await newer.refresh()
        let (oldest, keptOldest) = try client("rotated", "oldest")
        try oldest.initialize(root: rotated.file("metadata/1.root.json"))
        try await rotated.rotateRoot(times: 10)

        func refresh(
            _ name: String, _ site: RepositorySite, _ path: String, from kept: URL, root: Int, changesKept: Bool = true
        ) throws -> Refresh {
            Refresh(
                name: name, url: try server.url("\(path)/public/metadata"), kept: kept, changesKept: changesKept,
                served: [
                    "root.json": try site.file("metadata/\(root).root.json"),
                    "timestamp.json": try site.file("metadata/timestamp.json"),
                ])
        }
        refreshes = [
            try refresh("nothing new", plain, "plain", from: keptNewer, root: 1, changesKept: false),
            try refresh("a new timestamp", plain, "plain", from: keptOlder, root: 1),
            try refresh("ten rotations of root, and all the rest", rotated, "rotated", from: keptOldest, root: 11),
        ]
    }

    /// Ends the server.
    public func shutdown() { server.end() }

    /// Holdfast's client.
    public func holdfast(_ refresh: Refresh, keepingIn folder: URL) throws -> Workload {
        let client = Self.client(refresh.url, folder, downloads)
        return try refresh.workload("Holdfast", keepingIn: folder) { times in
            for _ in 0..<times { _ = try await client.refresh() }
        }
    }

    private static func client(_ url: URL, _ folder: URL, _ downloads: any RemoteDataProvider) -> TUFClient {
        TUFClient(
            store: MetadataFolder(folder), source: HTTPRepositorySource(metadata: url, provider: downloads))
    }
}
