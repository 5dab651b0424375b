import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("Arguments of holdfastctl", .timeLimit(.minutes(15)))
struct UsageTests {
    private static let digest = SigningSite.hex(0xA5)
    private static let publicKey =
        "BC3kV9OIDnMuVoCdDR9nEA/JidJLTTDLuSA2TSZsGgODSshfbZg31MS90WC/HdbU/A5WL5GmyDkE/iks6INv+XE="

    @Test(
        "Output that cannot be written is no success",
        .needs(.fullDevice),
        arguments: ["keygen -o a.pem --no-password", "--help", "--version", "--generate-completion-script bash"])
    func fullDisk(_ arguments: String) async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.shell("\"$HOLDFASTCTL\" \(arguments) > /dev/full", in: folder)
            #expect(run.status == 3 && run.errors.contains("standard output cannot be written"))
        }
    }

    @Test("With standard output closed nothing that is printed goes into a file")
    func closedOutput() async throws {
        try await withTemporaryFolder { folder in
            let script = "\"$HOLDFASTCTL\" keygen -o a.pem --no-password >&- && openssl pkey -in a.pem -noout"
            let run = try await CommandRun.shell(script, in: folder)
            #expect(run.status == 0, "\(run.errors)")
        }
    }

    @Test(
        "Wrong, missing and surplus arguments say so on standard error and exit with 2",
        arguments: [
            ([], "Say what to do"),
            (["nosuch"], "nosuch"),
            (["keygen", "-o", "key.pem", "surplus"], "surplus"),
            (["check", "www.example.com", "--nosuch"], "--nosuch"),
            (["check"], "Missing expected argument"),
            (["check", "one.example", "127.1"], "numericName"),
            (["check", "www.example.com", "--watch", "0d"], "watch"),
            (["check", "www.example.com", "--client-key", "key.pem"], "--client-cert"),
            (["check", "127.1"], "numericName"),
            (["check", "www.example.com", "--brief", "--json"], "one of --json"),
            (["check", "--chain", "chain.pem"], "--host"),
            (["check", "www.example.com", "--at", "2027-01-01"], "--chain"),
            (["check", "--chain", "chain.pem", "--host", "a.example", "b.example"], "excludes hosts"),
            (["check", "--pins", "a.json", "--signer", "a.crt"], "--trust-server"),
            (["check", "--trust-server", "a.signed", "--public-key", publicKey], "--list"),
            (["check", "--list", "a.json"], "--public-key"), (["check", "--trust-server", "a.signed"], "--signer"),
            (["gate", "www.example.com", "--next", "a.pem"], "--challenged-list"),
            (["check", "--pins", "a.json", "--customer", "acme"], "--trust-server"),
            (["check", "--pins", "https://"], "https URL"),
            (["check", "www.example.com", "--public-key", publicKey], "--list"),
            (["pin", "--authority", "x"], "three characters"),
            (["list", "remove", "pins.json", "--public-key", publicKey], "Missing expected argument"),
            (["check", "www.example.com:"], "HOST:PORT"),
            (["check", "www.example.com:0"], "invalidPort"),
            (["check", "www.example.com:https"], "HOST:PORT"),
            (["check", "www.example.com:99999999999999999999"], "HOST:PORT"),
            (["check", "[::1]443"], "HOST:PORT"),
            (["check", "www.example.com", "--pin", "sha256/short"], "notBase64"),
            (["check", "www.example.com", "--pin"], "--pin"),
            (["check", "www.example.com", "--timeout", "0s"], "timeout"),
            (["check", "www.example.com", "--timeout", "soon"], "soon"),
            (["check", "www.example.com", "--connect-to", "127.0.0.1:x"], "--connect-to"),
            (["check", "www.example.com", "--proxy", "proxy.example"], "HOST:PORT"),
            (["check", "www.example.com", "--proxy", "https://proxy.example:3128"], "HOST:PORT"),
            (["pin", "one.example", "two.example", "--format", "okhttp", "--host", "a.example"], "one at a time"),
            (["pin", "www.example.com", "--fragment"], "--format"),
            (["pin", "www.example.com", "--lossy"], "--format"),
            (["pin", "www.example.com", "--json", "--format", "json"], "not both"),
            (["pin", "www.example.com", "--format", "pinfile"], "pinfile"),
            (["pin", "backup.pem", "--proxy", "proxy.example:3128"], "onnection options"),
            (["pin"], "Missing expected argument"),
            (["pin", "no host"], "neither a file nor a host"),
            (["pin", "www.example.com", "--format", "nosuch"], "nosuch"),
            (["pin", "www.example.com", "--format", "ats", "--host", "*.example.com"], "ats"),
            (["pin", "www.example.com", "--host", "*.com"], "--host"),
            (["pin", "backup.pem", "--format", "okhttp"], "--host"),
            (["pin", "backup.pem", "--ca", "root.pem"], "onnection options"),
            (["pin", "backup.pem", "--insecure"], "--insecure"),
            (["keygen"], "--output"),
            (["keygen", "-o", "a.key", "--request", "a.csr"], "--tls"),
            (["keygen", "-o", "a.key", "--tls", "**.example.com"], "*.example.com"),
            (["keygen", "-o", "a.key", "--tls", "127.1"], "numericName"),
            (["keygen", "-o", "-", "--tls", "www.example.com"], "--request"),
            (["keygen", "-o", "a.csr", "--tls", "www.example.com"], "file of its own"),
            (["rollover"], "--trust-server"),
            (["rollover", "--pins", "a.json", "--first", "--replaced", "b.json@2026-11-20"], "--first says"),
            (["rollover", "--repository", "https://a.example", "--app-root", "1", "--domains", "d"], "--trust-server"),
            (["rollover", "--pins", "pins.json", "--domains", "acme.domains"], "--trust-server"),
            (["rollover", "--pins", "pins.json", "127.1"], "numericName"),
            (["rollover", "--pins", "pins.json", "--staleness", "soon"], "soon"),
            (["rollover", "--pins", "pins.json", "--published", "yesterday"], "2027-02-19"),
            (["rollover", "--list", "pins.json", "--public-key", "AAAA"], "invalidPublicKey"),
            (["keygen", "-o", "key.pem", "--no-password", "--password-file", "pw"], "--no-password"),
            (["export"], "--key"),
            (["export", "--key", "key.pem", "--password", "secret"], "--key"),
            (["export", "--key", "key.pem", "--password-file", "pw", "--password-fd", "3"], "not both"),
            (["export", "--key", "key.pem", "--password-fd", "-1"], "--password-fd"),
            (["sign", "--key", "key.pem"], "--fingerprint"),
            (["sign", "--key", "key.pem", "no host"], "neither a file nor a host"),
            (["sign", "--key", "key.pem", "cert.pem", "--proxy", "a.example:1", "--force", "offline"], "with a host"),
            (["sign", "--key", "key.pem", "cert.pem", "--expires", "1900000000"], "--expires"),
            (["sign", "--key", "key.pem", "cert.pem", "--json"], "--list"),
            (["sign", "--key", "key.pem", "cert.pem", "--replace"], "--list"),
            (["sign", "--key", "key.pem", "-f", digest, "-n", "www.example.com"], "--expires"),
            (["sign", "--key", "key.pem", "-f", digest, "-t", "1900000000"], "--name"),
            (["sign", "cert.pem", "--key", "key.pem", "-f", digest, "-n", "a", "-t", "1900000000"], "--fingerprint"),
            (["sign", "--key", "key.pem", "-f", digest, "-n", "a", "-t", "1540280280000"], "milliseconds"),
            (["sign", "--key", "key.pem", "-f", digest, "-n", "a", "-t", "tomorrow"], "2027-02-19"),
            (["sign", "--key", "key.pem", "-f", "00ff", "-n", "a", "-t", "1900000000"], "hexadecimal"),
            (["sign", "--key", "key.pem", "-f", "sha256/x", "-n", "a", "-t", "1900000000"], "pin of a key"),
            (["verify", "pins.json"], "--public-key"),
            (["verify", "pins.json", "--public-key", "AAAA"], "invalidPublicKey"),
            (["verify", "pins.json", "--public-key", publicKey, "--watch", "0d"], "watch"),
            (["show"], "Missing expected argument"),
            (["show", "answer.json", "--challenge", "AAAA"], "go together"),
            (["show", "a.pem", "--timeout", "0s"], "timeout"),
            (["show", "https://me:secret@www.example.com/a"], "https URL"),
            (["list"], "show, prune or remove"),
            (["list", "prune", "pins.json"], "--public-key"),
            (["repository"], "init, pins, sign"),
            (["repository", "status"], "Name the folder"),
            (["repository", "init", "site", "--small", "--online-key", "a.pem"], "--offline-key"),
            (["repository", "init", "site", "--root-key", "a.pem", "--online-key", "b.pem"], "--targets-key"),
            (["repository", "publish", "site"], "--key"),
            (["repository", "publish", "site", "--key", "a.pem", "--force", "all"], "all"),
            (["repository", "renew", "site", "--key", "a.pem", "--lifetime", "soon"], "soon"),
            (["repository", "rotate", "site", "--role", "delegated"], "delegated"),
            (["repository", "status", "site", "--watch", "0d"], "watch"),
        ] as [([String], String)])
    func wrong(arguments: [String], hint: String) async throws {
        let run = try await CommandRun.inProcess(arguments)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains(hint), "\(run.errors)")
        #expect(run.errors.contains("Usage: "))
    }

    @Test("The same pin twice is wrong usage")
    func duplicatePin() async throws {
        let pin = "sha256/" + Data(count: 32).base64EncodedString()
        let run = try await CommandRun.inProcess(["check", "www.example.com", "--pin", pin, "--pin", pin])
        #expect(run.status == 2)
        #expect(run.errors.contains("each pin once"), "\(run.errors)")
    }

    @Test("What a user typed cannot act on the terminal")
    func hostileArgument() async throws {
        let run = try await CommandRun.inProcess(["check", "a\u{1B}[2Jb\u{202E}c"])
        #expect(run.status == 2)
        #expect(!run.actsOnTerminal)
    }

    @Test(
        "Help is on standard output, with examples",
        arguments: [
            "check", "pin", "keygen", "sign", "verify", "export", "export-private", "list", "list show",
            "list prune", "list remove", "show", "import", "tuf", "rollover", "repository init", "repository pins",
            "pins add", "pins remove", "pins retire",
            "pins promote", "pins set", "pins diff", "trust-server publish", "trust-server show",
            "repository sign", "repository publish", "repository renew", "repository rotate", "repository status",
        ])
    func help(verb: String) async throws {
        let words = verb.split(separator: " ").map(String.init)
        for arguments in [words + ["--help"], ["help"] + words] {
            let run = try await CommandRun.inProcess(arguments)
            #expect(run.status == 0)
            #expect(run.errors.isEmpty)
            #expect(run.output.contains("EXAMPLES\n  holdfastctl \(verb)"))
            #expect(run.output.contains("Exit codes"))
        }
    }

    @Test("The command without a verb has help and a version")
    func rootHelp() async throws {
        let help = try await CommandRun.holdfastctl(["--help"])
        #expect(help.status == 0)
        #expect(help.output.contains("EXAMPLES") && !help.output.contains("tuf"))
        let version = try await CommandRun.holdfastctl(["--version"])
        #expect(version.status == 0)
        #expect(version.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
    }

    @Test("There are completion scripts", arguments: ["bash", "zsh", "fish"])
    func completion(shell: String) async throws {
        let run = try await CommandRun.holdfastctl(["--generate-completion-script", shell])
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(run.output.contains("connect-to"))
        #expect(!run.output.contains("tuf"), "the verb of the conformance suite is for nobody else")
    }
}
