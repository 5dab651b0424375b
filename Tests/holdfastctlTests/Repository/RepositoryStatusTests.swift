import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("holdfastctl repository status --app-root, and check --repository", .timeLimit(.minutes(15)))
struct RepositoryStatusTests {
    private struct Report: Decodable {
        struct Role: Decodable {
            let role: String
            let version: Int
            let threshold: Int
            let keys: [String]
            let signed: [String]
        }

        struct Following: Decodable {
            let url: String?
            let appRoot: Int
            let newestRoot: Int
            let roles: [Role]
            let problem: String?
            let bundleProblem: String?
            let forbidden: [String]
        }

        let verdict: String
        let isGood: Bool
        let roles: [Role]?
        let following: Following?
        let warnings: [String]
    }

    private static func status(
        _ site: SigningSite, _ arguments: [String], status: Int32 = 3, at line: SourceLocation = #_sourceLocation
    ) async throws -> Report {
        let run = try await site.run(["repository", "status", "--offline"] + arguments + ["--json"])
        #expect(run.status == status, "\(run.output)\(run.errors)", sourceLocation: line)
        return try run.json(Report.self)
    }

    private static func failure(
        _ site: SigningSite, _ arguments: [String], status: Int32, at line: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let run = try await site.run(arguments)
        #expect(run.status == status && run.output.isEmpty, "\(run.output)\(run.errors)", sourceLocation: line)
        return run.errors
    }

    @Test("The oldest build follows through every root, in the folder and from outside; a 403 is absent, and is said")
    func follows() async throws {
        try await SigningSite.with { site in
            var repository = try await PublishedRepository(in: site)
            for _ in 0..<2 { try await repository.rotate() }
            for root in 1...3 {
                let report = try await Self.status(
                    site, ["site", "--app-root", "site/public/metadata/\(root).root.json"])
                #expect(report.verdict.hasPrefix("Clients accept it;") && report.following?.appRoot == root)
                #expect(report.following?.newestRoot == 3 && report.roles?.map(\.version) == [3, 1, 3, 5])
                #expect(report.roles?.allSatisfy { $0.signed.count == 1 && $0.signed == $0.keys } == true)
            }
            try await repository.served(forbidding: "/4.root.json") { url in
                let report = try await Self.status(
                    site, ["--app-root", "site/public/metadata/1.root.json", "--url", url])
                #expect(report.verdict.hasPrefix("Apps with root 1 follow at \(url), up to root 3;"))
                #expect(report.following?.roles.map(\.version) == [3, 1, 3, 5])
                #expect(report.following?.forbidden == ["4.root.json"])
                #expect(report.warnings == ["4.root.json: status 403, which counts as absent"])
                let text = try await site.run(
                    [
                        "repository", "status", "--app-root", "site/public/metadata/2.root.json", "--url", url,
                        "--offline",
                    ])
                #expect(text.status == 3 && text.output.contains("timestamp version 5"), "\(text.output)")
                #expect(text.errors.contains("403, which counts as absent"), "\(text.errors)")
                let watched = try await Self.status(
                    site, ["--app-root", "site/public/metadata/1.root.json", "--url", url, "--watch", "20d"])
                #expect(watched.verdict.hasPrefix("Ends too soon: timestamp 5"), "\(watched.verdict)")
            }
        }
    }

