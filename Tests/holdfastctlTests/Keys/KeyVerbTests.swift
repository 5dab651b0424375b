import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl keygen, export and export-private", .timeLimit(.minutes(15)))
struct KeyVerbTests {
    private struct Keygen: Decodable {
        let file: String
        let publicKey: String
        let encrypted: Bool
    }

    @Test("A new key is encrypted, for its owner only, and export prints the public key that keygen printed")
    func keygen() async throws {
        try await SigningSite.with { site in
            try site.write("pw", "correct horse\n", mode: 0o600)
            let made = try await site.run(["keygen", "-o", "new.pem", "--password-file", "pw"])
            #expect(made.status == 0 && made.errors.isEmpty)
            #expect(try site.mode("new.pem") == 0o600)
            #expect(try site.text("new.pem").hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
            let exported = try await site.run(["export", "--key", "new.pem", "--password-file", "pw"])
            #expect(exported.status == 0 && exported.output == made.output)
            _ = try DocumentPublicKey(base64: made.lines.map(String.init).joined())

            let plain = try await site.run(["keygen", "-o", "plain.pem", "--no-password", "--json"])
            let report = try plain.json(Keygen.self)
            #expect(report.file == "plain.pem" && !report.encrypted)
            #expect(try site.mode("plain.pem") == 0o600)
            #expect(try SigningKey(pem: site.text("plain.pem")).publicKey.base64 == report.publicKey)
        }
    }

    @Test("A key that is there is never overwritten")
    func overwriting() async throws {
        try await SigningSite.with { site in
            let before = try site.text("key.pem")
            let run = try await site.run(["keygen", "-o", "key.pem", "--no-password"])
            #expect(run.status == 3 && run.output.isEmpty && run.errors.contains("key.pem is there already"))
            #expect(try site.text("key.pem") == before)
            let nowhere = try await site.run(["keygen", "-o", "nowhere/key.pem", "--no-password"])
            #expect(nowhere.status == 3 && nowhere.errors.contains("nowhere/key.pem"))
        }
    }

    @Test("A private key given where the name of its file belongs is not repeated")
    func keysAsArguments() async throws {
        let key = SigningKey()
        let files = [key.pem, try key.pem(password: [0x78], rounds: 1_000), try TestKey().privateKeyPEM]
        for pem in files {
            let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
            let given = [pem, lines.joined()]
            for arguments in given.flatMap({
                [["export", "--key", $0], ["pin", $0], ["sign", "x.json", "--key=\($0)"]]
            }) {
                let run = try await CommandRun.inProcess(arguments)
                #expect(run.status == 2)
                #expect(run.errors == "holdfastctl: \(PrivateKeyArgument.message)\n")
                #expect(!lines.contains { (run.output + run.errors).contains($0) })
            }
        }
    }

    @Test("A key as openssl ecparam writes it is read; its older encryption is named")
    func opensslKeys() async throws {
        try await SigningSite.with { site in
            let script = """
                openssl ecparam -name prime256v1 -genkey -out ec.pem && chmod 600 ec.pem
                openssl pkey -in ec.pem -pubout -outform der | tail -c 65 | openssl base64 -A; echo
                openssl ec -in ec.pem -aes128 -passout pass:x -out old.pem 2>/dev/null
                "$HOLDFASTCTL" export --key ec.pem; "$HOLDFASTCTL" export --key old.pem
                """
            let run = try await CommandRun.shell(script, in: site.folder)
            #expect(try site.text("ec.pem").contains("BEGIN EC PARAMETERS"))
            #expect(run.lines.count == 2 && run.lines.first == run.lines.last, "\(run.output)\(run.errors)")
            #expect(run.status == 3 && run.errors.contains("unsupportedEncryption"))
        }
    }

    @Test("Who gives a folder is told that it is one")
    func folder() async throws {
        try await SigningSite.with { site in
            for arguments in [["export", "--key", "."], ["pin", "."], ["list", "show", "."]] {
                let run = try await site.run(arguments)
                #expect(run.status == 3 && run.errors.contains(". cannot be read: it is a folder"), "\(run.errors)")
            }
        }
    }

    @Test("export-private prints the number as the reference tool does")
    func exportPrivate() async throws {
        try await SigningSite.with { site in
            let number = "TqkO8z2fD4uCLn0S5IwbK0y8UN24cOVean+ndd3YiSo="
            try site.write("vector.pem", try SigningKey(exportedPrivateKey: number).pem, mode: 0o600)
            let run = try await site.run(["export-private", "--key", "vector.pem"])
            #expect(run.status == 0 && run.errors.isEmpty && run.output == number + "\n")
        }
    }

