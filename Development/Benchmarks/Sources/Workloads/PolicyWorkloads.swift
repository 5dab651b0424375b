import Holdfast

/// Finding the policy of a host.
public enum PolicyWorkloads {
    /// Lookups of hosts with one policy each, and of one under a pattern, among this number of hosts.
    public static func lookup(hosts count: Int) throws -> Workload {
        let manager = TrustManager()
        manager.add(
            policies: try (0..<count).map { StandardPolicy(host: try HostPattern("host-\($0).example.com")) }
                + [StandardPolicy(host: try HostPattern("**.example.org"))])
        // Hosts far apart, so that a large table is not always in the cache.
        let asked = try (0..<1_024).map { try DialedHost("host-\($0 &* 7_919 % count).example.com") }
        return Workload("policy among \(count.formatted()) hosts") { times in
            for index in 0..<times {
                try require(manager.policy(for: asked[index % asked.count]) != nil, "no policy")
            }
        }
    }
}
