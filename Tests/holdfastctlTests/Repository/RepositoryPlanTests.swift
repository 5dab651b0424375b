import Crypto
import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("holdfastctl repository publish --plan", .timeLimit(.minutes(15)))
struct RepositoryPlanTests {
    private struct Plan: Decodable {
        struct Object: Decodable {
            let path: String
            let file: String
            let sha256: String
            let bytes: Int
            let contentType: String
            let cacheControl: String
            let precondition: String
            let replaces: [String]?
        }

        let version: Int
        let isWritten: Bool
        let objects: [Object]
    }

    private struct Report: Decodable {
        let written: [String]
    }

    private func plan(_ site: SigningSite, _ verb: String = "publish", _ arguments: String...) async throws -> Plan {
        let run = try await site.run(["repository", verb, "site", "--plan", "--json"] + arguments)
        #expect(run.status == 0, "\(run.errors)")
        return try run.json(Plan.self)
    }

    private func digest(_ data: Data) -> String { SHA256.hash(data: data).map { String(format: "%02x", $0) }.joined() }

    @Test("It prints what publish writes, in the same order, and writes nothing; without a key, what is published")
    func publication() async throws {
        try await SigningSite.with { site in
            let (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
            try await site.beginRepository(active: leaf, backup: backup)
            let none = try await site.run(["repository", "publish", "site", "--plan"])
            #expect(none.status == 1 && none.errors.contains("publish first"), "\(none.errors)")
            for (version, verb) in [(1, "publish"), (2, "renew"), (3, "publish")] {
                if version == 3 { try await site.preparePins(active: backup, backup: leaf) }
                let before = try site.servedFiles()
                let force = verb == "publish" ? ["--force", "offline"] : []
                let ahead = try await site.run(
                    ["repository", verb, "site", "--key", "online.pem", "--plan", "--json"] + force)
                #expect(ahead.status == 0, "\(ahead.errors)")
                #expect(ahead.errors.contains("overridden: offline") == (verb == "publish"))
                let expected = try ahead.json(Plan.self)
                #expect(expected.version == 1 && !expected.isWritten)
                #expect(try site.servedFiles() == before)
                let run = try await site.run(["repository", verb, "site", "--key", "online.pem", "--json"] + force)
                #expect(try run.json(Report.self).written == expected.objects.map(\.file))
                let (uploads, after) = (try await plan(site, verb), try site.servedFiles())
                #expect(uploads.version == 1 && uploads.isWritten)
                #expect(uploads.objects.map(\.file) == uploads.objects.map { "site/public/\($0.path)" })
                #expect(
                    uploads.objects.map(\.path).filter { path in before[path] != after[path] }
                        == expected.objects.map(\.path))
                for object in uploads.objects {
                    let data = try #require(after[object.path])
                    #expect(object.sha256 == digest(data) && object.bytes == data.count)
                    #expect(object.contentType == "application/json")
                    let isFixed = !["metadata/timestamp.json", "bundle.json"].contains(object.path)
                    #expect(object.precondition == (isFixed ? "absent" : "unchanged"))
                    #expect(object.cacheControl.contains("immutable") == isFixed)
                    #expect((object.replaces == nil) == isFixed)
                    if !isFixed { #expect(object.replaces?.first == before[object.path].map(digest)) }
                }
                #expect(uploads.objects.first?.path == "metadata/1.root.json")
                #expect(uploads.objects.last?.path == "bundle.json")
            }
        }
    }

    @Test("People read a line for each object, with its condition; a plan makes the same checks as publishing")
    func text() async throws {
        try await SigningSite.with { site in
            let (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
            try await site.beginRepository(active: leaf, backup: backup)
            let ahead = try await site.repository(
                "publish", "site", "--key", "online.pem", "--plan", "--force", "offline")
            #expect(ahead.lines.first == "Nothing was written. To be published: root 1, targets 1, timestamp 1")
            #expect(ahead.lines.last == "Next: the same command without --plan")
            let refused = try await site.run([
                "repository", "publish", "site", "--key", "online.pem", "--plan", "--ca", "root.pem", "--connect-to",
                "127.0.0.1:1", "--timeout", "60s",
            ])
            #expect(refused.status == 3 && refused.output.isEmpty, "\(refused.output)\(refused.errors)")
            let short = try await site.run([
                "repository", "publish", "site", "--key", "online.pem", "--plan", "--lifetime", "1d", "--force",
                "offline",
            ])
            #expect(short.status == 1 && short.errors.contains("tooShort"), "\(short.errors)")
            try await site.publishRepository(by: "online.pem")
            let uploads = try await site.repository("publish", "site", "--plan")
            #expect(uploads.lines.first == "To be uploaded: root 1, targets 1, timestamp 1")
            #expect(uploads.lines.dropFirst().first == "  1  metadata/1.root.json")
            #expect(uploads.output.contains("only if it is not there, public, max-age=31536000, immutable"))
            #expect(uploads.output.contains("only over what it replaces, no-cache"))
            // A file that clients would refuse is not uploaded.
            try site.write("site/public/bundle.json", "{}")
            let broken = try await site.run(["repository", "publish", "site", "--plan"])
            #expect(broken.status == 1 && broken.errors.contains("refusedByClients"), "\(broken.errors)")
        }
    }
}
