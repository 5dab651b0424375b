package import Foundation
package import Holdfast

/// The versions of published pins that clients hold at the same time, for example because two versions of an app are in
/// use. A server must be accepted with all of them.
package struct PublishedPinVersions: Sendable {
    package let versions: [PublishedPins]

    /// - Returns: nil if there are no versions.
    package init?(_ versions: [PublishedPins]) {
        guard !versions.isEmpty else { return nil }
        self.versions = versions
    }

    /// Every host of any version that can be dialed, each once.
    package var hosts: [DialedHost] {
        var seen: Set<DialedHost> = []
        return versions.flatMap(\.hosts).filter { seen.insert($0).inserted }
    }

    /// The names that cannot be dialed: patterns, and common names that are not hosts.
    package var namesThatCannotBeDialed: [String] {
        var seen: Set<[UInt8]> = []
        return versions.flatMap(\.namesThatCannotBeDialed).filter { seen.insert(Array($0.utf8)).inserted }
    }

    /// The pins of a host that are valid at a time, in any version.
    package func pins(of host: DialedHost, at time: Date) -> [Pin] {
        var seen: Set<Pin> = []
        return versions.flatMap { $0.pins(of: host, at: time) }.filter { seen.insert($0).inserted }
    }

    /// The policy of a client that has all versions: every version that applies to the host must accept the server.
    package func policy(of host: DialedHost) throws(PolicyConfigurationError) -> any TrustPolicy {
        let governing = versions.filter { $0.governs(host) }
        var policies: [any TrustPolicy] = []
        for version in governing.isEmpty ? versions : governing { policies.append(try version.policy(of: host)) }
        guard policies.count > 1 else { return try (governing.first ?? versions[0]).policy(of: host) }
        return try CompositePolicy(host: HostPattern(host), allOf: policies)
    }
}
