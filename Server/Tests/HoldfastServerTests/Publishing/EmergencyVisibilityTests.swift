import Foundation
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerModel
@testable import ServerStore

@Suite("Who sees an emergency", .timeLimit(.minutes(5)))
struct EmergencyVisibilityTests {
    /// The server's notices of a kind, as receivers get them.
    private func notices(_ kind: Notice.Kind, _ finder: inout NoticeFinder, _ world: World) async throws -> [[String:
        Any]]
    {
        try await finder.readApprovers(in: world.catalog)
        return finder.notices(world.catalog.ledger, world.publisher.live.current, at: world.now)
            .filter { $0.kind == kind }
            .compactMap { try? JSONSerialization.jsonObject(with: Data($0.bytes)) as? [String: Any] }
    }

    private func identities(_ approvers: Approver...) throws -> Set<String> {
        Set(try approvers.map { "\(try $0.member.key.identity)" })
    }

    @Test(
        "Every approver sees it: in the lists, in the change, in the status, in the audit, and in a notice of their own"
    )
    func everyApprover() async throws {
        try await AdministrationSite.run(canary: 86_400) { site in
            let world = site.world
            let usual = try await site.propose()
            let change = try await site.propose(#", "emergency": true"#)
            let listed = try #require(
                try await site.call("GET", "/v1/changes", token: "read").json["changes"] as? [[String: Any]])
            #expect(listed.first { $0["id"] as? String == "\(change)" }?["emergency"] as? Bool == true)
            #expect(listed.first { $0["id"] as? String == "\(usual)" }?["emergency"] as? Bool == false)
            try await site.approve(change, by: [.alice])
            let shown = try await site.call("GET", "/v1/changes/\(change)", token: "read").json
            #expect(shown["emergency"] as? Bool == true && Set(shown["silent"] as? [String] ?? []) == ["bob", "carol"])
            let open = try await world.publisher.standing(of: world.app).open
            #expect(open.map(\.change.id) == [change, usual])
            #expect(open.map(\.change.isEmergency) == [true, false])

            let entries = try await world.catalog.audit(after: -1, limit: 10_000).map { try AuditEntry($0) }
            let proposed = entries.filter { $0.event == .proposed }
            #expect(proposed.map { $0.facts["emergency"] != nil } == [false, true])
            // It says who did it.
            #expect(proposed.map(\.actor) == ["token propose", "token propose"])

            var finder = NoticeFinder(world.catalog.server)
            let told = try await notices(.emergency, &finder, world)
            #expect(try identities(.alice, .bob, .carol) == Set(told.compactMap { $0["approver"] as? String }))
            #expect(told.count == 3 && told.allSatisfy { $0["change"] as? String == "\(change)" })
            #expect(Set(told.compactMap { $0["id"] as? String }).count == 3)
            // The same notices after a restart, without any text that a person wrote.
            var another = NoticeFinder(world.catalog.server)
            let again = try await notices(.emergency, &another, world)
            #expect(again.compactMap { $0["id"] as? String } == told.compactMap { $0["id"] as? String })
            #expect(!"\(told)".contains("a test"))

            try await site.approve(change, by: [.bob])
            let published = try await site.call("POST", "/v1/changes/\(change)/publish")
            #expect(published.json["generation"] as? Int == 1, "\(published.text)")
            #expect(try await notices(.emergency, &finder, world).isEmpty)
            try await world.everybodyFollows()
        }
    }

    @Test("Those who take the place of approvers are told as well")
    func newApprovers() async throws {
        try await World.run(canary: 86_400) { world in
            let change = try await world.propose(forcing: [.canary]).change
            var finder = NoticeFinder(world.catalog.server)
            #expect(try await notices(.emergency, &finder, world).count == 3)
            let next = try ApproverStatement(
                after: try await world.catalog.approvers().head,
                approvers: ApproverSet(try [.alice, .bob, .dave].map { (it: Approver) in try it.member }, number: 2))
            try await world.catalog.append([Approver.alice, .bob, .dave].sign(next))
            let told = try await notices(.emergency, &finder, world)
            #expect(try identities(.alice, .bob, .dave) == Set(told.compactMap { $0["approver"] as? String }))
            let silent = try await world.catalog.change(change).silentApprovers(of: world.catalog.approvers())
            #expect(Set(silent.map(\.name)) == ["alice", "bob", "dave"])
        }
    }

    @Test("A canary that is held is told once, until clients get in again")
    func heldCanary() async throws {
        try await World.run(canary: 86_400) { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            let change = try await world.approved().change
            try await world.publisher.publish(change)
            var finder = NoticeFinder(world.catalog.server)
            #expect(try await notices(.canary, &finder, world).isEmpty)
            try await world.see(world.root.leaf(names: [.dns(World.host)]), at: "192.0.2.2")
            _ = await world.publisher.probeCanaries()
            let told = try await notices(.canary, &finder, world)
            #expect(told.count == 1 && told[0]["change"] as? String == "\(change)", "\(told)")
            try await world.pass(1_800)
            _ = try await world.publisher.renew()
            _ = await world.publisher.probeCanaries()
            #expect(try await notices(.canary, &finder, world).first?["id"] as? String == told[0]["id"] as? String)
            try await world.pass(CanaryProbes.maximumPause)
            _ = try await world.publisher.renew()
            #expect(await world.publisher.probeCanaries() == [])
            #expect(try await notices(.canary, &finder, world).isEmpty)
        }
    }
}

extension CommandTests {
    @Test("The commands that approvers run say that a change is an emergency, and who has said nothing yet")
    func emergency() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            try await desk.makeServer()
            try await desk.see()
            let proposed = try await desk.run(
                "change", "propose", "bank", "--data", desk.data, "--format", "list", "--include-seen", "--emergency",
                "a stolen key", "--no-proposer", "--as", "dora")
            let change = String(proposed.split(separator: "\n")[0].dropFirst("change ".count))
            let listed = try await desk.run("change", "list", "bank", "--data", desk.data)
            #expect(listed.contains("EMERGENCY: emergency: a stolen key"), "\(listed)")
            let shown = try await desk.run("change", "show", change, "--data", desk.data)
            #expect(shown.contains("EMERGENCY: it skips the canary"), "\(shown)")
            let approved = try await desk.run(
                "approve", change, "--data", desk.data, "--key", "alice.pem", "--yes")
            #expect(approved.contains("EMERGENCY: it skips the canary"), "\(approved)")
            let status = try await desk.run(anyStatus: ["status", "--data", desk.data])
            #expect(status.contains("EMERGENCY, proposed: change \(change), emergency: a stolen key"), "\(status)")
            let silent = status.split(separator: "\n").first { $0.contains("no word yet from") } ?? ""
            #expect(silent.contains("bob") && silent.contains("carol") && !silent.contains("alice"), "\(status)")
            let open = try await ServerFolder(URL(filePath: desk.data)).open(clock: desk.clock)
            let entries = try await open.catalog.audit(after: -1, limit: 10_000).map { try AuditEntry($0) }
            #expect(entries.last { $0.event == .proposed }?.actor == "dora")
            await open.engine.close()
        }
    }
}
