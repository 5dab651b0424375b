import Foundation
import HoldfastNIOTesting
import HoldfastSigning
import Testing

@testable import PinPublication
@testable import ServerModel

/// Every command of `Server/README.md`, and then those of the pages for operators that need nothing else, in order, in
/// a folder of its own, with a host on loopback. The block that installs is left to `scripts/nightly`: a test cannot
/// build what it is built with.
@Suite("The README of the server", .timeLimit(.minutes(10)))
struct ReadmeTests {
    /// The commands of the README, up to an app that gets in.
    private func commands() throws -> [Manual.Command] {
        try Manual("Server/README.md").blocks.filter { $0.language == "sh" && $0.mark.isEmpty }.flatMap(\.commands)
    }

    /// The commands of blocks on the pages for operators.
    private func commands(of names: String...) throws -> [Manual.Command] {
        let manual = try Manual.procedures()
        return try names.flatMap { try manual.block("run: \($0)").commands }
    }

    /// Expected outputs, by the beginning of the command: the first that fits.
    private static let answers = [
        ("holdfastctl keygen", ""), ("holdfast-server genesis", "With 3 approvers of whom 2 must agree"),
        ("holdfast-server sign", "These 3 people approve from now on, 2 for each change?"),
        ("holdfast-server init", "The approvers' digest, which is worth writing down"), ("holdfast-server app add", ""),
        ("holdfast-server app key", "="), ("holdfast-server host add", ""),
        ("holdfast-server host see", " key "),
        ("holdfast-server app reports", "bank takes reports"), ("holdfast-server next chain", ""),
        ("holdfast-server change propose", "gate replay: passed"),
        ("holdfast-server approve", "approve: "),
        ("holdfast-server publish CHANGE --data /srv/pins --dry-run", "approved"),
        ("holdfast-server publish", "published: generation 1"), ("holdfast-server status", "bank  generation 1"),
        ("holdfast-server doctor", "all that is published was approved"),
        ("holdfast-server gate", "ready: every client gets in with it"),
        ("holdfast-server backup", "worth writing down"),
        ("holdfast-server restore pins.backup --check", "every key opens"),
        ("holdfast-server restore", "The server may start."),
        ("holdfast-server reseal", "all keys are sealed with a new secret"),
        ("holdfast-server resume", "The clock is believed as it is"),
    ]

