import Foundation
import Holdfast
import Testing

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Commands about approvers of certain apps", .timeLimit(.minutes(5)))
struct ApproverLimitTests {
    private typealias Desk = CommandTests.Desk

    private static let people = [
        "--approver", "alice=alice.pub", "--approver", "bob=bob.pub", "--approver", "carol=carol.pub",
    ]

    private func propose(_ desk: Desk, _ arguments: [String], to file: String, status: Int32 = 0) async throws -> String
    {
        try await desk.run(
            ["approvers", "propose", "--data", desk.data] + Self.people + arguments + ["--output", file], status: status
        )
    }

    private func replace(_ desk: Desk, _ file: String, by names: [String], status: Int32 = 0) async throws -> String {
        var signatures: [String] = []
        for name in names {
            let shown = try await desk.run(
                "sign", file, "--key", "\(name).pem", "--output", "\(name).\(file)", "--yes")
            #expect(shown.contains("holdfast-approvers-v3"), "\(shown)")
            signatures += ["--signature", "\(name).\(file)"]
        }
        return try await desk.run(["approvers", "replace", file, "--data", desk.data] + signatures, status: status)
    }

    @Test("Approvers are limited to apps, keep them until a statement says others, and approve nothing else")
    func limits() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            try await desk.makeServer()
            for app in ["shop", "games"] {
                _ = try await desk.run(
                    "app", "add", app, "--data", desk.data, "--anchors", "roots.pem", "--no-shipped-pins")
            }
            for (arguments, words, status) in [
                (["--number", "2", "--apps", "carol"], "NAME=APP,APP", 2),
                (["--number", "2", "--apps", "eve=shop"], "not among the approvers", 2),
                (["--number", "2", "--apps", "carol=shop", "--apps", "carol=bank"], "twice", 2),
                (["--number", "2", "--apps", "carol=nothing"], "notFound", 3),
                (["--number", "2", "--apps", "carol=shop,"], "invalidValue", 2),
                (["--number", "3", "--apps", "carol=shop"], "as many who approve all apps as must agree: 3", 2),
            ] as [([String], String, Int32)] {
                let refused = try await propose(desk, arguments, to: "no.txt", status: status)
                #expect(refused.contains(words), "\(words): \(refused)")
            }
            _ = try await propose(desk, ["--number", "2", "--apps", "carol=shop,games"], to: "next.txt")
            let asked = try await desk.run(
                "sign", "next.txt", "--key", "alice.pem", "--output", "alice.none", status: 1)
            #expect(asked.contains("carol approves nothing but changes for games, shop"), "\(asked)")
            _ = try await replace(desk, "next.txt", by: ["alice", "bob"])
            let list = try await desk.run("approvers", "--data", desk.data)
            let lines = list.split(separator: "\n").filter { $0.contains("only") }
            #expect(lines.count == 1 && lines[0].hasPrefix("  carol  ") && lines[0].hasSuffix("  only for games, shop"))
            // A proposal that does not mention the limit keeps it.
            _ = try await propose(desk, ["--number", "1"], to: "again.txt")
            let again = try String(contentsOf: folder.appending(path: "again.txt"), encoding: .utf8)
            #expect(again.contains(" games,shop\n") && again.contains("holdfast-approvers-v3\n"))
            let carols = try await replace(desk, "again.txt", by: ["alice", "carol"], status: 1)
            #expect(carols.contains("notApproved"), "\(carols)")
            try await desk.see()
            let proposed = try await desk.run(
                "change", "propose", "bank", "--data", desk.data, "--format", "list", "--reason", "first",
                "--no-proposer")
            let change = String(proposed.split(separator: "\n")[0].dropFirst("change ".count))
            let refused = try await desk.run(
                "approve", change, "--data", desk.data, "--key", "carol.pem", "--yes", status: 1)
            #expect(refused.contains("carol approves only for games, shop, not bank"), "\(refused)")
            for name in ["alice", "bob"] {
                _ = try await desk.run("approve", change, "--data", desk.data, "--key", "\(name).pem", "--yes")
            }
            _ = try await propose(desk, ["--number", "2", "--apps", "carol=*"], to: "wide.txt")
            _ = try await replace(desk, "wide.txt", by: ["bob", "alice"])
            #expect(try await !desk.run("approvers", "--data", desk.data).contains("only"))
        }
    }

    /// Dave is invited by alice and bob to approve changes of shop with a passkey, and makes it.
    private func register(_ passkey: SoftPasskey, on desk: Desk) async throws {
        let open = try await ServerFolder(URL(filePath: desk.data)).open(clock: desk.clock)
        let token = PasskeyDesk.token(5)
        let text = try InvitationText(
            server: open.catalog.server, token: token.digest, person: "dave", purpose: .approval,
            apps: [AppName("shop")], approvers: try await open.catalog.approvers().head.digest,
            end: Int64(desk.clock.now.timeIntervalSince1970) + 86_400)
        let signatures = try ["alice", "bob"].map { name in
            let pem = try String(contentsOf: desk.folder.appending(path: "\(name).pem"), encoding: .utf8)
            return try ApproverPrivateKey(pem: pem).signature(of: text.bytes)
        }
        try await open.catalog.invite(SignedInvitation(text: text.bytes, signatures: signatures))
        var generator = SystemRandomNumberGenerator()
        let asked = try await open.catalog.beginRegistration(token, using: &generator)
        _ = try await open.catalog.register(
            passkey.registration(for: asked.ceremony.challenge), token, at: SoftPasskey.party,
            answering: asked.ceremony)
        await open.engine.close()
    }

    @Test("A passkey that was made for certain apps is named for these, or for fewer, and for no others")
    func passkey() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            try await desk.makeServer()
            _ = try await desk.run(
                "app", "add", "shop", "--data", desk.data, "--anchors", "roots.pem", "--no-shipped-pins")
            try await register(.ed25519, on: desk)
            for apps in ["*", "bank", "bank,shop"] {
                let refused = try await propose(
                    desk, ["--number", "2", "--passkey", "dave", "--apps", "dave=\(apps)"], to: "no.txt", status: 2)
                #expect(refused.contains("The passkey of dave was made for shop"), "\(refused)")
            }
            for (file, apps) in [("one.txt", []), ("two.txt", ["--apps", "dave=shop"])] as [(String, [String])] {
                _ = try await propose(desk, ["--number", "2", "--passkey", "dave"] + apps, to: file)
                let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                #expect(text.hasPrefix("holdfast-approvers-v3\n") && text.contains(" shop passkey\n"), "\(text)")
            }
            let phone = SoftPasskey.ed25519
            let text = Array(try Data(contentsOf: folder.appending(path: "one.txt")))
            try Data(ApproverSignature(phone.evidence(over: text)).fileContent)
                .write(to: folder.appending(path: "dave.next"))
            for name in ["alice", "bob"] {
                _ = try await desk.run(
                    "sign", "one.txt", "--key", "\(name).pem", "--output", "\(name).next", "--yes")
            }
            _ = try await desk.run(
                "approvers", "replace", "one.txt", "--data", desk.data, "--signature", "alice.next", "--signature",
                "bob.next", "--signature", "dave.next")
            let list = try await desk.run("approvers", "--data", desk.data)
            #expect(list.contains("  passkey  only for shop\n"), "\(list)")
        }
    }
}
