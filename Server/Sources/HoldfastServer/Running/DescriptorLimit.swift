import Foundation

/// How many files and connections this process may have open.
public enum DescriptorLimit {
    /// What the process needs beside the connections of apps: all connections of the administration, so that a flood of apps
    /// never keeps people out, and 256 for the database, files, and connections to watched hosts.
    static let others = ListenerLimits.administration.connections + 256

    /// Raises the limit to what the system allows, and says how many connections fit.
    /// - Parameter wanted: how many are wanted.
    /// - Returns: as many, or fewer if the system allows no more.
    public static func raise(for wanted: Int) -> Int {
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
