import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import Testing

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// The blocks of `docs/server/people.md` about passkeys, in which a person makes one with a browser in between.
@Suite("Passkeys, as docs/server/people.md has them", .timeLimit(.minutes(10)))
struct ReadmePasskeyTests {
    private static func commands(of name: String) throws -> [Manual.Command] {
        try Manual("docs/server/people.md").block("run: \(name)").commands
    }

    /// Runs a command as each person who types it.
    private func run(_ command: Manual.Command, _ desk: ManualDesk, _ change: (String) -> String = { $0 }) async throws
        -> String
    {
        var output = ""
        for name in ["alice"] + command.others {
            let text = change(command.text).replacing("key alice.pem", with: "key \(name).pem")
                .replacing("file alice.password", with: "file \(name).password")
                .replacing("output alice.", with: "output \(name).")
            output = try await desk.run(text)
        }
        return output
    }

    /// Opens the link of an invitation, and makes a passkey.
    private func register(_ passkey: SoftPasskey, link: String, on desk: ManualDesk) async throws -> Digest {
        let link = try String(contentsOf: desk.folder.appending(path: link), encoding: .utf8)
        #expect(link.hasPrefix("https://pins.example.com/invitation/"), "\(link)")
        let token = try #require(link.dropLast().split(separator: "#").last.flatMap { AccessToken($0.utf8) })
        let open = try await ServerFolder(desk.folder.appending(path: "srv/pins")).open(clock: SystemWallClock())
        var generator = SystemRandomNumberGenerator()
        let asked = try await open.catalog.beginRegistration(token, using: &generator)
        let registered = try await open.catalog.register(
            passkey.registration(for: asked.ceremony.challenge), token, at: SoftPasskey.party,
            answering: asked.ceremony)
        await open.engine.close()
        return registered.key.identity
    }

    @Test(
        "From the address of the pages to a passkey that approvers have named, every line runs as it stands there",
        .needs(.holdfastctl))
    func passkeys() async throws {
        try await withFolder { folder in
            let desk = try await ManualDesk(in: folder)
            let first = try Manual("Server/README.md").blocks.filter { $0.language == "sh" && $0.mark.isEmpty }
                .flatMap(\.commands)
            for command in first.prefix(while: { !$0.text.hasPrefix("holdfast-server app add") }) {
                for name in ["alice"] + command.others {
                    _ = try await desk.run(command.text.replacing("alice", with: name))
                }
            }
            let leaf = try desk.authority.leaf(names: [.dns("pins.example.com")])
            try desk.write("pins.pem", leaf.chainPEM)
            try desk.write("pins.key", leaf.key.privateKeyPEM)

            let invite = try Self.commands(of: "passkey")
            #expect(invite.count == 4, "\(invite)")
            let line = desk.fitted(invite[0].text).replacing("0.0.0.0:443", with: "127.0.0.1:0")
            let server = try ServingProcess(
                ["/bin/bash", "-c", "exec \(line) --listen 127.0.0.1:0 --no-watch"], in: folder,
                environment: desk.environment)
            try await server.says("listening for administration on")
            for command in invite.dropFirst() { _ = try await run(command, desk) }
            #expect(await server.stop() == 0)
            _ = try await register(SoftPasskey(number: 31, id: [31]), link: "dave.link", on: desk)

            // The second one, which approves, as the page says to invite for it.
            for command in invite.dropFirst() {
                _ = try await run(command, desk) {
                    $0.replacing("sign-in", with: "approval").replacing("dave.", with: "approves.")
                        .replacing(".dave", with: ".approves")
                }
            }
            let phone = SoftPasskey.ed25519
            let identity = try await register(phone, link: "approves.link", on: desk)
            let name = try Self.commands(of: "passkey-approver")
            #expect(name.count == 4, "\(name)")
            #expect(try await run(name[0], desk).contains("dave  approval  \(identity)"))
            #expect(try await run(name[1], desk).contains("passkey of dave: \(identity)"))
            #expect(try await run(name[2], desk).contains("\(identity)"))
            let text = Array(try Data(contentsOf: folder.appending(path: "next.txt")))
            let signature = ApproverSignature(try phone.evidence(over: text)).fileContent
            try desk.write("dave.next", String(decoding: signature, as: UTF8.self))
            _ = try await run(name[3], desk)
            let approvers = try await desk.run("holdfast-server approvers --data /srv/pins")
            #expect(approvers.contains("dave  \(identity)  passkey"), "\(approvers)")
            await desk.host.shutdown()
        }
    }
}
