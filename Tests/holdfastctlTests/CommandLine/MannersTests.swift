import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("Manners of holdfastctl", .timeLimit(.minutes(15)))
struct MannersTests {
    // MARK: Standard input and output

    @Test(
        "A hyphen is standard input, for every verb that reads a file",
        arguments: [
            "pin - < leaf.pem", "pin leaf.pem - < key.pem", "export --key - < key.pem",
            "sign leaf.pem --key key.pem --force offline --ca - < root.pem",
            "sign - --key key.pem --force offline --ca root.pem < leaf.pem",
            "verify - --public-key signer.pub < pins.json", "verify pins.json --public-key - < signer.pub",
            "list show - < pins.json",
            "export - --format android --force offline < bank.pins.json",
            "import - --from android --role leaf < android.xml",
            "show - < leaf.pem", "show - < bank.pins.json", "show pins.json --public-key - < signer.pub",
            "export --key locked.pem --password-file - < pw", "keygen -o new.pem --password-file - < pw",
        ])
    func standardInput(line: String) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try site.list([("www.example.com", "a", 30), ("www.example.com", "b", 30)])
            try site.write("signer.pub", site.publicKey)
            try site.write("pw", "secret\n", mode: 0o600)
            try site.write("locked.pem", try site.key.pem(password: Array("secret".utf8), rounds: 100), mode: 0o600)
            let file = try PinExportTests.plain()
            try site.write("bank.pins.json", String(decoding: file.json, as: UTF8.self))
            try site.write("android.xml", try PinExport(file, as: .android).text(isFragment: false))
            let run = try await CommandRun.shell("\"$HOLDFASTCTL\" \(line)", in: site.folder)
            #expect(run.status == 0 && !run.output.isEmpty, "\(run.errors)")
        }
    }

    @Test("A list goes from standard input to standard output, and what was done is told on standard error")
    func filter() async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try site.list([("www.example.com", "a", 30), ("www.example.com", "b", -30)])
            try site.write("signer.pub", site.publicKey)
            let pruned = try await CommandRun.shell(
                "\"$HOLDFASTCTL\" list prune - --public-key signer.pub < pins.json > out.json && "
                    + "\"$HOLDFASTCTL\" verify out.json --public-key signer.pub", in: site.folder)
            #expect(pruned.status == 0 && pruned.output.contains("1 entry"), "\(pruned.errors)")
            #expect(pruned.errors.contains("1 removed, 1 left"))
            let signed = try await CommandRun.shell(
                "\"$HOLDFASTCTL\" sign leaf.pem --key key.pem --ca root.pem --list - < out.json | "
                    + "\"$HOLDFASTCTL\" verify - --public-key signer.pub", in: site.folder)
            #expect(signed.status == 0 && signed.output.contains("2 entries"), "\(signed.errors)")
        }
    }

    @Test("A key that is made for standard output stands there alone")
    func keygen() async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.shell(
                "\"$HOLDFASTCTL\" keygen -o - --no-password > key.pem && \"$HOLDFASTCTL\" export --key key.pem",
                in: folder)
            #expect(run.status == 0 && run.errors.contains(run.output), "\(run.errors)")
            #expect(run.errors.contains("warning: key.pem has mode"))
        }
    }

    @Test(
        "A closed pipe ends any verb quietly, with the signal that ends other programs",
        arguments: ["check \"$HOST\" --ca root.pem", "pin \"$HOST\" --ca root.pem", "pin root.pem", "--help"])
    func closedPipe(line: String) async throws {
        let site = try TestSite()
        try await withTemporaryFolder { folder in
            try Data(site.root.certificate.pem.utf8).write(to: folder.appending(path: "root.pem"))
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                let script = """
                    HOST="api.example.com --connect-to 127.0.0.1:\(server.port)"
                    set -f; (sleep 0; "$HOLDFASTCTL" \(line.replacing("\"$HOST\"", with: "$HOST")); echo "ended $?" >&2) | true
                    """
                // The reader is gone before or after the first line: it ends by the signal, or had said all.
                let run = try await CommandRun.shell(script, in: folder)
                let said = run.errors.split(separator: "\n").filter { !$0.contains(" has no backup pin: ") }
                #expect(said == ["ended 141"] || said == ["ended 0"], "\(run.errors)")
            }
        }
    }

    // MARK: Terminals

    @Test(
        "A private key is shown on a terminal only to somebody who says yes",
        .needs(.python),
        arguments: [("yes", true), ("no", false), ("", false), ("y", false)])
    func confirmation(answer: String, isShown: Bool) async throws {
        try await SigningSite.with { site in
            let program = try #require(CommandRun.program)
            let script = """
                import os, pty, sys
                pid, master = pty.fork()
                if pid == 0: os.execv(sys.argv[1], [sys.argv[1]] + sys.argv[3:])
                heard = b""
                while b"[yes/no] " not in heard: heard += os.read(master, 4096)
                os.write(master, sys.argv[2].encode() + b"\\n")
                try:
                    while True:
                        more = os.read(master, 4096)
                        if not more: break
                        heard += more
                except OSError: pass
                print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])); print(heard.decode())
                """
            for (arguments, secret) in [
                (["export-private", "--key", "key.pem"], site.key.exportedPrivateKey),
                (["keygen", "-o", "-", "--no-password"], "PRIVATE KEY-----"),
            ] {
                let run = try await CommandRun.run(
                    try #require(ForeignPeers.python), ["-c", script, program.path, answer] + arguments, in: site.folder
                )
                #expect(run.status == 0, "\(run.errors)")
                #expect(run.output.contains(secret) == isShown, "\(run.output)")
                #expect(run.output.hasPrefix(isShown ? "0\n" : "2\n"))
            }
        }
    }

    // MARK: Hosts and files

    @Test("Several hosts, and files with them, are pinned in one call")
    func together() async throws {
        let site = try TestSite()
        let backup = try TestKey(.p384)
        try await withTemporaryFolder { folder in
            try Data(site.root.certificate.pem.utf8).write(to: folder.appending(path: "root.pem"))
            try Data(backup.publicKeyPEM.utf8).write(to: folder.appending(path: "backup.pem"))
            // A folder that is named as a host is not meant.
            try FileManager.default.createDirectory(
                at: folder.appending(path: "api.example.com"), withIntermediateDirectories: false)
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                let connection = ["--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)"]
                let own = try Pin.publicKey(of: site.leaf.der).description
                let spare = try Pin.publicKey(spkiDER: backup.subjectPublicKeyInfoDER).description
                let run = try await CommandRun.holdfastctl(
                    ["pin", "api.example.com", "backup.pem", "API.example.com:8443", "--certificates", "leaf"]
                        + connection, in: folder)
                #expect(run.status == 0, "\(run.errors)")
                let pins = run.lines.filter { $0.hasPrefix("sha256/") }
                #expect(pins == [own[...], own[...], spare[...]])
                #expect(run.lines.contains("# api.example.com:8443"))

                let snippet = try await CommandRun.holdfastctl(
                    ["pin", "api.example.com", "backup.pem", "--format", "okhttp"] + connection, in: folder)
                #expect(snippet.status == 0 && snippet.output.contains(own) && snippet.output.contains(spare))

                let failing = try await CommandRun.holdfastctl(
                    ["pin", "api.example.com", "other.example"] + connection, in: folder)
                #expect(failing.status == 1 && failing.output.isEmpty)
                #expect(failing.errors.contains("other.example:443: the chain of"), "\(failing.errors)")
            }
        }
    }

    @Test("Of a file with a chain a configuration gets the leaf alone, unless more is asked for")
    func fullChain() async throws {
        try await withTemporaryFolder { folder in
            let site = try TestSite()
            try Data(site.leaf.chainPEM.utf8).write(to: folder.appending(path: "fullchain.pem"))
            let run = try await CommandRun.inProcess(
                ["pin", "fullchain.pem", "--format", "okhttp", "--host", "api.example.com"], in: folder)
            let pins = try site.keyPins()
            #expect(run.status == 0 && run.output.contains(pins[0]) && !run.output.contains(pins[1]))
        }
    }

    // MARK: Help

    /// A verb as ArgumentParser describes it to other tools.
    private struct Verb: Decodable {
        let commandName: String
        let superCommands: [String]?
        let discussion: String?
        let subcommands: [Verb]?

        var words: [String] { Array(((superCommands ?? []) + [commandName]).dropFirst()) }
        /// Its lines that are typed.
        var lines: [Substring] { (discussion ?? "").split(separator: "\n").filter { $0.hasPrefix("  ") } }
        /// The same, as the shell joins them.
        var examples: [String] {
            lines.joined(separator: "\n").replacing(/\\\n */, with: "").split(separator: "\n")
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        var all: [Verb] { [self] + (subcommands ?? []).filter { $0.commandName != "help" }.flatMap(\.all) }
    }

    private static func verbs() async throws -> [Verb] {
        struct Dump: Decodable {
            let command: Verb
        }
        return try await CommandHelp.json(Dump.self).command.all
    }

    @Test("Help fits 80 columns, and its examples stand there as they are typed")
    func width() async throws {
        let verbs = try await Self.verbs()
        #expect(verbs.count > 12)
        for verb in verbs {
            let help = try await CommandRun.holdfastctl(verb.words + ["--help"], environment: ["COLUMNS": "80"])
            for line in help.lines { #expect(line.count <= 80, "\(verb.words): \(line)") }
            for line in verb.lines { #expect(help.lines.contains(line), "\(verb.words): \(line)") }
        }
    }

    @Test("Every example that is one call of the command is one that it takes")
    func examples() async throws {
        var count = 0
        for example in try await Self.verbs().flatMap(\.examples) where example.hasPrefix("holdfastctl ") {
            let words = example.replacing("'", with: "").split(separator: " ").dropFirst().map(String.init)
            let call = Array(words.prefix { !["|", ">", "3<"].contains($0) })
            // Keys in files that are not here, and what ends in another way than by running a verb.
            guard !call.contains(where: { $0.hasSuffix(".pub") || $0.hasPrefix("--generate") }) else { continue }
            #expect(throws: Never.self, "\(example)") { _ = try EntryPoint.command(call) }
            count += 1
        }
        #expect(count > 30)
    }
}