    @Test("A password comes from a file, a descriptor, or a prompt without echo; never from the command line")
    func passwords() async throws {
        try await SigningSite.with { site in
            try site.write("enc.pem", try site.key.pem(password: Array("pässword".utf8), rounds: 1_000), mode: 0o600)
            try site.write("pw", "pässword\r\nsecond line\n", mode: 0o600)
            #expect(try await CommandRun.shell("mkfifo fifo", in: site.folder).status == 0)
            for way in [
                "--password-file pw", "--password-fd 3 3<pw", "--password-fd 0 <pw", "--password-file <(cat pw)",
                // The end of the line is enough, even if the pipe stays open.
                "--password-fd 4 4<>fifo & cat pw >fifo; wait $!",
            ] {
                let run = try await CommandRun.shell("\"$HOLDFASTCTL\" export --key enc.pem \(way)", in: site.folder)
                #expect(run.status == 0 && run.errors.isEmpty && run.output == site.publicKey + "\n")
            }
        }
    }

    @Test(
        "On a terminal the password is asked for, twice for a new key, and not shown",
        .needs(.python))
    func prompt() async throws {
        try await SigningSite.with { site in
            try site.write("terminal.py", TerminalScript.with)
            // The terminal itself echoes input before the prompt; the rest is the command's.
            func typing(_ text: String, _ command: String) async throws -> CommandRun {
                try await CommandRun.shell(
                    "printf '\(text)' | python3 terminal.py \"'$HOLDFASTCTL' \(command)\"", in: site.folder)
            }
            let made = try await typing("secret\\nsecret\\n", "keygen -o new.pem")
            #expect(made.status == 0 && made.output.contains("Password of new.pem: "))
            #expect(made.output.contains("Once more: "))
            let opened = try await typing("secret\\n", "export --key new.pem")
            #expect(opened.status == 0)
            let key = try SigningKey(pem: site.text("new.pem"), password: Array("secret".utf8))
            #expect(opened.output.contains(try key.publicKey.base64))
            let differing = try await typing("secret\\nother\\n", "keygen -o other.pem")
            #expect(differing.status == 2 && differing.output.contains("the two passwords differ"))
            #expect(!FileManager.default.fileExists(atPath: site.folder.appending(path: "other.pem").path))
            let empty = try await typing("\\n\\n", "keygen -o other.pem")
            #expect(empty.status == 2 && empty.output.contains("is empty"))
        }
    }

    @Test(
        "Without a terminal and without an option the command says what it needs; a wrong password is named",
        .needs(.python))
    func noPassword() async throws {
        try await SigningSite.with { site in
            try site.write("enc.pem", try site.key.pem(password: Array("right".utf8), rounds: 1_000), mode: 0o600)
            try site.write("no-terminal.py", TerminalScript.without)
            let none = try await CommandRun.shell(
                "exec python3 no-terminal.py \"$HOLDFASTCTL\" export --key enc.pem", in: site.folder)
            #expect(none.status == 2 && none.errors.contains("--password-file or --password-fd"))
            try site.write("pw", "wrong\n", mode: 0o600)
            let wrong = try await site.run(["export", "--key", "enc.pem", "--password-file", "pw"])
            #expect(wrong.status == 3 && wrong.errors.contains("wrongPassword") && !wrong.errors.contains("wrong\n"))
            let missing = try await site.run(["export", "--key", "enc.pem", "--password-file", "nowhere"])
            #expect(missing.status == 3 && missing.errors.contains("nowhere"))
            let closed = try await site.run(["export", "--key", "enc.pem", "--password-fd", "99"])
            #expect(closed.status == 3 && closed.errors.contains("descriptor 99"))
        }
    }

    @Test("A key or password file that others may read is used with a warning")
    func looseMode() async throws {
        try await SigningSite.with { site in
            try site.write("loose.pem", site.key.pem, mode: 0o640)
            let run = try await site.run(["export", "--key", "loose.pem"])
            #expect(run.status == 0 && run.errors.contains("warning: loose.pem has mode 0640"))
            try site.write("enc.pem", try site.key.pem(password: Array("pw".utf8), rounds: 1_000), mode: 0o600)
            try site.write("pw", "pw", mode: 0o604)
            let other = try await site.run(["export", "--key", "enc.pem", "--password-file", "pw"])
            #expect(other.status == 0 && other.errors.contains("warning: pw has mode 0604"))
        }
    }

