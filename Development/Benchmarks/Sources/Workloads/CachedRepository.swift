import Foundation
import Holdfast

/// Apps that get a repository through nginx's cache: the fraction of their requests that reaches the origin, which
/// states for each file how long it may be kept.
public struct CachedRepository {
    /// The requests of all apps in one round.
    public struct Round: Sendable {
        /// The situation that they meet.
        public let name: String
        /// The number of requests of all apps.
        public let requests: Int
        /// The number of requests that reached the origin.
        public let atOrigin: Int
    }

    /// Seconds for which the cache may keep the bundle.
    private static let lifetime = 60
    /// The number of apps that update at the same time.
    private static let concurrency = 50

    private let folder: URL
    private let site: RepositorySite
    private let devices: [RepositoryDevice]

    /// Plays a first start of all apps, an update right after it, and one after new pins were published and the cache's
    /// copy has expired.
    public static func measure(
        _ way: RepositoryDevice.Way, devices count: Int, in folder: URL
    ) async throws -> [Round] {
        let site = try await RepositorySite(in: folder.appending(path: "site"), hosts: 10)
        let server = try await NginxServer(in: folder.appending(path: "nginx")) { port in
            let socket = "unix:\(folder.path)/origin"
            return """
                log_format path '$request_uri $status';
                upstream origin { server \(socket); }
                proxy_cache_path \(folder.path)/cache keys_zone=pins:1m;
                server { listen 127.0.0.1:\(port);
                    location / {
                        proxy_pass http://origin;
                        proxy_cache pins; proxy_cache_lock on; proxy_cache_revalidate on; proxy_cache_valid 404 1m;
                    }
                }
                server { listen \(socket); root \(site.folder.path); access_log \(folder.path)/requests path;
                    location = /bundle.json {
                        add_header Cache-Control "public, max-age=\(lifetime), must-revalidate";
                    }
                    location = /metadata/timestamp.json { add_header Cache-Control "no-cache"; }
                    location / { add_header Cache-Control "public, max-age=31536000, immutable"; }
                }
                """
        }
        defer { server.end() }
        let root = try site.file("metadata/1.root.json")
        let downloads = try RepositoryDevice.downloads()
        let devices = try (0..<count).map { _ in
            try RepositoryDevice(way, at: server.url(""), root: root, downloads: downloads)
        }
        let played = CachedRepository(folder: folder, site: site, devices: devices)
        var rounds = [try await played.round("first start"), try await played.round("nothing new, at once")]
        let old = devices.map(\.firstPin)
        try await site.publishPins()
        try await Task.sleep(for: .seconds(lifetime + 1))
        rounds.append(try await played.round("new pins, a minute later"))
        try require(zip(old, devices).allSatisfy { $0 != $1.firstPin }, "the new pins did not reach every app")
        return rounds
    }

    private func round(_ name: String) async throws -> Round {
        let before = try await requestsAtOrigin()
        var requests = 0
        try await withThrowingTaskGroup(of: Int.self) { group in
            for (index, device) in devices.enumerated() {
                if index >= Self.concurrency { requests += try await group.next() ?? 0 }
                group.addTask { try await device.update().requests }
            }
            for try await count in group { requests += count }
        }
        return Round(name: name, requests: requests, atOrigin: try await requestsAtOrigin() - before)
    }

    /// The requests in the origin's log. It writes a line a moment after the client saw the end of the response.
    private func requestsAtOrigin() async throws -> Int {
        try await Task.sleep(for: .milliseconds(300))
        let log = folder.appending(path: "requests")
        guard FileManager.default.fileExists(atPath: log.path) else { return 0 }
        return try Data(contentsOf: log).count { $0 == UInt8(ascii: "\n") }
    }
}
