import Foundation
import Testing

/// Programs that a test writes and runs.
enum ExecutableScript {
    /// Another process makes the file. A program that is started elsewhere in this one, at the moment at which the file is
    /// open here, would keep it open for writing, and a file open for writing cannot run (`ETXTBSY`).
    static func write(_ text: String, to file: URL, mode: String = "755") async throws {
        try await withFolder { folder in
            let source = folder.appending(path: "script")
            try Data(text.utf8).write(to: source)
            let (status, _) = try await ForeignProgram.run(
                "install", ["-m", mode, source.path, file.path], in: folder)
            try #require(status == 0)
        }
    }
}