    @Test("What is no key of P-256 is named and exits with 3")
    func otherFiles() async throws {
        try await SigningSite.with { site in
            try site.write("p384.pem", TestKey(.p384).privateKeyPEM, mode: 0o600)
            try site.write("junk.pem", "junk", mode: 0o600)
            for (file, code) in [
                ("p384.pem", "unsupportedKey"), ("junk.pem", "notAKeyFile"), ("root.pem", "notAKeyFile"),
                ("missing.pem", "cannot be read"),
            ] {
                let run = try await site.run(["export", "--key", file])
                #expect(run.status == 3 && run.output.isEmpty)
                #expect(run.errors.contains("\(file)") && run.errors.contains(code), "\(run.errors)")
            }
        }
    }
}

@Suite("Keys of holdfastctl and openssl", .needs(.openSSL), .timeLimit(.minutes(15)))
struct KeyForeignTests {
    private func publicKey(ofPEM file: String, _ site: SigningSite) async throws -> String {
        let output = try await OpenSSLProgram.run(
            ["pkey", "-in", file, "-passin", "file:pw", "-pubout", "-out", "\(file).pub"], in: site.folder)
        try #require(output.status == 0, "\(output.text)")
        // The command reads a public key in PEM too.
        return "\(file).pub"
    }

    @Test("openssl opens what keygen wrote, and signs what verify accepts")
    func ours() async throws {
        try await SigningSite.with { site in
            try site.write("pw", "correct horse\n", mode: 0o600)
            let made = try await site.run(["keygen", "-o", "new.pem", "--password-file", "pw"])
            let publicKey = try await publicKey(ofPEM: "new.pem", site)
            let signed = try await site.run([
                "sign", "--key", "new.pem", "--password-file", "pw", "--list", "pins.json", "-n", "www.example.com",
                "-f", SigningSite.hex(0xA5), "-t", "9000000000", "--force", "offline",
            ])
            #expect(signed.status == 0)
            for key in [publicKey, made.output.trimmingCharacters(in: .newlines)] {
                #expect(try await site.run(["verify", "pins.json", "--public-key", key]).status == 0)
            }
        }
    }

    @Test("Keys of Ed25519 for repositories: openssl reads those of keygen, and the command those of openssl")
    func ed25519() async throws {
        try await SigningSite.with { site in
            try site.write("pw", "correct horse\n", mode: 0o600)
            let script = #"""
                set -euo pipefail
                "$HOLDFASTCTL" keygen --kind ed25519 -o ours.pem --password-file pw > ours.pub
                "$HOLDFASTCTL" keygen --kind ed25519 -o plain.pem --no-password > plain.pub
                for name in ours plain; do
                    openssl pkey -in $name.pem -passin file:pw -pubout -outform der | tail -c 32 | base64 > $name.theirs
                    cmp $name.pub $name.theirs
                    "$HOLDFASTCTL" export --key $name.pem --password-file pw | cmp - $name.pub
                done
                openssl genpkey -algorithm ed25519 -aes-256-cbc -pass file:pw -out theirs.pem && chmod 600 theirs.pem
                openssl pkey -in theirs.pem -passin file:pw -pubout -out theirs.pub
                openssl pkey -pubin -in theirs.pub -outform der | tail -c 32 | base64 > theirs.text
                "$HOLDFASTCTL" export --key theirs.pem --password-file pw | cmp - theirs.text
                "$HOLDFASTCTL" repository init site --password-file pw --root-key ours.pem --root-key theirs.pem \
                    --root-threshold 2 --targets-key theirs.text --online-key plain.pub
                """#
            let run = try await CommandRun.shell(script, in: site.folder)
            #expect(run.status == 0, "\(run.output)\(run.errors)")
            #expect(run.output.contains("root, by the keys of root 1: 2 of 2 needed"), "\(run.output)")
            for wrong in [["--tls", SigningSite.name], ["--kind", "rsa"]] {
                #expect(try await site.run(["keygen", "--kind", "ed25519", "-o", "x.pem"] + wrong).status == 2)
            }
        }
    }

    @Test(
        "The command opens what openssl wrote, as the reference tool's library writes it too",
        arguments: [
            ["-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA256"], ["-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA256"],
            ["-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA1"], ["-nocrypt"],
        ])
    func theirs(encryption: [String]) async throws {
        try await SigningSite.with { site in
            try site.write("pw", "correct horse\n", mode: 0o600)
            let output = try await OpenSSLProgram.run(
                ["pkcs8", "-topk8", "-in", "key.pem", "-out", "theirs.pem", "-passout", "file:pw"] + encryption,
                in: site.folder)
            try #require(output.status == 0, "\(output.text)")
            let run = try await site.run(["export", "--key", "theirs.pem", "--password-file", "pw"])
            #expect(run.status == 0 && run.output == site.publicKey + "\n")
        }
    }
}
