import Foundation
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Calls of the administration about repositories", .timeLimit(.minutes(5)))
struct DraftCallTests {
    private static let drafts = "/v1/apps/bank/repository/drafts"
    private static let publish = "/v1/apps/bank/repository/publish"

    /// Has holders sign what a call answered as `holdfastctl repository sign` does, and gives the
    /// body that hands it in.
    private func signed(_ answer: RawAnswer, by keys: [TUFSigningKey], _ site: AdministrationSite) async throws
        -> String
    {
        let folder = try folder(answer, site)
        try await RepositoryHolders.sign(folder, with: keys)
        var members: [String: CanonicalJSON] = [:]
        for name in ["root", "targets", "pins"] {
            guard let data = try folder.data(at: "draft/\(name).json", atMost: 1 << 20) else { continue }
            members[name] = .text(Base64.encode(data))
        }
        return String(decoding: CanonicalJSON.object(members).bytes, as: UTF8.self)
    }

    /// Writes what a call answered into a folder.
    private func folder(_ answer: RawAnswer, _ site: AdministrationSite) throws -> TUFRepositoryFolder {
        #expect(answer.status == 200, "\(answer.text)")
        let folder = TUFRepositoryFolder(site.world.folder.appending(path: "drafts-\(UUID().uuidString)"))
        for file in try #require(answer.json["files"] as? [[String: String]]) {
            let (path, text) = (try #require(file["path"]), try #require(file["octets"]))
            let bytes = try #require(Base64.decode(text.utf8))
            #expect(try folder.replace(path, nil, with: Data(bytes)))
        }
        return folder
    }

    private func body(_ members: [String: String]) -> String {
        String(decoding: CanonicalJSON.object(members.mapValues { .text($0) }).bytes, as: UTF8.self)
    }