    @Test("A folder that was put back from a copy goes on above what is served, and never over newer pins or roots")
    func restored() async throws {
        try await SigningSite.with { site in
            var repository = try await PublishedRepository(in: site)
            let key = try #require(repository.online.pem)
            try site.write("online.pem", key)
            func copy(_ name: String) throws {
                try FileManager.default.copyItem(
                    at: site.folder.appending(path: "site"), to: site.folder.appending(path: name))
            }
            for name in ["copy", "older"] { try copy(name) }
            func renew(_ folder: String, _ more: String...) async throws -> CommandRun {
                try await site.run(["repository", "renew", folder, "--key", "online.pem", "--offline"] + more)
            }
            for _ in 0..<3 { #expect(try await renew("site").status == 0) }
            let known = try await repository.folder.state().live
            try await repository.served { url in
                let run = try await renew("copy", "--url", url)
                #expect(run.status == 0, "\(run.output)\(run.errors)")
            }
            let next = try await TUFRepositoryFolder(site.folder.appending(path: "copy")).state().live
            let (before, after) = (try #require(known), try #require(next))
            #expect(after.timestamp.version > before.timestamp.version)
            #expect(after.snapshot.version >= before.snapshot.version)
            try await repository.rotate()
            try await repository.served { url in
                let run = try await renew("older", "--url", url)
                #expect(run.status == 1 && run.errors.contains("Put older/public back"), "\(run.errors)")
            }
            let none = try await renew("older", "--url", "http://127.0.0.1:1")
            #expect(none.status == 3 && none.errors.contains("cannot be asked"), "\(none.errors)")
            // Nothing is served anymore, and the operator remembers a version.
            let above = try await renew("older", "--above", "50")
            #expect(above.status == 0, "\(above.output)\(above.errors)")
            let last = try await TUFRepositoryFolder(site.folder.appending(path: "older")).state().live
            #expect(last?.timestamp.version == 51)
        }
    }

    @Test("An app that cannot follow, a server that lags behind, and one that cannot be asked are told apart")
    func cannotFollow() async throws {
        try await SigningSite.with { site in
            var repository = try await PublishedRepository(in: site)
            try FileManager.default.copyItem(
                at: site.folder.appending(path: "site/public/metadata/1.root.json"),
                to: site.folder.appending(path: "app.json"))
            let app = ["--app-root", "app.json"]
            let before = repository
            try await before.served { old in
                try await repository.rotate()
                // The files that were uploaded before, from an outdated copy.
                let lagging = try await Self.status(site, ["site", "--url", old] + app)
                #expect(lagging.verdict.hasPrefix("Clients accept it;"))
                #expect(lagging.warnings.contains { $0.contains("timestamp") && $0.contains("serves version 1") })
            }
            try await repository.served(forbidding: "/2.root.json") { url in
                let report = try await Self.status(site, ["--url", url] + app, status: 1)
                #expect(
                    report.verdict.hasPrefix("Apps with root 1 cannot follow at \(url) file by file: "),
                    "\(report.verdict)")
                #expect(report.following?.bundleProblem == nil && report.following?.forbidden == ["2.root.json"])
            }
            try await repository.served(forbidding: "/bundle.json") { url in
                let report = try await Self.status(site, ["--url", url] + app, status: 1)
                #expect(report.following?.problem == nil && report.verdict.contains("by bundle.json"))
            }
            // The root of another repository.
            let other = TUFSigningKey()
            let roles = TUFRoleKeys([other.publicKey])
            let online = TUFRoleKeys([TUFSigningKey().publicKey])
            var state = try TUFRepositoryState(
                roles: [.root: roles, .targets: roles, .snapshot: online, .timestamp: online],
                at: SystemWallClock().now)
            _ = try state.sign(by: other)
            try site.write("other.json", String(decoding: try #require(state.draftRoot).data, as: UTF8.self))
            let foreign = try await Self.status(site, ["site", "--app-root", "other.json"], status: 1)
            #expect(foreign.verdict.hasPrefix("Apps with root 1 cannot follow"), "\(foreign.verdict)")
            let command = ["repository", "status"]
            for file in ["site/public/metadata/timestamp.json", "key.pem", "missing.json"] {
                _ = try await Self.failure(site, command + ["site", "--app-root", file], status: 3)
            }
            let away = try await Self.failure(site, command + ["--url", "http://127.0.0.1:1/"] + app, status: 3)
            #expect(away.contains("cannot be asked"), "\(away)")
            try await repository.served(breaking: "/timestamp.json") { url in
                let broken = try await Self.failure(site, command + ["--url", url] + app, status: 3)
                #expect(broken.contains("cannot be asked"), "\(broken)")
            }
            for wrong in [
                [], ["--url", "https://pins.example.com"], ["--app-root", "app.json"],
                ["--url", "https://me:secretword@pins.example.com"] + app,
                ["--url", "ftp://pins.example.com"] + app,
            ] {
                let usage = try await Self.failure(site, command + wrong, status: 2)
                #expect(!usage.contains("secretword"), "\(usage)")
            }
        }
    }

    @Test("check --repository judges hosts by the pins that an app with the root has")
    func check() async throws {
        try await SigningSite.with { site in
            var repository = try await PublishedRepository(in: site)
            try await repository.rotate()
            let root = ["--app-root", "site/public/metadata/1.root.json"]
            let (leaf, backup) = (repository.leaf, repository.backup)
            try await repository.served { url in
                func check(
                    _ arguments: String..., serving leaf: TestCertificate, status: Int32,
                    at line: SourceLocation = #_sourceLocation
                ) async throws -> [CheckLine] {
                    try await withLoopbackTLSServer(serving: leaf) { server in
                        let run = try await site.run(
                            ["check", "--repository", url] + root + arguments + [
                                "--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s",
                                "--no-shipped-pins", "--json",
                            ])
                        #expect(run.status == status, "\(run.output)\(run.errors)", sourceLocation: line)
                        return try run.lines.map { try JSONDecoder().decode(CheckLine.self, from: Data($0.utf8)) }
                    }
                }
                let good = try await check(serving: leaf, status: 0)
                #expect(good.map(\.host) == [SigningSite.name] && good[0].published?.isLockedOut == false)
                #expect(try await check(SigningSite.name, serving: backup, status: 0).count == 1)
                let wrong = try await check(serving: try site.leaf("x.pem"), status: 1)
                #expect(wrong.map { $0.published?.isLockedOut } == [true])
                let unknown = try await check("api.example.com", serving: leaf, status: 1)
                #expect(unknown.count == 1)
                let usage = ["check", "--repository", url]
                for arguments in [
                    usage, usage + root + ["--public-key", site.publicKey],
                    ["check", SigningSite.name] + root, ["check", "--repository", "bank.pins.json"] + root,
                    ["check", "--repository", "http://pins.example.com/"] + root,
                ] {
                    _ = try await Self.failure(site, arguments, status: 2)
                }
            }
            // An app that cannot follow gets no pins from there.
            try await repository.served(forbidding: "/bundle.json") { url in
                let cut = try await site.run(
                    ["check", "--repository", url, "--brief", "--connect-to", "127.0.0.1:1"] + root)
                #expect(cut.status == 3, "file by file it follows: \(cut.output)\(cut.errors)")
            }
            try FileManager.default.removeItem(at: site.folder.appending(path: "site/public/metadata/2.root.json"))
            try await repository.served(forbidding: "/bundle.json") { url in
                let cut = try await Self.failure(site, ["check", "--repository", url] + root, status: 1)
                #expect(cut.contains("cannot follow"), "\(cut)")
            }
            let away = try await Self.failure(
                site,
                ["check", "--repository", "http://127.0.0.1:1", "--app-root", "site/public/metadata/1.root.json"],
                status: 3)
            #expect(away.contains("cannot be asked"), "\(away)")
        }
    }
}
