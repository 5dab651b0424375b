import Foundation
import HoldfastTesting
import Testing

@Suite("holdfastctl trust-server init", .timeLimit(.minutes(15)))
struct TrustServerInitTests {
    @Test("An init that fails leaves no key behind, so that the next one works")
    func failedInit() async throws {
        try await withTemporaryFolder { folder in
            func initialize(_ output: String) async throws -> CommandRun {
                try await CommandRun.holdfastctl(
                    ["trust-server", "init", "--customer", "acme", "--kind", "p-256", "--folder", output], in: folder)
            }
            try Data().write(to: folder.appending(path: "file"))
            let refused = try await initialize("file")
            #expect(refused.status == 3 && refused.errors.contains("file is not a folder"))
            // A link that leads nowhere is seen only when the certificate is written.
            try FileManager.default.createDirectory(
                at: folder.appending(path: "output"), withIntermediateDirectories: true)
            let link = folder.appending(path: "output/acme.pem").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere/acme.pem")
            let lost = try await initialize("output")
            #expect(lost.status == 3)
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "data/acme.key").path))
            try FileManager.default.removeItem(atPath: link)
            let made = try await initialize("output")
            #expect(made.status == 0, "\(made.errors)")
            let again = try await initialize("output")
            #expect(again.status == 3 && again.errors.contains("give another --customer, --data or --folder"))
        }
    }
}
