import Foundation

/// The downloads of an app from a repository of this number of hosts, in both ways.
public struct RepositoryTraffic: Sendable {
    /// The situation that the app meets.
    public let name: String
    /// With one file for everything.
    public let bundle: RepositoryDevice.Traffic
    /// File by file.
    public let files: RepositoryDevice.Traffic

    /// A first start, an update that finds nothing new, and one that finds new pins.
    public static func measure(hosts: Int, in folder: URL) async throws -> [RepositoryTraffic] {
        let site = try await RepositorySite(in: folder.appending(path: "site"), hosts: hosts)
        let server = try await NginxServer(in: folder.appending(path: "nginx")) { port in
            "server { listen 127.0.0.1:\(port); root \(site.folder.path); }"
        }
        defer { server.end() }
        let root = try site.file("metadata/1.root.json")
        let downloads = try RepositoryDevice.downloads()
        let devices = try RepositoryDevice.Way.allCases.map {
            try RepositoryDevice($0, at: server.url(""), root: root, downloads: downloads)
        }
        func traffic(_ name: String) async throws -> RepositoryTraffic {
            RepositoryTraffic(
                name: "\(hosts.formatted()) hosts, \(name)", bundle: try await devices[0].update(),
                files: try await devices[1].update())
        }
        var all = [try await traffic("first start"), try await traffic("nothing new")]
        let old = devices.map(\.firstPin)
        try await site.publishPins()
        all.append(try await traffic("new pins"))
        try require(zip(old, devices).allSatisfy { $0 != $1.firstPin }, "the new pins did not arrive")
        return all
    }
}
