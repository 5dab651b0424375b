import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// Scripts that are run.
enum ExecutableScript {
    /// Another process makes the file. A program that is started elsewhere in this one while the file is open here
    /// would keep it open for writing, and for so long it cannot be run (`ETXTBSY`).
    static func write(_ text: String, to file: URL) async throws {
        try await withTemporaryFolder { folder in
            let source = folder.appending(path: "script")
            try Data(text.utf8).write(to: source)
            let run = try await CommandRun.run(
                URL(filePath: "/usr/bin/env"), ["install", "-m", "755", source.path, file.path])
            try #require(run.status == 0, "\(run.errors)")
        }
    }
}
