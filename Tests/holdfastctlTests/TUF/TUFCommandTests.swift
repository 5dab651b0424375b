import Foundation
import HoldfastTesting
import Testing

@Suite("holdfastctl tuf")
struct TUFCommandTests {
    @Test(
        "Wrong usage exits with 1, the only code of the protocol for a failure",
        arguments: [
            ["tuf"], ["tuf", "init"], ["tuf", "--metadata-dir", "d", "init"],
            ["tuf", "--metadata-dir", "d", "refresh"],
            ["tuf", "--metadata-dir", "d", "--metadata-url", "http://127.0.0.1:1/", "download"], ["tuf", "--nosuch"],
            ["tuf", "--metadata-dir", "d", "--metadata-url", "http://127.0.0.1:1/", "refresh", "surplus"],
            ["tuf", "--metadata-dir", "d", "init", "missing.json"],
            ["tuf", "--metadata-dir", "d", "--metadata-url", "http://192.0.2.1/", "refresh"],
        ])
    func usage(_ arguments: [String]) async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.holdfastctl(arguments, in: folder)
            #expect(run.status == 1)
            #expect(run.output.isEmpty && !run.errors.isEmpty)
        }
    }
}
