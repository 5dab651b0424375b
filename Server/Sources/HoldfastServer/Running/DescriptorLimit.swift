import Foundation
import ServerHTTP

/// The maximum number of files and connections that this process may have open.
package enum DescriptorLimit {
    /// The number needed in addition to connections of apps: all connections of the administration, so that a flood
    /// from apps never locks administrators out, and 256 for the database, files, and connections to monitored hosts.
    package static let others = ListenerLimits.administration.connections + 256

    /// Raises the limit as far as the system allows, and returns the number of connections that fit.
    /// - Parameter wanted: the wanted number of connections.
    /// - Returns: this number, or a smaller one if the system does not allow it.
    package static func raise(for wanted: Int) -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard unsafe getrlimit(resource, &limit) == 0 else { return wanted }
        let needed = rlim_t(wanted + others)
        if limit.rlim_cur < needed {
            limit.rlim_cur = min(needed, limit.rlim_max)
            guard unsafe setrlimit(resource, &limit) == 0, unsafe getrlimit(resource, &limit) == 0 else {
                return wanted
            }
        }
        return min(wanted, max(16, Int(clamping: limit.rlim_cur) - others))
    }
}
