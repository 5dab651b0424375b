import Foundation

/// A monotonic clock: the seconds since the machine started. It cannot be set, so it reveals changes of the wall clock.
package struct SteadyTime: Sendable {
    /// The identifier of that start of the machine: 1 to 64 printable ASCII characters without spaces. Nil if unknown.
    package let boot: String?
    private let read: @Sendable () -> Int64

    /// Makes a clock from another source.
    /// - Parameters:
    ///   - boot: the identifier of the start that it counts from.
    ///   - read: the seconds since then, 0 or more.
    package init(boot: String?, _ read: @escaping @Sendable () -> Int64) {
        self.boot = boot.flatMap { ASCIIText.isPrintable($0.utf8, 1...64) ? $0 : nil }
        self.read = read
    }

    /// The seconds now.
    package var seconds: Int64 { read() }

    /// The clock of this machine, including the time in which it slept.
    package static let system = SteadyTime(boot: systemBoot) {
        var time = timespec()
        // Linux leaves out sleep in CLOCK_MONOTONIC; Apple's systems do not.
        #if canImport(Glibc)
        let clock = CLOCK_BOOTTIME
        #else
        let clock = CLOCK_MONOTONIC
        #endif
        guard unsafe clock_gettime(clock, &time) == 0 else { return 0 }
        return Int64(time.tv_sec)
    }

    private static var systemBoot: String? {
        #if canImport(Glibc)
        let text = try? String(contentsOf: URL(filePath: "/proc/sys/kernel/random/boot_id"), encoding: .utf8)
        return text.map { String($0.prefix { $0 != "\n" }) }
        #else
        var size = 0
        guard unsafe sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, (1...64).contains(size) else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: size)
        guard unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #endif
    }
}
