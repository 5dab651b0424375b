import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Changes and gates")
struct ChangeTests {
    private func refusal(_ report: GateReport) -> (Gate, String)? {
        report.refusal.map { ($0.gate, $0.refusals.joined(separator: "\n")) }
    }

    @Test("A first change passes every gate, and its difference names what it adds")
    func first() async throws {
        try await World.run { world in
            let proposal = try await world.propose()
            #expect(refusal(proposal.report)?.1 == nil)
            #expect(
                proposal.report.results.map(\.gate) == [
                    .validation, .base, .lint, .replay, .outlook, .signatures, .canary,
                ])
            let lines = proposal.difference.lines
            #expect(lines.contains("adds host api.example.com:443"))
            #expect(lines.contains { $0.contains("adds certificate \(Digest(of: world.announced.der))") })
            #expect(lines.contains("publishes trust-server for the customer \(World.customer), asked for every 300 s"))
            let change = try await world.catalog.change(proposal.change)
            #expect(try await change.state(world.catalog.approvers(), generation: 0, at: world.now) == .proposed)
            #expect(Array(proposal.outlook.json) == change.outlook)
        }
    }

    @Test("Approvers read why a change was proposed, and what it forces, as the audit has it and not as a row says")
    func rewrittenRow() async throws {
        try await World.run { world in
            let id = try await world.propose(forcing: [.canary]).change
            let before = try await world.catalog.change(id)
            #expect(before.reason == "a test" && before.forced == [.canary])
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE change SET reason = 'the key is stolen, approve at once', forced = 'lint'")
            }
            #expect(try await world.catalog.change(id) == before)
        }
    }

    @Test("Approvers read which hosts go without pins, not that something changed")
    func words() throws {
        let app = try AppName("bank")
        let certificate = try ContentHost.Certificate(fingerprint: Digest(of: [1]), expires: Story.now + World.month)
        let hosts = [try ContentHost(name: World.host, certificates: [certificate])]
        let (end, list) = (Story.now + World.month, try ContentFormat(.list, refresh: 3_600))
        let old = try Content(
            app: app, hosts: hosts, formats: [list],
            domains: ContentDomains(unlistedNeedPins: true, domains: [.init(name: World.host, needsPins: true)]),
            end: end)
        let new = try Content(
            app: app, hosts: hosts, formats: [try ContentFormat(.list, refresh: 60)],
            domains: ContentDomains(unlistedNeedPins: false, domains: [.init(name: World.host, needsPins: false)]),
            end: end)
        #expect(
            ContentDifference(from: old, to: new).lines == [
                "publishes list, asked for every 60 s, instead of list, asked for every 3600 s",
                "hosts that are not listed NEED NO pins", "adds host api.example.com NEEDS NO pins",
                "removes host api.example.com needs pins",
            ])
    }

    @Test(
        "A change that lapsed while the canary had it stops no renewal, and its challenges are answered as everybody's")
    func lapsedCanary() async throws {
        try await World.run(canary: 86_400) { world in
            try await world.publish(forcing: [.canary])
            let spare = try world.root.leaf(names: [.dns(World.host)])
            try await world.catalog.announce(
                CertificateChain(spare.chain), from: world.now + World.month, on: world.catalogHost, of: world.app,
                by: "operator")
            let change = try await world.propose().change
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .canary(until: world.now + 86_400))
            try await world.everybodyFollows(as: .canary)
            try await world.pass(8 * 86_400)
            let renewed = try await world.publisher.renew()
            #expect(renewed.problems == [])
            #expect(try await world.clientsThatGetIn(world.shown) == World.everybody)
            let apps = world.publisher.live.current.apps
            let canary = try #require(apps[AppName("bank-canary")])
            #expect(canary.content == apps[world.app]?.content)
        }
    }

    @Test("Each gate refuses in its turn, in words that name who would be lost")
    func gates() async throws {
        try await World.run { world in
            try await world.publish()
            // A format without a key, and a host that is not monitored.
            let content = try await world.draft()
            let stranger = try Content(
                app: world.app,
                hosts: content.hosts + [
                    ContentHost(
                        name: "shop.example.com", certificates: content.hosts[0].certificates,
                        keys: content.hosts[0].keys)
                ], formats: content.formats,
                end: content.end)
            #expect(try await refusal(world.propose(stranger).report)?.0 == .validation)
            let repository = try Content(
                app: world.app, hosts: content.hosts,
                formats: content.formats + [
                    ContentFormat(.repository, refresh: 3_600, root: Digest(of: "another root".utf8))
                ], end: content.end)
            #expect(try await refusal(world.propose(repository).report)?.0 == .validation)
            // Nothing but the certificate that is shown.
            let alone = try await world.draft {
                $0.removed = [Digest(of: world.announced.der), Digest(of: try world.announced.subjectPublicKeyInfo)]
            }
            let lint = try #require(try await refusal(world.propose(alone).report))
            #expect(lint.0 == .lint)
            #expect(lint.1.contains("api.example.com:443 has no backup: clients of challenge trust one certificate"))
            // Without the certificate that is shown.
            let dropped = try await world.draft {
                $0.includesSeen = false
                $0.removed = [Digest(of: world.shown.der), Digest(of: try world.shown.subjectPublicKeyInfo)]
            }
            let drop = try #require(try await refusal(world.propose(dropped).report))
            #expect(drop.0 == .lint)
            #expect(
                drop.1.contains(
                    "CertStore apps with the list lists/bank.json are locked out at api.example.com:443, 192.0.2.1"))
            // Documents that end before the last client has asked.
            let short = try #require(try await refusal(world.propose(world.draft { $0.lifetime = 86_400 }).report))
            #expect(short.0 == .lint)
            #expect(short.1.contains("documents can be signed until"))
        }
    }

    @Test("Clients that hold what is replaced count: a certificate that is shown too early locks them out")
    func stale() async throws {
        try await World.run { world in
            // Published with a backup that will not be used.
            let spare = try world.root.leaf(names: [.dns(World.host)])
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            try await world.catalog.announce(
                CertificateChain(spare.chain), from: Story.now + World.month, on: world.catalogHost, of: world.app,
                by: "operator")
            try await world.publish()
            // A successor that is to be shown tomorrow.
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            try await world.catalog.announce(
                CertificateChain(world.announced.chain), from: Story.now + 86_400, on: world.catalogHost, of: world.app,
                by: "operator")
            let outlook = try #require(try await refusal(world.propose().report))
            #expect(outlook.0 == .outlook)
            #expect(outlook.1.contains("CertStore apps with the list lists/bank.json, replaced are locked out"))
            // The same, shown once the last of them has asked.
            try await world.catalog.announce(
                CertificateChain(world.announced.chain), from: Story.now + World.month, on: world.catalogHost,
                of: world.app,
                by: "operator")
            #expect(try await refusal(world.propose().report)?.1 == nil)
        }
    }

    @Test("What nobody has looked at for an hour is unknown, and stops a change")
    func unseen() async throws {
        try await World.run { world in
            let content = try await world.draft()
            world.clock.advance(by: .seconds(3_700))
            // A new draft does not include observations of that age either.
            let late = try await world.draft().hosts[0].certificates.map(\.fingerprint)
            #expect(late == [Digest(of: world.announced.der)])
            let unknown = try #require(try await refusal(world.propose(content).report))
            #expect(unknown.0 == .outlook)
            #expect(unknown.1.contains("more than an hour"))
        }
    }

    @Test("A gate is forced only if approvers were asked, and never that of validation or base")
    func forced() async throws {
        try await World.run { world in
            try await world.publish()
            let alone = try await world.draft {
                $0.removed = [Digest(of: world.announced.der), Digest(of: try world.announced.subjectPublicKeyInfo)]
            }
            await expectError(.invalidValue) { try await world.propose(alone, forcing: [.base]) }
            let forced = try await world.propose(alone, forcing: [.lint, .outlook])
            #expect(forced.report.results.first { $0.gate == .lint }?.isForced == true)
            let other = try await world.propose(alone)
            // An approval of the forced change is none of the other, and the other way round.
            let approval = try await world.statement(.alice, of: forced.change)
            #expect(try ApprovalText(approval.text).subject.forced == [.lint, .outlook])
            await expectError(.notApproved) { try await world.publisher.publish(other.change) }
            try await world.approve(other.change)
            await expectError(.gate) { try await world.publisher.publish(other.change) }
            try await world.approve(forced.change)
            #expect(try await world.publisher.publish(forced.change) == .published(generation: 2))
            try await world.everybodyFollows()
        }
    }

    @Test("A rejection is final, seven days are over, and a generation that moved ends a change")
    func ends() async throws {
        try await World.run { world in
            let rejected = try await world.propose().change
            try await world.approve(rejected)
            try await world.catalog.add(try await world.statement(.carol, .reject, of: rejected))
            await expectError(.rejected) { try await world.publisher.publish(rejected) }
            await expectError(.outOfTurn) { try await world.approve(rejected) }

            let old = try await world.propose().change
            let moved = try await world.propose().change
            try await world.approve(moved, by: [.alice, .carol])
            try await world.publish()
            await expectError(.outOfTurn) { try await world.publisher.publish(moved) }
            try await world.pass(Change.span + 1)
            await expectError(.outOfTurn) { try await world.publisher.publish(old) }
            let chain = try await world.catalog.approvers()
            for (id, state) in [(rejected, Change.State.rejected), (moved, .lapsed), (old, .lapsed)] {
                let change = try await world.catalog.change(id)
                #expect(change.state(chain, generation: 1, at: world.now) == state)
            }
        }
    }

    @Test("The proposer's approval does not count, nor one that has ended, nor two by one person")
    func counting() async throws {
        try await World.run { world in
            let change = try await world.propose(proposer: try Approver.alice.identity).change
            try await world.approve(change, by: [.alice, .bob])
            try await world.catalog.add(try await world.statement(.bob, of: change, until: world.now + 7_000))
            await expectError(.notApproved) { try await world.publisher.publish(change) }
            try await world.catalog.add(try await world.statement(.carol, of: change, until: world.now + 10))
            try await world.pass(60)
            await expectError(.notApproved) { try await world.publisher.publish(change) }
            try await world.catalog.add(try await world.statement(.carol, of: change))
            #expect(try await world.publisher.publish(change) == .published(generation: 1))
            try await world.everybodyFollows()
        }
    }

    @Test("One person's approvals of a change are eight at most, and crowd out nobody's; a rejection is always taken")
    func crowding() async throws {
        try await World.run { world in
            let change = try await world.propose().change
            for number in 0..<8 as Range<Int64> {
                let end = world.now + 60 + number
                try await world.catalog.add(try await world.statement(.alice, of: change, until: end))
            }
            let ninth = try await world.statement(.alice, of: change, until: world.now + 3_600)
            let error = await expectError(.constraint) { try await world.catalog.add(ninth) }
            #expect(error?.expected == "at most 8 approvals by one person")
            // The same one again is not one more, and another person has eight as well.
            try await world.catalog.add(try await world.statement(.alice, of: change, until: world.now + 60))
            try await world.approve(change, by: [.bob])
            #expect(try await world.catalog.change(change).approvals.count == 9)
            try await world.catalog.add(try await world.statement(.alice, .reject, of: change))
            await expectError(.rejected) { try await world.publisher.publish(change) }
        }
    }

    @Test("An outlook that got worse ends the approvals, and the error says for whom")
    func worse() async throws {
        try await World.run { world in
            let change = try await world.propose(forcing: [.lint, .outlook]).change
            try await world.approve(change)
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            try await world.pass(60, showing: stranger)
            let error = await expectError(.gate) { try await world.publisher.publish(change) }
            #expect(error?.found.contains("are locked out, where approvers saw that they can connect") == true)
            await expectError(.outOfTurn) { try await world.publisher.publish(change) }
            #expect(world.publisher.live.current.documents.isEmpty)
            // The same content is proposed again, and approved by people who see the new outlook.
            let content = try await world.catalog.change(change).content
            let again = try await world.propose(content, forcing: [.lint, .outlook]).change
            try await world.approve(again)
            #expect(try await world.publisher.publish(again) == .published(generation: 1))
            try await world.everybodyFollows(lettingIn: [world.shown, world.announced], refusing: [stranger])
        }
    }
}
