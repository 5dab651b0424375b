import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl repository --signer-command", .timeLimit(.minutes(15)))
struct SignerCommandTests {
    /// Root and pins are signed by a key that only a program has.
    private struct Site {
        let site: SigningSite

        static func with(_ body: (Site) async throws -> Void) async throws {
            try await SigningSite.with { site in
                let (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
                let host = try PinFile.Host(
                    try HostPattern(SigningSite.name),
                    pins: [
                        try PinFile.KeyPin(Pin.publicKey(of: leaf.der)),
                        try PinFile.KeyPin(Pin.publicKey(of: backup.der), state: .backup),
                    ])
                try site.write("bank.pins.json", String(decoding: try PinFile(hosts: [host]).json, as: UTF8.self))
                let online = try await site.run(["keygen", "-o", "online.pem", "--no-password"])
                try site.write("online.pub", online.output)
                try await body(Site(site: site))
            }
        }

        /// Makes a program of the shell.
        func program(_ name: String, _ script: String) async throws {
            try await ExecutableScript.write("#!/bin/sh\n\(script)\n", to: site.folder.appending(path: name))
        }

        @discardableResult
        func shell(_ script: String, environment: [String: String] = [:]) async throws -> CommandRun {
            let run = try await CommandRun.run(
                URL(filePath: "/bin/bash"), ["-euo", "pipefail", "-c", script], environment: environment,
                in: site.folder)
            #expect(run.status == 0, "\(run.output)\(run.errors)")
            return run
        }

        func repository(
            _ arguments: [String], environment: [String: String] = [:], status: Int32 = 0,
            at line: SourceLocation = #_sourceLocation
        ) async throws -> CommandRun {
            let run = try await CommandRun.holdfastctl(
                ["repository"] + arguments + SigningSite.offline(arguments.first), environment: environment,
                in: site.folder)
            #expect(run.status == status, "\(run.output)\(run.errors)", sourceLocation: line)
            return run
        }

        /// From the first root to what clients take, with nothing but the offline key and the online key.
        /// - Parameter first: what `init` gets instead of `signer`.
        func publish(
            offline: String = "offline.pub", signer: [String], first: [String]? = nil,
            environment: [String: String] = [:]
        ) async throws {
            let keys = ["--offline-key", offline, "--online-key", "online.pem"]
            let begun = try await repository(
                ["init", "site", "--small"] + keys + (first ?? signer), environment: environment)
            #expect(begun.output.contains("root, by the keys of root 1: 1 of 1 needed"), "\(begun.output)")
            let pins = ["pins", "site", "bank.pins.json"]
            _ = try await repository(pins + signer, environment: environment)
            _ = try await repository(["publish", "site", "--key", "online.pem", "--force", "offline"])
            let rotated = try await repository(
                ["rotate", "site", "--role", "root"] + signer, environment: environment)
            #expect(rotated.output.contains("by the keys of root 2: 1 of 1 needed"), "\(rotated.output)")
            _ = try await repository(["publish", "site", "--key", "online.pem", "--force", "offline"])
            #expect(try await repository(["status", "site"], status: 3).output.hasPrefix("Clients accept it;"))
        }

        var drafts: [String: Data] {
            get throws {
                let folder = site.folder.appending(path: "site/draft")
                var files: [String: Data] = [:]
                for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                    files[name] = try Data(contentsOf: folder.appending(path: name))
                }
                return files
            }
        }
    }

