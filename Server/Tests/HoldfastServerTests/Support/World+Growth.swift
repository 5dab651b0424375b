import HoldfastTesting

@testable import HostMonitoring
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

extension World {
    private static func host(_ number: Int) throws -> CatalogHost {
        try CatalogHost(name: "h\(String("\(100_000 + number)".dropFirst())).example.com")
    }

    /// Adds apps, hosts of the app of the world with ten places each, and alarms of it, in one transaction.
    func grow(apps: Range<Int>, hosts: Range<Int>, alarms: Range<Int>) async throws {
        let (root, bank) = (root.root, app)
        try await catalog.set(
            AppSettings(canary: 0, maximumHosts: 10_000, anchors: [root], builds: []), of: bank, by: "test")
        try await catalog.transact { step throws(ServerError) in
            let settings = try AppSettings(canary: 0, anchors: [root], builds: [])
            for number in apps {
                let name = try AppName("shop-\(String("\(10_000 + number)".dropFirst()))")
                try step.addApp(name, displayName: "Shop \(number)", settings: settings, by: "test")
            }
            for number in hosts {
                guard let host = try? Self.host(number) else { continue }
                try step.set(host, of: bank, by: "test")
            }
            for number in alarms {
                guard let host = try? Self.host(number) else { continue }
                try step.record(
                    .alarm, by: "watcher",
                    [
                        "app": "\(bank)", "host": host.label, "digest": "\(Digest(of: "\(number)".utf8))",
                        "words": "seen",
                    ])
            }
            try step.session.run(
                """
                INSERT INTO observation (host_id, vantage, address, chain_digest, failure, first_seen_at, last_seen_at) \
                WITH RECURSIVE number (place) AS \
                (SELECT 0 UNION ALL SELECT place + 1 FROM number WHERE place < 9) \
                SELECT host.id, 'here', '192.0.2.' || number.place, (SELECT digest FROM chain ORDER BY digest LIMIT 1), \
                NULL, $1, $1 FROM host, number WHERE host.app = 'bank' AND host.name >= $2
                """, [.integer(step.now), .text("h\(String("\(100_000 + hosts.lowerBound)".dropFirst()))")])
        }
    }
}
