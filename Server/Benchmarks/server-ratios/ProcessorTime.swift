import Foundation

/// The processor time of processes, user and system together, in seconds.
enum ProcessorTime {
    /// The time of this process (getrusage).
    static var own: Double {
        var usage = rusage()
        // RUSAGE_SELF, which Glibc has as an enumeration and others as a number.
        unsafe getrusage(0, &usage)
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The time of another process, in steps of ten milliseconds (proc(5)).
    static func of(_ process: Int32) throws -> Double {
        let text = try String(contentsOf: URL(filePath: "/proc/\(process)/stat"), encoding: .utf8)
        // The name in parentheses may contain any character.
        guard let end = text.lastIndex(of: ")") else { throw BenchmarkError("/proc/\(process)/stat cannot be read") }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchmarkError("/proc/\(process)/stat cannot be read")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The memory that a process has now, in bytes.
    static func memory(of process: Int32) throws -> Int {
        let text = try String(contentsOf: URL(filePath: "/proc/\(process)/status"), encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let number = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw BenchmarkError("/proc/\(process)/status cannot be read")
        }
        return number << 10
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}

extension Duration {
    /// In seconds.
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