    @Test("A command is a program and its arguments; quotes keep blanks together, and no shell reads it")
    func words() {
        #expect(SignerProgram.words(" a  b\tc\n") == ["a", "b", "c"])
        #expect(SignerProgram.words("a 'b c' \"d'e\" f''g '' \"\"") == ["a", "b c", "d'e", "fg", "", ""])
        #expect(SignerProgram.words("sh -c 'a | b; c $D `e` \\f'") == ["sh", "-c", "a | b; c $D `e` \\f"])
        for wrong in ["", " ", "'a", "a \"b'", "'' a"] { #expect(SignerProgram.words(wrong) == nil, "\(wrong)") }
    }

    @Test(
        "What openssl signs is taken: of Ed25519, of P-256 and P-384 in DER, of RSA with PSS",
        .needs(.openSSL),
        arguments: [
            ("-algorithm ed25519", "openssl pkeyutl -sign -rawin -inkey key.pem -in /dev/stdin"),
            ("-algorithm EC -pkeyopt ec_paramgen_curve:P-256", "openssl dgst -sha256 -sign key.pem"),
            ("-algorithm EC -pkeyopt ec_paramgen_curve:P-384", "openssl dgst -sha384 -sign key.pem"),
            (
                "-algorithm RSA -pkeyopt rsa_keygen_bits:2048",
                "openssl dgst -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest -sign key.pem"
            ),
        ])
    func openssl(key: String, command: String) async throws {
        try await Site.with { site in
            try await site.shell(
                "openssl genpkey \(key) -out key.pem && openssl pkey -in key.pem -pubout -out offline.pub")
            try await site.publish(signer: ["--signer-command", command])
            let url = site.site.folder.appending(path: "site/public")
            _ = try RepositoryApp(url, name: SigningSite.name)
        }
    }

    @Test(
        "Keys that openssl makes sign from their files, whatever their kind and form, encrypted or not",
        .needs(.openSSL),
        arguments: [
            "openssl genpkey -algorithm ed25519",
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384",
            "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048",
            "openssl ecparam -genkey -name secp384r1",
            "openssl genrsa -traditional 3072",
            "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -aes256 -pass file:password",
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -aes256 -pass file:password",
        ])
    func files(command: String) async throws {
        try await Site.with { site in
            try await site.shell(
                "umask 077; printf 'correct horse' >password; \(command) >offline.pem; chmod 600 offline.pem")
            let password = command.contains("-pass") ? ["--password-file", "password"] : []
            try await site.publish(
                offline: "offline.pem", signer: ["--key", "offline.pem"] + password, first: password)
            _ = try RepositoryApp(site.site.folder.appending(path: "site/public"), name: SigningSite.name)
        }
    }

    @Test("Several keyholders and the online key sign by programs; an id or a file says which key is whose")
    func several() async throws {
        try await Site.with { site in
            for name in ["ann", "bob"] {
                try await site.shell(
                    """
                    "$H" keygen --kind ed25519 -o \(name).pem --no-password > \(name).pub
                    """, environment: ["H": try #require(CommandRun.program).path])
            }
            func signer(_ name: String, _ key: String? = nil) -> [String] {
                ["--signer-command", "openssl pkeyutl -sign -rawin -inkey '\(name).pem' -in /dev/stdin"]
                    + (key.map { ["--signer-key", $0] } ?? [])
            }
            _ = try await site.repository(
                [
                    "init", "site", "--root-key", "ann.pub", "--root-key", "bob.pub", "--root-threshold", "2",
                    "--targets-key", "ann.pub", "--targets-key", "bob.pub", "--online-key", "online.pub",
                ] + signer("ann", "ann.pub") + signer("bob", "bob.pub"))
            _ = try await site.repository(["pins", "site", "bank.pins.json"])
            let vague = try await site.repository(["sign", "site"] + signer("ann"), status: 2)
            #expect(vague.errors.contains("say with --signer-key"), "\(vague.errors)")
            let other = try await site.repository(["sign", "site"] + signer("ann", "online.pub"), status: 2)
            #expect(other.errors.contains("names no key that could sign"), "\(other.errors)")
            let id = try TUFPublicKey(Data(try site.site.text("bob.pub").utf8)).id
            let wrong = try await site.repository(["sign", "site"] + signer("ann", String(id.prefix(8))), status: 1)
            #expect(wrong.errors.contains("wrongSignature"), "\(wrong.errors)")
            _ = try await site.repository(["sign", "site"] + signer("bob", String(id.prefix(8))))
            let online = ["--signer-command", "openssl dgst -sha256 -sign online.pem"]
            _ = try await site.repository(["publish", "site", "--force", "offline"] + online)
            let renewed = try await site.repository(["renew", "site"] + online)
            #expect(renewed.lines.first == "Renewed: root 1, targets 1, timestamp 2")
        }
    }

    @Test("A program that fails, hangs, says nothing, too much or something else: a clear error, and nothing is lost")
    func trouble() async throws {
        try await Site.with { site in
            try await site.shell(
                "openssl genpkey -algorithm ed25519 -out key.pem && openssl pkey -in key.pem -pubout -out offline.pub")
            _ = try await site.repository([
                "init", "site", "--small", "--offline-key", "offline.pub", "--online-key", "online.pem",
            ])
            _ = try await site.repository(["pins", "site", "bank.pins.json"])
            let before = try site.drafts
            try await site.program("fails", "echo 'no token' >&2; exit 7")
            try await site.program("dies", "kill -9 $$")
            try await site.program("half", "head -c 32 /dev/zero; exit 1")
            try await site.program("silent", "cat >/dev/null")
            try await site.program("endless", "exec cat /dev/zero")
            try await site.program("hangs", "exec sleep 600")
            try await site.program("stubborn", "trap '' TERM; head -c 64 /dev/zero; while :; do sleep 1; done")
            try await site.program("zeros", "head -c 64 /dev/zero")
            try await site.program("text", "openssl pkeyutl -sign -rawin -inkey key.pem -in /dev/stdin | base64")
            for (command, status, words) in [
                ("./fails", 3, ["found exit code 7", "no token"]), ("./dies", 3, ["signal 9 ended it"]),
                ("./half", 3, ["exit code 1"]), ("./silent", 3, ["found nothing"]), ("./endless", 3, ["found more"]),
                ("./hangs", 3, ["within 1s", "--signer-timeout"]), ("./stubborn", 3, ["within 1s"]),
                ("./zeros", 1, ["wrongSignature", "64 octets that do not verify"]),
                ("./text", 1, ["wrongSignature"]), ("./nowhere", 3, ["cannot be started"]),
                ("./key.pem", 3, ["cannot be started"]),
            ] as [(String, Int32, [String])] {
                // Only where it has to be waited for: a loaded machine is slow to start the others.
                let limit = words.contains { $0.hasPrefix("within") } ? ["--signer-timeout", "1s"] : []
                let run = try await site.repository(
                    ["sign", "site", "--signer-command", "\(command) --pin 9182736455"] + limit, status: status)
                for word in words { #expect(run.errors.contains(word), "\(command): \(run.errors)") }
                #expect(run.output.isEmpty && !run.errors.contains("9182736455"), "\(run.errors)")
                #expect(try site.drafts == before, "\(command)")
            }
            // A program that it starts in the background does not keep the command waiting.
            try await site.program(
                "leaves", "sleep 600 & openssl pkeyutl -sign -rawin -inkey key.pem -in /dev/stdin")
            _ = try await site.repository(["sign", "site", "--signer-command", "./leaves"])
            #expect(try site.drafts != before)
            for wrong in [["--signer-command", "'a"], ["--signer-key", "a"], ["--signer-timeout", "0s"]] {
                _ = try await site.repository(["sign", "site"] + wrong, status: 2)
            }
        }
    }

    @Test(
        "A program may ask for a PIN on the terminal",
        .needs(.python))
    func terminal() async throws {
        try await Site.with { site in
            try site.site.write("terminal.py", TerminalScript.with)
            try await site.shell(
                """
                openssl genpkey -algorithm ed25519 -aes128 -pass pass:secret -out key.pem
                openssl pkey -in key.pem -passin pass:secret -pubout -out offline.pub
                """)
            try await site.program(
                "asks",
                """
                printf 'PIN: ' >/dev/tty; read -r PIN </dev/tty
                export PIN; exec openssl pkeyutl -sign -rawin -inkey key.pem -passin env:PIN -in /dev/stdin
                """)
            let run = try await site.shell(
                """
                printf 'secret\\n' | python3 terminal.py "'$H' repository init site --small --offline-key offline.pub \
                --online-key online.pem --signer-command ./asks"
                """, environment: ["H": try #require(CommandRun.program).path])
            #expect(run.output.contains("PIN: ") && run.output.contains("1 of 1 needed"), "\(run.output)")
        }
    }

    @Test(
        "OpenSC's pkcs11-tool signs with a token of SoftHSM: P-256 with r and s side by side, RSA with PSS",
        .needs(.softHSM),
        arguments: [
            ("EC:prime256v1", "sh -c 'openssl dgst -sha256 -binary | pkcs11-tool $TOKEN --sign --mechanism ECDSA'"),
            ("rsa:2048", "pkcs11-tool $TOKEN --sign --mechanism SHA256-RSA-PKCS-PSS"),
        ])
    func token(kind: String, command: String) async throws {
        try await Site.with { site in
            let module = try #require(ForeignPeers.softHSM)
            try site.site.write("softhsm2.conf", "directories.tokendir = \(site.site.folder.path)/tokens\n")
            let environment = [
                "SOFTHSM2_CONF": site.site.folder.appending(path: "softhsm2.conf").path, "PIN": "1234",
            ]
            let token = "--module \(module.path) --token-label pins --login --pin env:PIN --id 01"
            try await site.shell(
                """
                mkdir tokens
                softhsm2-util --init-token --free --label pins --pin 1234 --so-pin 5678
                pkcs11-tool \(token) --keypairgen --key-type \(kind) --label offline
                pkcs11-tool \(token) --read-object --type pubkey --output-file key
                openssl pkey -pubin -inform der -in key -out offline.pub
                """, environment: environment)
            try await site.publish(
                signer: ["--signer-command", command.replacing("$TOKEN", with: token)], environment: environment)
            let locked = try await site.repository(
                ["rotate", "site", "--role", "root", "--signer-command", command.replacing("$TOKEN", with: token)],
                environment: environment.merging(["PIN": "4321"]) { $1 }, status: 3)
            #expect(locked.errors.contains("signerFailed"), "\(locked.errors)")
        }
    }
}
