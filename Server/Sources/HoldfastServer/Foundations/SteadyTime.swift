import Foundation

/// Seconds since the machine started. Nobody sets them, so they show what somebody did to the clock.
public struct SteadyTime: Sendable {
    /// Which start of the machine they are counted from: 1 to 64 printable ASCII characters without spaces. Nil if the
    /// system does not say.
    public let boot: String?
    private let read: @Sendable () -> Int64

    /// Counts some other way.
    /// - Parameters:
    ///   - boot: which start they are counted from.
    ///   - read: the seconds since then, 0 or more.
    public init(boot: String?, _ read: @escaping @Sendable () -> Int64) {
        self.boot = boot.flatMap { ASCIIText.isPrintable($0.utf8, 1...64) ? $0 : nil }
        self.read = read
    }

    /// The seconds now.
    public var seconds: Int64 { read() }

    /// Those of this machine, time in which it slept included.
    public static let system = SteadyTime(boot: systemBoot) {
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
