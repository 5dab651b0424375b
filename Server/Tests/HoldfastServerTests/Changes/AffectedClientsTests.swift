import Foundation
import Holdfast
import HoldfastSigning
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

/// Gates that let no client judge name those that would be lost all the same.
@Suite("Gates that ask no client")
struct AffectedClientsTests {
    private static let list = "CertStore apps with the list lists/bank.json"
    private static let trust = "trust-server apps with trust/gcx.json.signed"
    private static let label = "api.example.com:443"

    private func time(_ seconds: Int64) throws -> String { try #require(UTCText.encode(seconds)) }

    private func few(_ world: World) async throws -> Content {
        try await world.draft { $0.formats = World.fewFormats }
    }

    /// The refusals of a gate for a content that was never proposed.
    private func refusals(_ content: Content, _ world: World) async throws -> [String] {
        let change = Change(
            id: Story.id(1), content: content, outlook: [], baseGeneration: 0, forced: [], proposer: nil,
            reason: "a test",
            proposed: world.now, canaryBegan: nil, approvals: [], ended: nil)
        let keeper = GateRunner(scene: try await world.catalog.scene(of: content.app), change: change)
        let refusal = try #require(await keeper.report().report.refusal)
        #expect(refusal.gate == .validation)
        return refusal.refusals
    }

    @Test("What cannot be made is missed by clients that are named, with what they go on with")
    func validation() async throws {
        try await World.run { world in
            let content = try await few(world)
            let (begun, end) = (try time(world.now), try time(content.end))
            let both = "\(Self.list), \(Self.trust) at \(Self.label)"
            let empty = try await refusals(
                Content(app: world.app, hosts: [], formats: content.formats, end: content.end), world)
            let add = "`holdfast-server host add bank HOST --data DIR`"
            #expect(
                empty.first
                    == "the content has no host, so \(Self.list), \(Self.trust) would get no pins. Add a host: \(add)")
            #expect(empty.contains("\(Self.list) get no pins yet, because this format was never published"), "\(empty)")
            try await world.publish(content)
            let mute = try await refusals(
                Content(app: world.app, hosts: content.hosts, formats: [], end: content.end), world)
            #expect(
                mute.first
                    == "the content has no format, so every client would get no documents anymore. Add a format.")
            #expect(
                mute.contains(
                    "\(Self.list) at \(Self.label) continue to use the pins published at \(begun), until \(end)"),
                "\(mute)")
            // A host that is not monitored, and an app without a key.
            let stranger = try ContentHost(
                name: "shop.example.com", certificates: content.hosts[0].certificates, keys: content.hosts[0].keys)
            let unseen = try await refusals(
                Content(
                    app: world.app, hosts: content.hosts + [stranger], formats: content.formats, end: content.end),
                world)
            let words =
                "shop.example.com:443 is not monitored, so the server cannot check whether \(both)"
            let command = "`holdfast-server host add bank shop.example.com --port 443 --data DIR`"
            #expect(
                unseen.contains("\(words), shop.example.com:443 would be locked out. Add the host first: \(command)"),
                "\(unseen)")
            let shop = try AppName("shop")
            try await world.catalog.addApp(
                shop, displayName: "Shop", settings: AppSettings(canary: 0, anchors: [world.root.root], builds: []),
                by: "operator")
            try await world.catalog.set(world.catalogHost, of: shop, by: "operator")
            let keyless = try await refusals(
                Content(
                    app: shop, hosts: content.hosts, formats: [ContentFormat(.list, refresh: 3_600)], end: content.end),
                world)
            #expect(
                keyless.first
                    == "list: the app has no key for fingerprints, so CertStore apps with the list lists/shop.json would get nothing; "
                    + "make one: `holdfast-server app key shop --data DIR`"
            )
            #expect(
                keyless.contains(
                    "CertStore apps with the list lists/shop.json at \(Self.label) get no pins yet, "
                        + "because this format was never published")
            )
        }
    }

    @Test("A base that moved: what the change would take from whom, and what clients of each age go on with")
    func base() async throws {
        try await World.run { world in
            let content = try await few(world)
            try await world.publish(content)
            let first = world.now
            let old = try await world.propose(few(world)).change
            try await world.pass(3_600)
            let next = try await world.approved()
            try await world.publisher.publish(next.change)
            let refusal = try #require(try await world.publisher.rehearse(old).refusal)
            #expect(refusal.gate == .base)
            #expect(
                refusal.refusals.contains(
                    "it would take certificate \(Digest(of: next.certificate)) of \(Self.label) from \(Self.list), \(Self.trust)"
                ), "\(refusal)")
            #expect(
                refusal.refusals.contains { $0.hasPrefix("it would take key ") && $0.hasSuffix(" from \(Self.trust)") })
            let end = try await world.catalog.change(next.change).content.end
            for clients in [Self.list, Self.trust] {
                let words =
                    "\(clients) at \(Self.label) continue to use the pins published at \(try time(world.now)), until "
                    + "\(try time(end)); clients without an update since \(try time(world.now)) continue to "
                    + "use the pins published at \(try time(first)), until \(try time(content.end))"
                #expect(refusal.refusals.contains(words), "\(refusal)")
            }
        }
    }

    @Test("The canary: who waits for a change, what they go on with, and who is locked out before they get it")
    func canary() async throws {
        try await World.run(canary: 86_400) { world in
            let early = try #require(try await world.propose(few(world)).report.refusal)
            #expect(early.gate == .canary)
            #expect(
                early.refusals.contains(
                    "\(Self.list) at \(Self.label) get no pins yet, because this format was never published"))
            let content = try await few(world)
            try await world.publish(content, forcing: [.canary])
            // Its owner is in a hurry: it is shown before the canary has had the change for its day.
            let hurried = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            let begins = world.now + 43_200
            try await world.catalog.announce(
                CertificateChain(hurried.chain), from: begins, on: world.catalogHost, of: world.app, by: "operator")
            let waiting = try #require(try await world.propose(few(world), forcing: [.outlook]).report.refusal)
            #expect(waiting.gate == .canary)
            let words =
                "\(Self.list), \(Self.trust) are locked out at \(Self.label) from \(try time(begins)) on, when it "
                + "presents certificate \(Digest(of: hurried.der)), until they get this change"
            #expect(waiting.refusals.contains(words), "\(waiting)")
            #expect(
                waiting.refusals.contains(
                    "\(Self.list) at \(Self.label) continue to use the pins published at \(try time(world.now)), until "
                        + (try time(content.end))), "\(waiting)")
            // The published content already has the one shown after the canary's day, which locks no client out.
            #expect(!waiting.refusals.contains { $0.contains("\(Digest(of: world.announced.der))") })
        }
    }

    @Test("What is read back wrong: who asks there, and what those of each age go on with until it is mended")
    func readback() async throws {
        try await World.run { world in
            let content = try await few(world)
            try await world.publish(content)
            let first = world.now
            // Nothing can be written there, and the key is replaced before it is tried again: clients with the new key
            // refuse what was signed with the one before.
            let place = world.publisher.folder.url.appending(path: "lists/bank.json")
            try FileManager.default.removeItem(at: place)
            try FileManager.default.createDirectory(
                at: place.appending(path: "obstacle"), withIntermediateDirectories: true)
            try await world.pass(60)
            let next = try await world.approved()
            let outcome = try await world.publisher.publish(next.change)
            #expect(outcome.problems.contains { $0.hasPrefix("lists/bank.json: ") }, "\(outcome)")
            let key = try SealedKey(
                sealing: SigningKey().pem, at: SealedKeyTests.place("list-2"), with: World.secret())
            try await world.catalog.add(Catalog.Key(sealed: key), replacing: true, by: "operator")
            try FileManager.default.removeItem(at: place)
            try await world.pass(60)
            let problems = try await world.publisher.deliver().problems
            let words =
                "\(Self.list) at \(Self.label) get nothing new there until it is repaired: those with the documents "
                + "published at \(try time(first)) continue to use them until \(try time(content.end)), and others get "
                + "nothing."
            #expect(problems.contains { $0.contains("gate of lists/bank.json") && $0.hasSuffix(words) }, "\(problems)")
            // A round repairs it and signs it with the new key.
            let round = try await world.publisher.renew()
            #expect(round.signed.contains("lists/bank.json") && round.problems == [], "\(round)")
            let store = try await world.certStore()
            _ = try await store.update(mode: .forced)
            #expect(try world.letsIn(world.shown, store.policy(for: World.host)))
            #expect(try await world.publisher.renew().signed.contains("lists/bank.json") == false)
        }
    }
}
