import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

@Suite("What a repository refuses")
struct RepositoryGateTests {
    private func words(_ report: GateReport) -> String {
        report.refusal.map { "\($0.gate.rawValue): \($0.refusals.joined(separator: "; "))" } ?? "none"
    }

    /// A pin file like one that was prepared, with a certificate in it that was not approved.
    private func rewritten(_ pins: Data, adding certificate: TestCertificate) throws -> Data {
        var object = try #require(try JSONSerialization.jsonObject(with: pins) as? [String: Any])
        var hosts = try #require(object["hosts"] as? [[String: Any]])
        var entries = try #require(hosts[0]["pins"] as? [[String: Any]])
        let digest = Digest(of: try certificate.subjectPublicKeyInfo)
        entries.append(["pin": "sha256/\(Base64.encode(digest.bytes))", "role": "leaf", "state": "active"])
        hosts[0]["pins"] = entries
        object["hosts"] = hosts
        return try JSONSerialization.data(withJSONObject: object)
    }

    @Test("Targets with other pins than those of an approved change are not taken, and not published if they are there")
    func otherPins() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publisher.begin(world.app, holders, in: world.folder)
            let change = try await world.approvedRepository(holders)
            try await world.publisher.draftRepository(change, by: "operator")
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            let error = await expectError(.gate) {
                try await world.publisher.pass(world.app, to: holders.targets, in: world.folder) { folder in
                    var state = try await folder.state()
                    let pins = try rewritten(try #require(state.draftPins), adding: stranger)
                    try state.prepare(pins: pins, at: world.clock.now)
                    try await folder.writeDrafts(state)
                }
            }
            #expect(
                error?.found.contains("other pins for api.example.com: apps with this repository") ?? false,
                "\(error as Any)"
            )
            // Nor something beside the pins.
            let beside = await expectError(.gate) {
                try await world.publisher.pass(world.app, to: holders.targets, in: world.folder) { folder in
                    let data = try #require(try folder.data(at: "draft/targets.json", atMost: 1 << 20))
                    let text = String(decoding: data, as: UTF8.self).replacing(
                        "\"pins.json\":",
                        with:
                            "\"more.json\":{\"hashes\":{\"sha256\":\"\(String(repeating: "0", count: 64))\"},\"length\":1},\"pins.json\":"
                    )
                    #expect(try folder.replace("draft/targets.json", data, with: Data(text.utf8)))
                }
            }
            #expect(beside?.found.contains("targets with unexpected content: more.json") ?? false, "\(beside as Any)")
            // The operator himself has written it into the database, with an entry in the audit: it is not published.
            let folder = TUFRepositoryFolder(world.folder.appending(path: "forged"))
            try await world.publisher.exportRepository(of: world.app, to: folder)
            var state = try await folder.state()
            let pins = try rewritten(try #require(state.draftPins), adding: stranger)
            try state.prepare(pins: pins, at: world.clock.now)
            for key in holders.targets { _ = try state.sign(by: key) }
            let draft = RepositoryDraft(state)
            try await world.catalog.transact { step throws(ServerError) in
                try Catalog.keep(draft, of: world.app, by: "operator", &step)
            }
            let report = try await world.publisher.rehearse(change)
            #expect(
                words(report).contains(
                    "signatures: apps that follow the repository repo/bank would get unapproved pins"))
            await expectError(.gate) { try await world.publisher.publish(change) }
            // The control: what was approved.
            try await world.publisher.sign(change, holders, in: world.folder)
            #expect(try await world.publisher.publish(change) == .published(generation: 1))
            try await world.everybodyFollows()
            #expect(try await !world.repositoryApp(isBundle: true).letsIn(stranger, trusting: world.root))
        }
    }

    @Test("No draft before an approval, no signature that does not count, no root but the one that was begun")
    func strangers() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publisher.begin(world.app, holders, in: world.folder)
            let format = try await world.repositoryFormat()
            let proposal = try await world.propose(world.draft { $0.formats = [format] })
            await expectError(.notApproved) {
                try await world.publisher.draftRepository(proposal.change, by: "operator")
            }
            try await world.approve(proposal.change)
            try await world.publisher.draftRepository(proposal.change, by: "operator")
            // Something was changed after a holder signed.
            let folder = TUFRepositoryFolder(world.folder.appending(path: "changed"))
            try await world.publisher.exportRepository(of: world.app, to: folder)
            try await RepositoryHolders.sign(folder, with: holders.targets)
            let signed = try #require(try folder.data(at: "draft/targets.json", atMost: 1 << 20))
            let changed = String(decoding: signed, as: UTF8.self).replacing("expires\":\"20", with: "expires\":\"21")
            #expect(try folder.replace("draft/targets.json", signed, with: Data(changed.utf8)))
            let broken = await expectError(.gate) {
                try await world.publisher.importRepository(of: world.app, from: folder, by: "operator")
            }
            #expect(broken?.found.contains("that does not") ?? false, "\(broken as Any)")
            // Another first root, with other keys.
            let mallory = RepositoryHolders()
            let another = await expectError(.gate) {
                try await world.publisher.pass(world.app, to: [], in: world.folder) { folder in
                    let own = try await folder.state()
                    let machine = own.publicKeys(of: [.snapshot])
                    var state = try TUFRepositoryState(
                        roles: [
                            .root: mallory.rootKeys, .targets: mallory.targetsKeys, .snapshot: TUFRoleKeys(machine),
                            .timestamp: TUFRoleKeys(own.publicKeys(of: [.timestamp])),
                        ], at: world.clock.now)
                    _ = try state.sign(by: mallory.root)
                    for path in ["draft/root.json", "draft/targets.json", "draft/pins.json"] {
                        let old = try folder.data(at: path, atMost: 1 << 20)
                        _ = try folder.replace(path, old, with: path == "draft/root.json" ? state.draftRoot?.data : nil)
                    }
                }
            }
            #expect(another?.found.contains("apps would ship with the wrong root") ?? false)
            await expectError(.constraint) {
                try await world.publisher.begin(world.app, mallory, in: world.folder)
            }
        }
    }

    @Test("Metadata that ends while clients may not ask is refused, and the date at which they get nothing is named")
    func expiring() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            // The root lasts a year, and the staleness is a week.
            try await world.pass(360 * 86_400)
            try await world.catalog.announce(
                CertificateChain(try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(700) }.chain),
                from: world.now + World.month, on: world.catalogHost, of: world.app, by: "operator")
            // Certificates of this world have ended by now, which is another gate's question.
            let change = try await world.approvedRepository(holders, forcing: [.lint, .replay, .outlook])
            try await world.publisher.sign(change, holders, in: world.folder)
            let report = try await world.publisher.rehearse(change)
            let refusals = report.results.first { $0.gate == .signatures }?.refusals ?? []
            #expect(
                refusals.contains { $0.contains("root 1 ends before the 604800 s for which they may not ask") },
                "\(report)")
            // Holders of the root make the next.
            try await world.publisher.pass(world.app, to: [holders.root], in: world.folder) { folder in
                var state = try await folder.state()
                try state.change(.root, at: world.clock.now)
                try await folder.writeDrafts(state)
            }
            let after = try await world.publisher.rehearse(change)
            #expect(after.results.first { $0.gate == .signatures }?.refusals == [], "\(after)")
        }
    }
}
