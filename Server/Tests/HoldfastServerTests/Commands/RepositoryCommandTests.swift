import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import ServerApprovals

@Suite("The command, for repositories")
struct RepositoryCommandTests {
    @Test("From the keys of its holders to a repository that apps follow, as the README has it")
    func repository() async throws {
        try await withFolder { folder in
            let desk = try CommandTests.Desk(in: folder)
            try await desk.makeServer()
            try await desk.see()
            let holders = ["ann": TUFSigningKey(.ed25519), "tom": TUFSigningKey()]
            for (name, key) in holders {
                try Data(try #require(key.publicKeyText).utf8).write(to: folder.appending(path: "\(name).pub"))
            }
            func sign(_ name: String, as holder: String) async throws {
                let key = try #require(holders[holder])
                try await RepositoryHolders.sign(TUFRepositoryFolder(folder.appending(path: name)), with: [key])
            }
            func run(_ arguments: String..., status: Int32 = 0) async throws -> String {
                try await desk.run(arguments + ["--data", desk.data], status: status)
            }
            #expect(
                try await run(
                    "change", "propose", "bank", "--format", "repository", "--reason", "x", "--no-proposer", status: 2
                ).contains("app repository init"))
            let begun = try await run(
                "app", "repository", "init", "bank", "--root-key", "ann=ann.pub", "--targets-key", "tom=tom.pub",
                "--output", "first-root")
            #expect(begun.contains("root: 0 of 1 signatures by the keys of root 1") && begun.contains("holdfastctl"))
            _ = try await run(
                "app", "repository", "init", "bank", "--root-key", "ann.pub", "--targets-key", "tom.pub",
                "--output", "again", status: 3)
            try await sign("first-root", as: "ann")
            #expect(try await run("app", "repository", "import", "bank", "first-root").contains("enough have signed"))

            let proposed = try await run(
                "change", "propose", "bank", "--format", "repository", "--include-seen", "--reason", "first pins",
                "--no-proposer")
            #expect(proposed.contains("for apps that ship with the root "), "\(proposed)")
            #expect(proposed.contains("gate signatures: refused"), "\(proposed)")
            let change = String(proposed.split(separator: "\n")[0].dropFirst("change ".count))
            #expect(
                try await run("app", "repository", "draft", change, "--output", "early", status: 1).contains(
                    "notApproved"))
            for name in ["alice", "bob"] { _ = try await run("approve", change, "--key", "\(name).pem", "--yes") }
            let drafted = try await run("app", "repository", "draft", change, "--output", "first-pins")
            #expect(drafted.contains("targets: 0 of 1") && drafted.contains(World.host), "\(drafted)")
            #expect(try await run("publish", change, status: 1).contains("would refuse the next targets: 0 of 1"))
            try await sign("first-pins", as: "tom")
            _ = try await run("app", "repository", "import", "bank", "first-pins")
            #expect(try await run("publish", change).contains("published: generation 1"))
            try await desk.everybodyFollows(isThorough: false)
            #expect(try await run("app", "repository", "export", "bank", "--output", "all").contains("enough"))
            #expect(FileManager.default.fileExists(atPath: desk.path("all/public/bundle.json")))

            // An attacker may have the server's keys.
            #expect(try await run("app", "repository", "publish", "bank", status: 3).contains("app repository rotate"))
            let rotated = try await run("app", "repository", "rotate", "bank", "--output", "next-root")
            #expect(rotated.contains("timestamp: key ") && rotated.contains("no longer signs"), "\(rotated)")
            #expect(try await run("app", "repository", "publish", "bank", status: 1).contains("0 of 1 signatures"))
            try await sign("next-root", as: "ann")
            #expect(try await run("app", "repository", "import", "bank", "next-root").contains("enough have signed"))
            #expect(
                try await run("app", "repository", "publish", "bank")
                    == "published: root 2\nthe server's keys before were removed\n")
            #expect(try await run("doctor").contains("all that is published was approved"))
            try await desk.everybodyFollows(isThorough: false)

            // A web server that serves the folder is as good.
            let served = URL(filePath: desk.data).appending(path: "public")
            let root = try Data(contentsOf: served.appending(path: "repo/bank/metadata/1.root.json"))
            for isBundle in [true, false] {
                let app = try RepositoryApp(
                    "https://pins.example.com/repo/bank", root: root, isBundle: isBundle,
                    provider: FolderProvider(folder: served), clock: desk.clock)
                #expect(try await app.letsIn(desk.shown, trusting: desk.authority))
            }
        }
    }
}
