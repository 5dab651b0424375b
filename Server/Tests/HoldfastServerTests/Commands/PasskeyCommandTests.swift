import Foundation
import Testing

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Commands about passkeys", .timeLimit(.minutes(5)))
struct PasskeyCommandTests {
    private typealias Desk = CommandTests.Desk

    private static let origin = "https://pins.example.com"

    /// The folder of the program, opened by the library for as long as a closure takes.
    private func opening<Value>(_ desk: Desk, _ body: (Catalog) async throws -> Value) async throws -> Value {
        let open = try await ServerFolder(URL(filePath: desk.data)).open(clock: desk.clock)
        let value = try await body(open.catalog)
        await open.engine.close()
        return value
    }

    /// Two approvers invite a person, who makes a passkey with the link.
    private func register(_ passkey: SoftPasskey, _ purpose: String, on desk: Desk) async throws -> RegisteredPasskey {
        let name = "\(purpose).txt"
        let said = try await desk.run(
            "invitation", "prepare", "--data", desk.data, "--person", "dave", "--purpose", purpose, "--admin-origin",
            Self.origin, "--link", "\(purpose).link", "--output", name)
        #expect(said.contains("dave, \(purpose), until"), "\(said)")
        let asked = try await desk.run("sign", name, "--key", "alice.pem", "--output", "alice.none", status: 1)
        #expect(asked.contains(" for all apps, later ones too? Type yes"), "\(asked)")
        for approver in ["alice", "bob"] {
            let signed = try await desk.run(
                "sign", name, "--key", "\(approver).pem", "--output", "\(approver).\(purpose)", "--yes")
            #expect(signed.contains("holdfast-invitation-v1"), "\(signed)")
        }
        let one = try await desk.run(
            "invitation", "open", name, "--data", desk.data, "--signature", "alice.\(purpose)", status: 1)
        #expect(one.contains("notApproved"), "\(one)")
        _ = try await desk.run(
            "invitation", "open", name, "--data", desk.data, "--signature", "alice.\(purpose)", "--signature",
            "bob.\(purpose)")
        let open = try await desk.run("invitation", "list", "--data", desk.data)
        #expect(open.hasPrefix("dave  \(purpose)  until "), "\(open)")
        let file = desk.folder.appending(path: "\(purpose).link")
        let link = try String(contentsOf: file, encoding: .utf8)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let parts = link.dropLast().split(separator: "#").map(String.init)
        let token = try #require(parts.last.flatMap { AccessToken($0.utf8) })
        #expect(parts.first == "\(Self.origin)/invitation/\(token.digest)")
        return try await opening(desk) { catalog in
            var generator = SystemRandomNumberGenerator()
            let asked = try await catalog.beginRegistration(token, using: &generator)
            return try await catalog.register(
                passkey.registration(for: asked.ceremony.challenge), token, at: SoftPasskey.party,
                answering: asked.ceremony)
        }
    }

    @Test("Approvers invite somebody, name the passkey as an approver, and take it back")
    func approver() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            try await desk.makeEmptyServer()
            let nowhere = try await desk.run(
                "invitation", "prepare", "--data", desk.data, "--person", "dave", "--purpose", "sign-in", "--link",
                "x.link", "--output", "x.txt", status: 2)
            #expect(nowhere.contains("--admin-origin"), "\(nowhere)")
            let phone = SoftPasskey.ed25519
            let registered = try await register(phone, "approval", on: desk)
            let identity = "\(registered.key.identity)"
            let list = try await desk.run("passkey", "list", "--data", desk.data)
            #expect(list == "dave  approval  \(identity)  \(Self.origin)\n")
            let propose = ["approvers", "propose", "--data", desk.data, "--approver", "alice=alice.pub"]
            let people = propose + ["--approver", "bob=bob.pub", "--number", "2"]
            for (arguments, words) in [
                (["--passkey", "eve"], "0 passkeys for approvals fit eve"),
                (["--passkey", "dave=\(String(repeating: "0", count: 64))"], "0 passkeys for approvals fit dave"),
                (["--passkeys-only"], "needs a --passkey"),
            ] {
                let refused = try await desk.run(people + arguments + ["--output", "no.txt"], status: 2)
                #expect(refused.contains(words), "\(refused)")
            }
            let said = try await desk.run(people + ["--passkey", "dave", "--output", "next.txt"])
            #expect(said == "passkey of dave: \(identity)\n")
            var signatures: [String] = []
            for name in ["alice", "bob"] {
                let shown = try await desk.run(
                    "sign", "next.txt", "--key", "\(name).pem", "--output", "\(name).next", "--yes")
                #expect(shown.contains("passkey of dave: \(identity)") && shown.contains("key-required"), "\(shown)")
                signatures += ["--signature", "\(name).next"]
            }
            // The passkey signs too, as its page would have it do.
            let without = try await desk.run(
                ["approvers", "replace", "next.txt", "--data", desk.data] + signatures, status: 1)
            #expect(without.contains("notApproved") && without.contains("dave"), "\(without)")
            let text = Array(try Data(contentsOf: folder.appending(path: "next.txt")))
            let signature = ApproverSignature(try phone.evidence(over: text)).fileContent
            try Data(signature).write(to: folder.appending(path: "dave.next"))
            _ = try await desk.run(
                ["approvers", "replace", "next.txt", "--data", desk.data] + signatures + ["--signature", "dave.next"])
            let approvers = try await desk.run("approvers", "--data", desk.data)
            #expect(approvers.contains("dave  \(identity)  passkey"), "\(approvers)")
            #expect(approvers.contains("passkeys of \(Self.origin): key-required"), "\(approvers)")
            let removed = try await desk.run("passkey", "remove", identity, "--data", desk.data)
            #expect(removed.contains("still names it"), "\(removed)")
            #expect(try await desk.run("passkey", "list", "--data", desk.data) == "")
        }
    }

    @Test("Sessions are listed, and ended one by one or all at once")
    func sessions() async throws {
        try await withFolder { folder in
            let desk = try Desk(in: folder)
            try await desk.makeEmptyServer()
            let passkey = SoftPasskey()
            _ = try await register(passkey, "sign-in", on: desk)
            func signIn() async throws -> AccessToken {
                try await opening(desk) { catalog in
                    var generator = SystemRandomNumberGenerator()
                    let ceremony = try await catalog.beginSignIn(using: &generator)
                    return try await catalog.signIn(
                        passkey.assertion(for: ceremony.challenge), with: passkey.id, answering: ceremony,
                        using: &generator)
                }
            }
            var tokens: [AccessToken] = []
            for _ in 0..<3 { tokens.append(try await signIn()) }
            let list = try await desk.run("session", "list", "--data", desk.data)
            #expect(list.split(separator: "\n").count == 3)
            for token in tokens {
                #expect(list.contains("\(token.digest)  dave  until ") && !list.contains(token.secretText), "\(list)")
            }
            _ = try await desk.run("session", "end", "\(tokens[1].digest)", "--data", desk.data)
            let left = try await opening(desk) { catalog in try await catalog.sessions().map(\.session) }
            #expect(Set(left) == [tokens[0].digest, tokens[2].digest])
            _ = try await desk.run("session", "end", "--data", desk.data, status: 2)
            _ = try await desk.run("session", "end", "\(tokens[1].digest)", "--data", desk.data, status: 3)
            let all = try await desk.run("session", "end", "--all", "--data", desk.data)
            #expect(all == "2 sessions were ended\n")
            #expect(try await desk.run("session", "list", "--data", desk.data) == "")
        }
    }
}
