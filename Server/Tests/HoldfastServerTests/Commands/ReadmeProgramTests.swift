import Foundation
import HoldfastNIOTesting
import HoldfastTesting
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerStore
@testable import ServerWeb

/// The blocks of `docs/server/operating.md` that need programs of an operator: one that signs, one that takes notices.
@Suite("Programs that docs/server/operating.md names", .timeLimit(.minutes(10)))
struct ReadmeProgramTests {
    private static func block(_ name: String) throws -> Manual.Block {
        try Manual("docs/server/operating.md").block("run: \(name)")
    }

    /// Runs the commands of the first app, up to its publication.
    /// - Parameters:
    ///   - end: the first command that is left out.
    ///   - replacement: does something else in the place of a command; false to run it.
    private func makeFirstApp(
        _ desk: inout ManualDesk, until end: String = "holdfast-server serve",
        instead replacement: (String, inout ManualDesk) async throws -> Bool = { _, _ in false }
    ) async throws {
        let all = try Manual("Server/README.md").blocks.filter { $0.language == "sh" && $0.mark.isEmpty }
            .flatMap(\.commands)
        for command in all.prefix(while: { !$0.text.hasPrefix(end) }) {
            if try await replacement(command.text, &desk) { continue }
            for name in ["alice"] + command.others {
                let output = try await desk.run(command.text.replacing("alice", with: name))
                guard command.text.contains("change propose") else { continue }
                desk.change = String(output.prefix { $0 != "\n" }.dropFirst("change ".count))
            }
        }
    }

    /// Writes a program into the folder that stands for `/usr/local/bin`.
    private func install(_ name: String, _ text: String, on desk: ManualDesk) async throws {
        try await ExecutableScript.write(text, to: desk.folder.appending(path: "bin/\(name)"))
    }

    @Test(
        "app signer, as it stands there, has a key in a token sign what the example program believes",
        .needs(.holdfastctl, .softToken, .cryptography))
    func signer() async throws {
        try await withFolder { folder in
            var desk = try await ManualDesk(in: folder)
            let token = try await SoftToken(in: folder)
            let key = try await token.makeKey(id: "01")
            let base64 = Data(key.publicKey).base64EncodedString(options: .lineLength64Characters)
            try desk.write("list.pub", "-----BEGIN PUBLIC KEY-----\n\(base64)\n-----END PUBLIC KEY-----\n")
            try await install(
                "verifying-signer.py", String(contentsOf: VerifyingSigner.script, encoding: .utf8), on: desk)
            let log = folder.appending(path: "signer.log")
            try await makeFirstApp(&desk) { command, desk in
                guard command.contains("app key bank") else { return false }
                let server = try ServerFolder(folder.appending(path: "srv/pins")).readConfiguration()
                let settings: [String: Any] = [
                    "server": "\(server.server)", "genesis": "\(server.genesis)", "app": "bank",
                    "state": folder.appending(path: "signer.state").path, "log": log.path, "command": key.command,
                ]
                let file = folder.appending(path: "bank.json")
                try JSONSerialization.data(withJSONObject: settings).write(to: file)
                // No user of that name is here, and a machine that does much else takes longer than ten seconds.
                let text = try Self.block("signer").text
                    .replacing("/usr/bin/sudo -u signer ", with: "")
                    .replacing("/usr/bin/timeout", with: ForeignProgram.required("timeout").path)
                    .replacing("KILL 10", with: "KILL 120")
                    .replacing("/usr/local/bin/", with: "\(folder.path)/bin/")
                    .replacing("/etc/signer/bank.json", with: file.path)
                let line = text.trimmingCharacters(in: .newlines) + " --limit 120"
                let output = try await desk.run(line)
                desk.publicKey = Base64.encode(Array(key.publicKey.suffix(65)))
                #expect(output.contains(desk.publicKey), "\(output)")
                return true
            }
            for check in desk.checks { _ = try await desk.run(check) }
            #expect(FileManager.default.fileExists(atPath: log.path), "the program has signed")
            let examined = try await desk.run("holdfast-server doctor --data /srv/pins")
            #expect(examined.contains("has the key for fingerprints, and signs with it"), "\(examined)")
            await desk.host.shutdown()
        }
    }

    @Test(
        "The secret of the webhook is made, and serve started, as it stands there: program and webhook are told",
        .needs(.holdfastctl))
    func told() async throws {
        try await withFolder { folder in
            var desk = try await ManualDesk(in: folder)
            try await makeFirstApp(&desk, until: "holdfast-server approve")
            let told = folder.appending(path: "told")
            try await install("tell-us", "#!/bin/sh\nset -e\ncat >>'\(told.path)'\n", on: desk)
            let certificate = try desk.authority.leaf(names: [.address([127, 0, 0, 1])])
            try await WebhookReceiver.run(certificate) { [desk] receiver in
                let commands = try Self.block("notices").commands
                #expect(commands.count == 2, "\(commands)")
                _ = try await desk.run(commands[0].text)
                let line = desk.fitted(commands[1].text)
                    .replacing("/usr/local/bin/", with: "\(folder.path)/bin/")
                    .replacing("https://hooks.example.com/", with: "https://127.0.0.1:\(receiver.port)/")
                let server = try ServingProcess(
                    [
                        "/bin/bash", "-c",
                        "exec \(line) --webhook-ca roots.pem --allow 127.0.0.0/8 --no-watch --listen 127.0.0.1:0 "
                            + "--admin-listen 127.0.0.1:0",
                    ], in: folder, environment: desk.environment)
                let words = #""change":"\#(desk.change)""#
                func written() -> String { (try? String(contentsOf: told, encoding: .utf8)) ?? "" }
                func arrived() -> WebhookReceiver.Request? {
                    receiver.requests.first { String(decoding: $0.body, as: UTF8.self).contains(words) }
                }
                try await eventually("both are told: \(server.text)") { written().contains(words) && arrived() != nil }
                let request = try #require(arrived(), "\(server.text)")
                let secret = try WebhookSecret(
                    Array(try Data(contentsOf: folder.appending(path: "etc/holdfast/webhook"))))
                let id = try #require(RandomID(hex: (request.header("webhook-id") ?? "").utf8))
                let time = try #require(Int64(request.header("webhook-timestamp") ?? ""))
                #expect(
                    request.header("webhook-signature") == secret.signature(id: id, time: time, body: request.body))
                #expect(await server.stop() == 0)
            }
            await desk.host.shutdown()
        }
    }
}
