import Foundation

/// Keeps this process's descriptors from programs that it starts. SwiftNIO does not mark its sockets close-on-exec: a
/// running program would keep connections and ports open that this process has closed.
enum InheritedDescriptors {
    #if canImport(Darwin)
    /// The flag of `posix_spawnattr_setflags`: the program gets only what its file actions name.
    static let flags = POSIX_SPAWN_CLOEXEC_DEFAULT

    /// Does nothing: the file actions name everything that the program gets.
    static func restrict(_ actions: inout posix_spawn_file_actions_t?) -> Int32 { 0 }
    #else
    static let flags: Int32 = 0

    private typealias CloseFrom =
        @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// Available in glibc since 2.34, in a part of the header that Swift does not import.
    private static var closeFrom: CloseFrom? {
        let symbol = unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np")
        return unsafe symbol.map { unsafe unsafeBitCast($0, to: CloseFrom.self) }
    }

    /// Closes all descriptors but standard input, output, error and the report (3) in the new process. Call it after
    /// all other file actions.
    /// - Returns: 0, or an error number: then the program must not be started.
    static func restrict(_ actions: inout posix_spawn_file_actions_t) -> Int32 {
        if let closeFrom = unsafe closeFrom { return unsafe closeFrom(&actions, 4) }
        // Descriptors that other threads open from now on are not included.
        guard let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return ENOSYS }
        for descriptor in open.compactMap({ Int32($0) }) where descriptor > 3 {
            let number = unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
            guard number == 0 else { return number }
        }
        return 0
    }
    #endif
}
