import Foundation
import Testing

/// A clock that is wrong, for a process of its own: faketime's library.
enum WrongClock {
    static let isTested = ForeignProgram.isTested("faketime")

    /// The library puts a variable into the environment, before which a program of Swift finds its arguments. So `env`
    /// loads it first, and becomes the program.
    static let wrapper = ["/usr/bin/env"]

    /// The program `faketime` would be a process of its own between the test and the server.
    static func library() throws -> String {
        let folders = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib").map { "/usr/lib/\($0)/faketime" }
        let files = (folders + ["/usr/lib/faketime"]).map { "\($0)/libfaketimeMT.so.1" }
        return try #require(files.first { FileManager.default.fileExists(atPath: $0) })
    }

    /// Variables under which the clock is wrong, and nothing else is.
    static func shifted(_ shift: String) throws -> [String: String] {
        ["LD_PRELOAD": try library(), "FAKETIME": shift, "DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"]
    }

    /// Removes what the library leaves behind for every process.
    static func clean(_ process: ServingProcess) {
        for name in ["faketime_shm_", "sem.faketime_sem_"] {
            try? FileManager.default.removeItem(atPath: "/dev/shm/\(name)\(process.id)")
        }
    }
}
