import Foundation
import Holdfast
import HoldfastTUF
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// From an ACME client's renewal to apps that follow, as in `RenewalHookTests`, on three machines behind balancers of which
/// one dies in the middle. Programs, sockets and clocks are all real.
@Suite(
    "Renewal by an ACME client, on several machines", .besidePostgres, .timeLimit(.minutes(5)),
    .needs(.acmeHost, .postgreSQL))
struct ReplicaRenewalTests {
    /// An app whose host is that of the ACME client.
    private struct Shop {
        let site: ServeSite
        let app: AppName
        let host: CatalogHost
        let holders = RepositoryHolders()
        let anchor: [UInt8]
        /// The certificate in a safe, for the day on which another must be replaced at once.
        let spare: TestCertificate

        init(_ site: ServeSite, _ acme: ACMEHost) async throws {
            self.site = site
            anchor = acme.anchor
            app = try AppName("shop")
            host = try CatalogHost(name: World.host, port: Int64(acme.web), dial: "127.0.0.1")
            let catalog = site.open.catalog
            try await catalog.addApp(
                app, displayName: "Shop",
                settings: AppSettings(canary: 0, anchors: [site.root.root, acme.anchor], builds: []), by: "test")
            try await catalog.set(host, of: app, by: "test")
            try await site.open.publisher.begin(app, holders, in: site.folder)
            spare = try site.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(400) }
            for (chain, wait) in [(spare.chain, World.month), (try acme.installed(), 0)] {
                try await catalog.announce(
                    CertificateChain(chain), from: site.now + wait, on: host, of: app, by: "owner")
            }
        }

        /// Proposes what follows from what was announced, and has it approved and signed.
        func approvedChange() async throws -> RandomID {
            var generator = SystemRandomNumberGenerator()
            let (catalog, publisher) = (site.open.catalog, site.open.publisher)
            let format = try ContentFormat(
                .repository, refresh: 21_600, root: try await catalog.firstRoot(of: app))
            let content = try await catalog.draft(of: app, Catalog.DraftOptions(formats: [format]))
            let change = try await publisher.propose(
                content, proposer: nil, reason: "a test", by: "operator", using: &generator
            ).change
            let subject = try await catalog.change(change).subject(for: catalog.approvers())
            for approver in [Approver.alice, .bob] {
                try await catalog.add(try approver.says(.approve, subject, until: site.now + 86_400))
            }
            try await publisher.sign(change, holders, in: site.folder)
            return change
        }

        /// Has every kind of client follow.
        func everybodyFollows() async throws {
            try await site.open.publisher.refresh()
            try await site.open.publisher.everybodyFollows(
                app, lettingIn: [spare], trusting: site.root, clock: site.clock, hasChallenges: false,
                hostPort: Int(host.port), isThorough: false)
        }

        /// Whether a machine has seen a chain on the host.
        func isSeen(_ chain: [[UInt8]]) async throws -> Bool {
            try await site.open.catalog.observations(of: host, app).contains {
                $0.chain?.certificates.first == chain[0]
            }
        }

        /// An app of a format, installed now.
        func phone(_ port: Int, isBundle: Bool) async throws -> PinRepository {
            let root = try await RawClient(port: port).get("/repo/shop/metadata/1.root.json")
            let phone = try RepositoryApp(
                "http://127.0.0.1:\(port)/repo/shop", root: Data(root.body.utf8), isBundle: isBundle,
                provider: URLSessionDataProvider(allowsPlainHTTPToLoopback: true), clock: site.clock,
                application: "shop"
            ).started()
            #expect(try await phone.update(mode: .forced).error == nil)
            return phone
        }

        func letsIn(_ chain: [[UInt8]], _ phone: PinRepository) throws -> Bool {
            let trust = ServerTrust(
                chain: PresentedChain(chain),
                purpose: .server(identity: try DialedHost(World.host, port: Int(host.port))),
                validator: PathValidator(anchors: try TrustAnchors(der: [anchor])))
            return try phone.policy(for: World.host).evaluate(trust, at: site.clock.now).isTrusted
        }
    }

    @Test(
        "A certificate is renewed, announced and installed although a machine dies in between; no app refuses it"
    )
    func renewal() async throws {
        let script = try Manual.procedures().block("run: announce-certificate").text
        let postgres = try #require(PostgresServer.current)
        let name = try await postgres.database()
        let machine = ReplicaSite.Machine(options: ["--allow", "127.0.0.0/8"])
        try await ACMEHost.run(reusesKey: true) { acme in
            try await ReplicaSite.run(on: try postgres.address(name), [machine, machine, machine]) { replicated in
                let shop = try await Shop(replicated.site, acme)
                let catalog = replicated.site.open.catalog
                try await replicated.start()
                let old = try acme.installed()
                try await eventually("a machine sees the host") { try await shop.isSeen(old) }
                try await replicated.publish(try await shop.approvedChange(), on: replicated.replicas[0])
                try await BalancingNginx.with(replicated.replicas.map(\.port)) { port in
                    try await BalancingNginx.with(replicated.replicas.map(\.administration), by: .turns) { admin in
                        try await eventually("every machine serves the repository") {
                            for replica in replicated.replicas {
                                guard try await replica.get("/repo/shop/bundle.json").status == 200 else {
                                    return false
                                }
                            }
                            return true
                        }
                        var phones = [
                            try await shop.phone(port, isBundle: true), try await shop.phone(port, isBundle: false),
                        ]
                        #expect(try phones.allSatisfy { try shop.letsIn(old, $0) })
                        var generator = SystemRandomNumberGenerator()
                        let token = try await catalog.add(
                            TokenGrant(
                                name: "renewals", app: shop.app, scope: .propose, end: replicated.site.now + 86_400),
                            by: "test", using: &generator)
                        try await acme.install(script, asking: admin, with: token.secretText)

                        // One dies as soon as the certificate is announced, and the balancer asks the others.
                        let victim = replicated.replicas[1]
                        let (before, host) = (try await catalog.next(of: shop.host, shop.app).chains.count, shop.host)
                        async let renewing: Void = acme.renew()
                        try await eventually("the certificate is announced") {
                            try await catalog.next(of: host, shop.app).chains.count > before
                        }
                        await victim.kill()
                        try await renewing
                        let next = try acme.fetched()
                        #expect(next[0] != old[0])
                        // The timer tries again what failed while the machine died.
                        if try acme.installed() != next { _ = try await acme.runScript() }
                        #expect(try acme.installed() == next)
                        #expect(try phones.allSatisfy { try shop.letsIn(next, $0) })

                        // The survivors see it where it was installed, and know it.
                        try await postgres.run("UPDATE host SET next_poll_at = 0, leased_until = 0;", in: name)
                        try await eventually("a survivor sees the new certificate") { try await shop.isSeen(next) }
                        _ = try await catalog.now()
                        #expect(catalog.ledger.alarms.filter { $0.app == shop.app } == [])
                        let change = try await shop.approvedChange()
                        #expect(try await replicated.publish(change, on: replicated.replicas[2]) == 2)
                        try await victim.start()
                        for isBundle in [true, false] {
                            phones.append(try await shop.phone(victim.port, isBundle: isBundle))
                        }
                        for phone in phones {
                            #expect(try await phone.update(mode: .forced).error == nil)
                            #expect(try shop.letsIn(next, phone))
                        }
                        #expect(try await acme.runScript().isEmpty)
                        try await shop.everybodyFollows()
                    }
                }
            }
        }
    }
}
