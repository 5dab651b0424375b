#if os(macOS) || os(Linux)
package import Foundation

/// Keeps this process's descriptors from a program that it starts. SwiftNIO does not mark its sockets close-on-exec, so
/// such a program would keep connections and ports open long after this process has closed them.
package enum InheritedDescriptors {
    #if canImport(Darwin)
    /// The flag of `posix_spawnattr_setflags`: the program gets only what its file actions name.
    package static let flags = POSIX_SPAWN_CLOEXEC_DEFAULT

    /// Lets the program inherit standard error; standard input and output have their own file actions.
    package static func restrict(_ actions: inout posix_spawn_file_actions_t?) -> Int32 {
        unsafe posix_spawn_file_actions_addinherit_np(&actions, STDERR_FILENO)
    }
    #else
    package static let flags: Int32 = 0

    private typealias CloseFrom =
        @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// glibc has it since 2.34, in a part of the header that Swift does not see.
    private static var closeFrom: CloseFrom? {
        let symbol = unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np")
        return unsafe symbol.map { unsafe unsafeBitCast($0, to: CloseFrom.self) }
    }

    /// Closes everything but standard input, output and error in the new process. Call it after all other
    /// file actions.
    /// - Returns: 0, or an error number; on an error the program must not be started.
    package static func restrict(_ actions: inout posix_spawn_file_actions_t) -> Int32 {
        if let closeFrom = unsafe closeFrom { return unsafe closeFrom(&actions, 3) }
        // This misses descriptors that other threads open after it.
        guard let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return ENOSYS }
        for descriptor in open.compactMap({ Int32($0) }) where descriptor > 2 {
            let number = unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
            guard number == 0 else { return number }
        }
        return 0
    }
    #endif
}
#endif
