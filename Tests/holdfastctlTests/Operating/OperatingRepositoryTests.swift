import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// The statements of docs/emergencies.md about a repository on a bad day, and of docs/operating.md about old builds.
@Suite("The operator's manual, a repository and its clients", .timeLimit(.minutes(15)))
struct OperatingRepositoryTests {
    private static let url = "https://pins.example.com"

    @Test("A folder that was put back from a copy goes on above what clients know, and they follow")
    func restored() async throws {
        try await OperatingSite.with { site in
            let (manager, present) = (FileManager.default, try site.leaf())
            func copy(_ from: String, _ to: String) throws {
                let place = site.folder.appending(path: to)
                try? manager.removeItem(at: place)
                try manager.copyItem(at: site.folder.appending(path: from), to: place)
            }
            for block in ["first-pins", "repository-first"] { try await site.run(block, serving: present) }
            try copy("site", "backup")
            let app = try RepositoryApp(site.folder.appending(path: "site/public"), name: OperatingSite.name)
            for _ in 0..<2 { try await site.run("repository-daily", serving: present) }
            #expect(try await app.isLetIn(by: present, trusting: site.root))
            try copy("site/public", "served")
            // As on any other day, it signs what clients know something newer than.
            try copy("backup", "site")
            try await site.run("repository-restored", serving: present) {
                $0.replacing(" --url \(Self.url)", with: "")
            }
            await #expect(throws: (any Error).self) { try await app.update() }

            try copy("backup", "site")
            _ = try await PublishedRepository.serving(site.folder.appending(path: "served")) { url in
                try await site.run("repository-restored", serving: present) { $0.replacing(Self.url, with: url) }
            }
            #expect(try await app.isLetIn(by: present, trusting: site.root))
        }
    }

    @Test("The oldest build is followed in the folder and at the server, and a root that the server refuses is named")
    func oldest() async throws {
        try await OperatingSite.with { site in
            let present = try site.leaf()
            for block in ["first-pins", "repository-first"] { try await site.run(block, serving: present) }
            let (manager, served) = (FileManager.default, site.folder.appending(path: "site/public"))
            let build = site.folder.appending(path: "app-2024")
            try manager.createDirectory(at: build, withIntermediateDirectories: false)
            try manager.copyItem(
                at: served.appending(path: "metadata/1.root.json"), to: build.appending(path: "root.json"))
            for block in ["repository-year", "repository-online-key"] { try await site.run(block, serving: present) }
            func oldest(refusing missing: String? = nil, expecting status: Int32 = 0) async throws -> String {
                try await PublishedRepository.serving(served, forbidding: missing) { url in
                    let run = try await site.run("repository-oldest", serving: present, expecting: status) {
                        $0.replacing(Self.url, with: url)
                    }
                    return run.output + run.errors
                }
            }
            let refused = "2.root.json: status 403, which counts as absent"
            let first = try await oldest()
            #expect(first.contains("Apps with root 1 follow, up to root "), "\(first)")
            #expect(first.contains("Apps with root 1 follow at http://") && !first.contains(refused), "\(first)")
            // The timestamp has the signatures of both online keys: until the next one, apps follow all the same.
            #expect(try await oldest(refusing: "/2.root.json").contains(refused))

            try await site.run("repository-daily", serving: present) {
                $0.replacing("online.pem", with: "online-2.pem")
            }
            #expect(try await !oldest().contains(refused))
            let app = try RepositoryApp(served, name: OperatingSite.name, fetchingFiles: true)
            #expect(try await app.isLetIn(by: present, trusting: site.root))
            // From then on, apps that fetch file by file need that root.
            let lost = try await oldest(refusing: "/2.root.json", expecting: 1)
            #expect(lost.contains(refused) && lost.contains("Apps with root 1 cannot follow at http://"), "\(lost)")

            // A build of another repository follows neither.
            try await OperatingSite.with { other in
                let leaf = try other.leaf()
                for block in ["first-pins", "repository-first"] { try await other.run(block, serving: leaf) }
                let root = try Data(
                    contentsOf: other.folder.appending(path: "site/public/metadata/1.root.json"))
                try root.write(to: build.appending(path: "root.json"))
            }
            let stranger = try await oldest(expecting: 1)
            #expect(stranger.contains("Apps with root 1 cannot follow"), "\(stranger)")
        }
    }

    @Test("While builds with a list are in the field, one pin file is published as a repository and as a list")
    func listAndRepository() async throws {
        try await OperatingSite.with { site in
            let present = try site.leaf()
            for block in ["first-pins", "list-first", "repository-first"] {
                try await site.run(block, serving: present)
            }
            let next = try site.leaf(.existing(try site.key("backup.key")))
            try site.write("next.pem", next.chainPEM)
            try await site.run("list-and-repository", serving: present)
            let list = try await InstalledApp.fetchingList("pins.json", of: site)
            let app = try RepositoryApp(site.folder.appending(path: "site/public"), name: OperatingSite.name)
            for leaf in [present, next] {
                #expect(try site.lockedOut([list], by: leaf) == 0)
                #expect(try await app.isLetIn(by: leaf, trusting: site.root))
            }
            let stranger = try site.leaf()
            #expect(try site.lockedOut([list], by: stranger) == 1)
            #expect(try await !app.isLetIn(by: stranger, trusting: site.root))
        }
    }
}
