import Foundation
import Holdfast
import HoldfastTUF
import HoldfastTesting
import Synchronization
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// Over sockets, at the time of the machine: apps, a client of The Update Framework, and python-tuf, directly and behind a
/// cache.
@Suite("Clients of a repository", .timeLimit(.minutes(5)))
struct RepositoryClientTests {
    private static let provider = URLSessionDataProvider(allowsPlainHTTPToLoopback: true)

    /// All apps follow, from the oldest root on.
    private func follow(_ base: String, _ site: ServeSite, letIn certificate: TestCertificate, apps: [RepositoryApp])
        async throws
    {
        let root = try #require(apps.first).configuration.root
        for app in apps {
            let asking = try RepositoryApp(
                base, root: root, isBundle: app.isBundle, provider: Self.provider, clock: site.clock,
                storage: app.storage)
            #expect(try await asking.letsIn(certificate, trusting: site.root))
        }
        let url = try #require(URL(string: base))
        let client = TUFClient(
            store: MetadataMemory(),
            source: HTTPRepositorySource(
                metadata: url.appending(path: "metadata"), targets: url.appending(path: "targets"),
                provider: Self.provider), trustedRoot: root)
        let update = try await client.refresh()
        let pins = try await update.data(of: update.target("pins.json"))
        guard Need.pythonTUF.runsPart() else { return }
        let folder = site.folder.appending(path: "python-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #expect(try await TUFPython.follow(base, root: root, in: folder) == pins)
    }

    @Test(
        "PinRepository, TUFClient and python-tuf follow from the oldest root, directly and through nginx as a cache",
        .needs(.program("nginx")))
    func everybody() async throws {
        try await ServeSite.run { site in
            let holders = RepositoryHolders()
            let publisher = site.open.publisher
            try await publisher.begin(site.app, holders, in: site.folder)
            try await site.publishRepository(holders)
            let serving = try ServingSite()
            serving.time.withLock { $0 = site.now }
            serving.live.replace(with: publisher.live.current)
            let root = Data(
                try #require(publisher.live.current.document(at: "repo/bank/metadata/1.root.json".utf8)).bytes)
            try await serving.listening { port in
                try await CachingNginx.with(upstream: port) { cache in
                    let bases = [port, cache].map { "http://127.0.0.1:\($0)/repo/bank" }
                    let apps = try [true, false].map {
                        try RepositoryApp(
                            bases[0], root: root, isBundle: $0, provider: Self.provider, clock: site.clock)
                    }
                    for base in bases { try await follow(base, site, letIn: site.shown, apps: apps) }
                    // The next content takes the place of the first, also where a cache stands between.
                    let next = try site.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
                    try await site.open.catalog.announce(
                        CertificateChain(next.chain), from: site.now + World.month,
                        on: try CatalogHost(name: World.host),
                        of: site.app, by: "test")
                    try await site.publishRepository(holders)
                    serving.live.replace(with: publisher.live.current)
                    for base in bases {
                        try await follow(base, site, letIn: next, apps: apps.filter { !$0.isBundle })
                    }
                    // A client that asks for the files of the first version still gets them, from the cache as well.
                    let path = "/repo/bank/metadata/1.targets.json"
                    _ = try await RawClient(port: cache).get(path)
                    let old = try await RawClient(port: cache).get(path)
                    #expect(old.status == 200 && old.header("X-Cache") == "HIT")
                    let timestamp = try await RawClient(port: cache).get("/repo/bank/metadata/timestamp.json")
                    #expect(timestamp.header("X-Cache") != "HIT")
                }
            }
        }
    }
}

extension ServeSite {
    /// Publishes a repository whose root is there.
    func publishRepository(_ holders: RepositoryHolders) async throws {
        var generator = SystemRandomNumberGenerator()
        let format = try ContentFormat(.repository, refresh: 21_600, root: await open.catalog.firstRoot(of: app))
        let content = try await open.catalog.draft(
            of: app, Catalog.DraftOptions(formats: [format]))
        let change = try await open.publisher.propose(
            content, proposer: nil, reason: "a test", by: "operator", using: &generator
        ).change
        let chain = try await open.catalog.approvers()
        let subject = try await open.catalog.change(change).subject(for: chain)
        for approver in [Approver.alice, .bob] {
            try await open.catalog.add(try approver.says(.approve, subject, until: now + 86_400))
        }
        try await open.publisher.sign(change, holders, in: folder)
        try await open.publisher.publish(change)
    }
}
