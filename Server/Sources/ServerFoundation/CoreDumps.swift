import Foundation

/// Disables core dumps of this process, and of the programs that it starts: they would contain private keys.
package enum CoreDumps {
    /// Excludes the memory of this process from core dumps, from now on, also for all programs that it starts.
    package static func disable() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue))
        #else
        let resource = RLIMIT_CORE
        #endif
        _ = unsafe setrlimit(resource, &limit)
        // A core dump handler of the system runs regardless of the limit (core(5)); this leaves it no memory of this
        // process.
        let descriptor = unsafe open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = unsafe write(descriptor, "0", 1)
        close(descriptor)
    }
}
