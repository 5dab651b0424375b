import Foundation

/// Core dumps of this process, and of the programs that it starts, would hold private keys.
public enum CoreDumps {
    /// Keeps the memory of this process out of core dumps, from here on and for all programs that it starts.
    public static func disable() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue))
        #else
        let resource = RLIMIT_CORE
        #endif
        _ = unsafe setrlimit(resource, &limit)
        // A handler of the system is called whatever the limit is (core(5)); of this process it gets no memory.
        let descriptor = unsafe open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = unsafe write(descriptor, "0", 1)
        close(descriptor)
    }
}