    @Test(
        "Every command does what it is there for, in its order, and an app gets in", .needs(.holdfastctl))
    func commandsWork() async throws {
        try await withFolder { folder in
            var desk = try await ManualDesk(in: folder)
            var left = Set(Self.answers.map(\.0))
            var served = 0
            for command in try commands() + commands(of: "reports", "clock", "replace-key", "backup", "reseal") {
                if command.text.hasPrefix("holdfast-server serve") {
                    let line = "exec \(desk.fitted(command.text)) --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0"
                    let server = try ServingProcess(["/bin/bash", "-c", line], environment: desk.environment)
                    try await server.says("listening for apps on")
                    #expect(try await desk.letsIn(from: server.port), "\(server.text)")
                    #expect(await server.stop() == 0)
                    for check in desk.checks { _ = try await desk.run(check) }
                    served += 1
                    continue
                }
                let expected = try #require(Self.answers.first { command.text.hasPrefix($0.0) }, "\(command.text)")
                left.remove(expected.0)
                for name in ["alice"] + command.others {
                    let output = try await desk.run(command.text.replacing("alice", with: name))
                    #expect(expected.1.isEmpty || output.contains(expected.1), "\(command.text): \(output)")
                    if command.text.contains("change propose") {
                        desk.change = String(output.prefix { $0 != "\n" }.dropFirst("change ".count))
                    } else if command.text.contains("app key") {
                        // The output about the clients of the old key comes after it.
                        desk.publicKey = String(output.prefix { $0 != "\n" })
                    }
                }
                // Before the secret, which both servers have in one file, is another.
                guard command.text.contains("/srv/restored") else { continue }
                _ = try await desk.run("holdfast-server doctor --data /srv/restored")
                let list = "public/lists/bank.json"
                #expect(
                    try Data(contentsOf: folder.appending(path: "srv/restored/\(list)"))
                        == Data(contentsOf: folder.appending(path: "srv/pins/\(list)")))
            }
            #expect(left.isEmpty && served == 1, "\(left)")
            _ = try await desk.run("holdfast-server doctor --data /srv/pins")
            // A backup of before the change of the secret needs the old one, of which there is a copy.
            let check = "holdfast-server restore pins.backup --check --key backup.pem --password-file backup.password"
            _ = try await desk.run("\(check) --secret /media/safe/secret")
            let wrong = try await desk.run("! \(check) --secret /etc/holdfast/secret")
            #expect(wrong.contains("the secret of the time of the backup"))
            await desk.host.shutdown()
        }
    }

    @Test("Every block is a command that a test runs, or installs")
    func everyBlock() throws {
        for block in try Manual("Server/README.md").blocks {
            #expect(block.language == "sh" && ["", "install"].contains(block.mark), "nothing runs \(block.text)")
        }
    }

    @Test("The file about hosts without pins is read, and says what it is there for")
    func files() throws {
        let file = try Manual.procedures().block("run: domains").text
        let domains = try ContentDomains(Array(file.utf8), named: "domains.json")
        #expect(domains.unlistedNeedPins && domains.domains.map(\.needsPins) == [false])
    }

    @Test("Commands about places do what they are there for", .needs(.holdfastctl))
    func placesWork() async throws {
        try await withFolder { folder in
            let desk = try await ManualDesk(in: folder)
            for command in try commands().prefix(while: { !$0.text.contains("host add") }) {
                for name in ["alice"] + command.others {
                    _ = try await desk.run(command.text.replacing("alice", with: name))
                }
            }
            let places = try commands(of: "places").map(\.text)
            #expect(places.count == 4, "\(places)")
            let list = "holdfast-server place list bank --data /srv/pins"
            for command in places {
                let said = try await desk.run(command)
                let listed = try await desk.run(list)
                switch true {
                case command.contains("add bank folder"):
                    #expect(listed.contains("folder  https://pins.example.com"), "\(listed)")
                    #expect(listed.contains("apps ask challenges at https://pins.example.com"), "\(listed)")
                case command.contains("add bank bucket"):
                    #expect(listed.contains("bucket  https://pins.example.com"), "\(listed)")
                case command.contains("remove bank bucket"): #expect(!listed.contains("bucket"), "\(listed)")
                default: #expect(said == listed)
                }
            }
            await desk.host.shutdown()
        }
    }

    @Test(
        "The commands of a repository do what they are there for, after those of the first app",
        .needs(.holdfastctl))
    func repositoryWorks() async throws {
        try await withFolder { folder in
            var desk = try await ManualDesk(in: folder)
            for name in ["ann", "tom", "eve"] {
                let key = TUFSigningKey()
                try Data(try #require(key.publicKeyText).utf8).write(to: folder.appending(path: "\(name).pub"))
                let file = folder.appending(path: "\(name).pem")
                try Data(try #require(key.pem).utf8).write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            }
            for command in try commands().prefix(while: { !$0.text.contains("change propose") }) {
                for name in ["alice"] + command.others {
                    _ = try await desk.run(command.text.replacing("alice", with: name))
                }
            }
            var published = 0
            for command in try commands(of: "repository", "repository-rotate") {
                var lines = [command.text]
                if command.text.contains("--key tom.pem") {
                    lines = ["tom", "eve"].map { command.text.replacing("tom", with: $0) }
                }
                for line in lines {
                    let output = try await desk.run(line)
                    if line.contains("app repository publish") {
                        #expect(output.contains("published: root 2"), "\(output)")
                        published += 1
                    } else if line.contains("holdfast-server publish") {
                        #expect(output.contains("published: generation 1"), "\(output)")
                        published += 1
                    }
                    guard line.contains("change propose") else { continue }
                    desk.change = String(output.prefix { $0 != "\n" }.dropFirst("change ".count))
                    for name in ["alice", "bob"] {
                        let approve = "holdfast-server approve CHANGE --data /srv/pins --key alice.pem"
                        _ = try await desk.run(
                            "\(approve) --password-file alice.password".replacing("alice", with: name))
                    }
                }
            }
            #expect(published == 2)
            let bundle = folder.appending(path: "srv/pins/public/repo/bank/bundle.json")
            #expect(FileManager.default.fileExists(atPath: bundle.path))
            try await desk.everybodyFollows()
            _ = try await desk.run("holdfast-server doctor --data /srv/pins")
            await desk.host.shutdown()
        }
    }
}
