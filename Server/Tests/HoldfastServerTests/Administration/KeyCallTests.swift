import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Calls of the administration about keys", .timeLimit(.minutes(5)))
struct KeyCallTests {
    private static let keys = "/v1/apps/bank/keys"
    private static let rotate = "/v1/apps/bank/repository/rotate"

    private func replace(_ purpose: String) -> String { "\(Self.keys)/\(purpose)/replace" }

    private func key(_ purpose: String, _ site: AdministrationSite) async throws -> [String: Any] {
        let answer = try await site.call("GET", Self.keys, token: "read")
        #expect(answer.status == 200 && !answer.body.contains("PRIVATE"), "\(answer.text)")
        let all = try #require(answer.json["keys"] as? [[String: Any]])
        return try #require(all.first { $0["purpose"] as? String == purpose })
    }

    private func body(replacing key: [String: Any]) -> String { #"{"replaces":"\#(key["digest"] as? String ?? "")"}"# }

    @Test("A key that somebody may have is replaced: the next one signs what is published, and says who is lost")
    func replaced() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            try await world.publish()
            let old = try await key("fingerprints", site)
            let before = try await world.publicKey()
            #expect(old["point"] as? String == before && old["inProgram"] as? Bool == false)
            let answer = try await site.call("POST", replace("fingerprints"), body: body(replacing: old))
            #expect(answer.status == 200, "\(answer.text)")
            let made = try #require(answer.json["key"] as? [String: Any])
            let after = try await world.publicKey()
            #expect(made["point"] as? String == after && after != before)
            #expect((answer.json["signed"] as? [String])?.contains("lists/bank.json") == true, "\(answer.text)")
            #expect((answer.json["problems"] as? [String]) == [])
            let lost = try #require(answer.json["lost"] as? [String])
            #expect(lost.contains { $0.hasPrefix("CertStore apps with the list lists/bank.json") }, "\(lost)")
            // Only apps with the new key follow.
            try await world.everybodyFollows()
            // Sent again, it replaces nothing.
            try await site.refuses(
                409, .outOfTurn, "POST", replace("fingerprints"), body: body(replacing: old),
                field: "key for fingerprints")
            #expect(try await key("fingerprints", site)["digest"] as? String == made["digest"] as? String)
            let entries = try await world.catalog.audit(after: -1, limit: 10_000).map { try AuditEntry($0) }
            #expect(entries.last { $0.event == .key }?.actor == "token administer")
        }
    }

    @Test("A trust server's key as well, for the customer whose document is published")
    func trustServer() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let old = try await key("trust-server", site)
            let answer = try await site.call("POST", replace("trust-server"), body: body(replacing: old))
            #expect(answer.status == 200, "\(answer.text)")
            let made = try #require(answer.json["key"] as? [String: Any])
            #expect((made["certificate"] as? String)?.hasPrefix("-----BEGIN CERTIFICATE-----") == true)
            #expect(made["certificate"] as? String != old["certificate"] as? String)
            #expect((answer.json["signed"] as? [String])?.contains("trust/gcx.json.signed") == true, "\(answer.text)")
            try await world.everybodyFollows()
        }
    }

    @Test("What a token is not for, a key that is not there, and a body with a slip replace nothing")
    func refused() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            let old = try await key("fingerprints", site)
            let head = world.catalog.ledger.chain.head
            for token in ["gate", "read", "propose"] {
                try await site.refuses(
                    403, .forbidden, "POST", replace("fingerprints"), token: token, body: body(replacing: old))
                try await site.refuses(403, .forbidden, "POST", Self.rotate, token: token)
            }
            try await site.refuses(403, .forbidden, "GET", Self.keys, token: "gate")
            for purpose in ["timestamp", "snapshot", "list"] {
                try await site.refuses(
                    400, .invalidValue, "POST", replace(purpose), body: body(replacing: old), field: "purpose")
            }
            let digest = String(repeating: "0", count: 64)
            try await site.refuses(
                409, .outOfTurn, "POST", replace("fingerprints"), body: #"{"replaces":"\#(digest)"}"#)
            for (text, code, field) in [
                ("{}", AdministrationError.Code.malformed, "replaces"),
                (#"{"replaces":"x"}"#, .invalidValue, "replaces"),
                (#"{"replaces":"\#(digest)","x":1}"#, .malformed, "x"),
                (#"{"replaces":"\#(digest)","customer":""}"#, .invalidValue, "customer"),
            ] {
                try await site.refuses(422, code, "POST", replace("fingerprints"), body: text, field: field)
            }
            try await site.refuses(404, .notFound, "POST", Self.rotate)
            #expect(world.catalog.ledger.chain.head == head)
        }
    }

    @Test("The server's keys of a repository rotate over HTTP, and no app is lost on the way")
    func rotated() async throws {
        try await AdministrationSite.run { site in
            let (world, holders) = (site.world, RepositoryHolders())
            try await world.publisher.begin(world.app, holders, in: world.folder)
            // Before anybody has the first root there is nothing to rotate.
            try await site.refuses(409, .outOfTurn, "POST", Self.rotate)
            try await world.publishRepository(holders)
            let old = try await key("timestamp", site)
            let app = try world.repositoryApp(isBundle: true)
            #expect(try await app.letsIn(world.shown, trusting: world.root))
            let answer = try await site.call("POST", Self.rotate)
            #expect(answer.status == 200 && answer.json["enough"] as? Bool == false, "\(answer.text)")
            // Once more prepares nothing else.
            let again = try await site.call("POST", Self.rotate)
            #expect(again.body == answer.body)
            #expect(try await site.call("GET", "/v1/apps/bank/repository/drafts", token: "read").body == answer.body)
            #expect(try await key("timestamp", site)["digest"] as? String == old["digest"] as? String)

            try await world.publisher.pass(world.app, to: [holders.root], in: world.folder)
            let done = try await site.call("POST", "/v1/apps/bank/repository/publish")
            #expect(done.json["root"] as? Int == 2 && done.json["otherKeys"] as? Bool == true, "\(done.text)")
            #expect(try await key("timestamp", site)["digest"] as? String != old["digest"] as? String)
            #expect(try await app.letsIn(world.shown, trusting: world.root))
            try await world.everybodyFollows()
            let entries = try await world.catalog.audit(after: -1, limit: 10_000).map { try AuditEntry($0) }
            #expect(entries.contains { $0.facts["action"] == "prepared" && $0.actor == "token administer" })
        }
    }
}
