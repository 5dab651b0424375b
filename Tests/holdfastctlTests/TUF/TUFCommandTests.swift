import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("holdfastctl tuf", .timeLimit(.minutes(15)))
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
            let run = try await CommandRun.inProcess(arguments, in: folder)
            #expect(run.status == 1)
            #expect(run.output.isEmpty && !run.errors.isEmpty)
        }
    }

    @Test(
        "Time is that of the system's clock, which faketime moves",
        .needs(.faketime))
    func faketime() async throws {
        try await SigningSite.with { site in
            let repository = try await PublishedRepository(in: site)
            try await repository.served { url in
                // The timestamp lasts 14 days.
                for (days, status) in [(0, 0), (13, 0), (15, 1)] as [(Int, Int32)] {
                    func run(_ arguments: String...) async throws -> CommandRun {
                        try await CommandRun.run(
                            try #require(ForeignPeers.faketime),
                            [
                                "+\(days) days", try #require(CommandRun.program).path, "tuf", "--metadata-dir",
                                "\(days)",
                            ]
                                + arguments, in: site.folder)
                    }
                    let begun = try await run("init", "site/public/metadata/1.root.json")
                    #expect(begun.status == 0, "\(begun.errors)")
                    let refreshed = try await run("--metadata-url", "\(url)/metadata/", "refresh")
                    #expect(refreshed.status == status, "\(refreshed.errors)")
                    #expect(status == 0 || refreshed.errors.contains("expired of timestamp"), "\(refreshed.errors)")
                    let kept = site.folder.appending(path: "\(days)/timestamp.json")
                    #expect(FileManager.default.fileExists(atPath: kept.path) == (status == 0))
                }
            }
        }
    }
}