    @Test("From the first root over targets to a root that is published by itself, over HTTP")
    func wholeWay() async throws {
        try await AdministrationSite.run { site in
            let (world, holders) = (site.world, RepositoryHolders())
            var generator = SystemRandomNumberGenerator()
            _ = try await world.publisher.beginRepository(
                of: world.app, root: holders.rootKeys, targets: holders.targetsKeys, by: "operator", using: &generator)
            let begun = try await site.call("GET", Self.drafts, token: "read")
            #expect(begun.json["enough"] as? Bool == false)
            let root = try await site.call(
                "POST", Self.drafts, token: "propose", body: signed(begun, by: [holders.root], site))
            #expect(root.status == 200 && root.json["enough"] as? Bool == true, "\(root.text)")

            let change = try await world.approvedRepository(holders)
            try await site.refuses(409, .outOfTurn, "POST", Self.publish)
            let prepared = try await site.call("POST", "/v1/changes/\(change)/drafts", token: "propose")
            #expect((prepared.json["changes"] as? [String])?.contains { $0.contains(World.host) } == true)
            // Two holders sign copies of their own, at the same time.
            for key in holders.targets {
                let body = try await signed(prepared, by: [key], site)
                let taken = try await site.call("POST", Self.drafts, token: "propose", body: body)
                #expect(taken.status == 200, "\(taken.text)")
            }
            #expect(try await site.call("GET", Self.drafts, token: "read").json["enough"] as? Bool == true)
            let published = try await site.call("POST", "/v1/changes/\(change)/publish")
            #expect(published.json["outcome"] as? String == "published", "\(published.text)")
            try await world.everybodyFollows()
            let app = try world.repositoryApp(isBundle: false)
            #expect(try await app.letsIn(world.shown, trusting: world.root))

            _ = try await world.publisher.replaceOnlineKeys(of: world.app, by: "operator", using: &generator)
            try await site.refuses(409, .gate, "POST", Self.publish)
            let waiting = try await site.call("GET", Self.drafts, token: "read")
            // A token removes no signatures: another root is accepted only if a holder signed it.
            var another = try await folder(waiting, site).state()
            try another.change(.root, lifetimes: .init(root: .seconds(100 * 86_400)), at: world.clock.now)
            let unsigned = try #require(another.draftRoot).data
            try await site.refuses(
                409, .gate, "POST", Self.drafts, body: body(["root": Base64.encode(unsigned)]), field: "draft of root")
            let next = try await site.call(
                "POST", Self.drafts, token: "propose", body: signed(waiting, by: [holders.root], site))
            #expect(next.json["enough"] as? Bool == true, "\(next.text)")
            let done = try await site.call("POST", Self.publish)
            #expect(done.status == 200 && done.json["root"] as? Int == 2, "\(done.text)")
            #expect(done.json["otherKeys"] as? Bool == true && (done.json["problems"] as? [Any])?.isEmpty == true)
            #expect(try await app.letsIn(world.announced, trusting: world.root))
            try await site.refuses(404, .notFound, "POST", Self.publish)
            let entries = try await world.catalog.audit(after: -1, limit: 10_000).map { try AuditEntry($0) }
            #expect(entries.last { $0.event == .root }?.actor == "token administer")
            // A root that lists its own author, and that no other key signed.
            let last = try await site.call("GET", Self.drafts)
            // Of what was published before, holders need nothing but the roots.
            let paths = (last.json["files"] as? [[String: String]])?.compactMap { $0["path"] } ?? []
            for (ending, count) in [(".root.json", 2), (".snapshot.json", 1), (".targets.json", 1), (".pins.json", 1)] {
                #expect(paths.count { $0.hasPrefix("public/") && $0.hasSuffix(ending) } == count, "\(paths)")
            }
            var forged = try await folder(last, site).state()
            let intruder = TUFSigningKey()
            try forged.change(.root, adding: [intruder.publicKey], at: world.clock.now)
            _ = try forged.sign(by: intruder)
            let foreign = try await site.call(
                "POST", Self.drafts, token: "propose",
                body: body(["root": Base64.encode(try #require(forged.draftRoot).data)]))
            #expect(foreign.status == 409 && foreign.json["code"] as? String == "gate", "\(foreign.text)")
        }
    }

    @Test("What nobody approved, what is no file, and what the token is not for is refused, and nothing has changed")
    func refused() async throws {
        try await AdministrationSite.run { site in
            let (world, holders) = (site.world, RepositoryHolders())
            try await site.refuses(404, .notFound, "GET", Self.drafts)
            try await site.refuses(404, .notFound, "GET", Self.drafts.replacing("bank", with: "shop"), token: "every")
            try await site.refuses(403, .forbidden, "GET", Self.drafts.replacing("bank", with: "shop"))
            try await world.publisher.begin(world.app, holders, in: world.folder)
            let change = try await world.approvedRepository(holders)
            _ = try await world.publisher.draftRepository(change, by: "operator")
            let before = world.catalog.ledger.chain.head
            let file = Base64.encode(Array("{}".utf8))
            for (text, field) in [
                ("{}", "body"), (body(["pins": file]), "targets"), (body(["root": "?"]), "root"),
                (body(["root": ""]), "root"), (body(["root": "e30"]), "root"), (body(["root": file, "x": file]), "x"),
            ] {
                let code: AdministrationError.Code = field == "root" ? .invalidValue : .malformed
                try await site.refuses(422, code, "POST", Self.drafts, body: text, field: field)
            }
            let noRoot = try await site.call("POST", Self.drafts, body: body(["root": file]))
            #expect(noRoot.status == 409 && noRoot.json["code"] as? String == "gate", "\(noRoot.text)")
            try await site.refuses(403, .forbidden, "POST", Self.drafts, token: "read", body: body(["root": file]))
            try await site.refuses(403, .forbidden, "GET", Self.drafts, token: "gate")
            try await site.refuses(403, .forbidden, "POST", Self.publish, token: "propose")
            try await site.refuses(403, .forbidden, "POST", "/v1/changes/\(change)/drafts", token: "read")
            // A root that differs from the prepared one, without signatures.
            let other = try TUFRepositoryState(
                roles: [
                    .root: holders.rootKeys, .targets: holders.rootKeys, .snapshot: holders.targetsKeys,
                    .timestamp: holders.targetsKeys,
                ], at: world.clock.now)
            let unsigned = try #require(other.draftRoot)
            let stranger = try await site.call(
                "POST", Self.drafts, body: body(["root": Base64.encode(unsigned.data)]))
            #expect(stranger.status == 409 && stranger.json["code"] as? String == "gate", "\(stranger.text)")
            // Pins without an approval, signed by the holders themselves.
            let answer = try await site.call("GET", Self.drafts)
            let folder = try folder(answer, site)
            var state = try await folder.state()
            let unapproved = try world.root.leaf(names: [.dns(World.host)])
            let pins = try #require(state.draftPins)
            let own = Base64.encode(Digest(of: try world.shown.subjectPublicKeyInfo).bytes)
            let forgedPin = Base64.encode(Digest(of: try unapproved.subjectPublicKeyInfo).bytes)
            try state.prepare(
                pins: Data(String(decoding: pins, as: UTF8.self).replacing(own, with: forgedPin).utf8),
                at: world.clock.now)
            for key in holders.targets { _ = try state.sign(by: key) }
            let draft = RepositoryDraft(state)
            let (targets, forgedPins) = (try #require(draft.targets), try #require(draft.pins))
            let forged = try await site.call(
                "POST", Self.drafts,
                body: body(["targets": Base64.encode(targets), "pins": Base64.encode(forgedPins)]))
            #expect(forged.status == 409 && forged.json["code"] as? String == "gate", "\(forged.text)")
            #expect(world.catalog.ledger.chain.head == before)
            // It has no approval yet.
            let format = try await world.repositoryFormat()
            let open = try await world.propose(world.draft { $0.formats = [format] }).change
            try await site.refuses(409, .notApproved, "POST", "/v1/changes/\(open)/drafts")
        }
    }
}
