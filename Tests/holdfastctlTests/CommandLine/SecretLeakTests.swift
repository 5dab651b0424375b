import Foundation
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("No secret is printed", .timeLimit(.minutes(120)))
struct SecretLeakTests {
    /// The ways in which a verb reads a file; it is the last argument. What connects trusts one authority: to read those
    /// of the machine takes a debug build longer than everything else.
    private static let verbs: [[String]] = [
        ["pin"], ["pin", "leaf.pem"], ["pin", "127.0.0.1:1", "--ca"],
        ["pin", "127.0.0.1:1"] + trusting + ["--client-cert"],
        ["pin", "127.0.0.1:1"] + trusting + ["--client-cert", "leaf.pem", "--client-key"],
        ["check", "127.0.0.1:1", "--json", "--ca"],
        ["check", "127.0.0.1:1"] + trusting + ["--client-cert"], list + ["--ca", "root.pem"],
        ["sign", "leaf.pem", "--force", "offline", "--ca", "root.pem", "--password-file", "pw", "--key"],
        list + ["leaf.pem", "--ca"],
        ["sign", "leaf.pem", "--key", "key.pem", "--ca", "root.pem", "--list"],
        ["export", "--password-file", "pw", "--key"], ["export", "--password-file", "key.pem", "--key"],
        ["export", "--key", "locked.pem", "--password-file"], ["export-private", "--password-file", "pw", "--key"],
        ["verify", "--public-key", "BEG6", "--json"], ["verify", "--public-key", "signer.pub", "--json"],
        ["verify", "--public-key", "signer.pub"], ["verify", "pins.json", "--public-key"], ["list", "show"],
        ["list", "show", "--json"], ["list", "show", "pins.json", "--public-key"],
        ["list", "prune", "--public-key", "signer.pub"],
        ["list", "prune", "pins.json", "--public-key"],
        ["show"], ["show", "--json"], ["show", "leaf.pem", "--signer"], ["show", "pins.json", "--public-key"],
        ["check", "127.0.0.1:1", "--ca", "root.pem", "--pins"],
        ["pins", "add", "bank.pins.json", "www.example.com", "-o", "-"], ["pins", "diff", "bank.pins.json"],
        ["pins", "set", "--issued", "now", "-o", "-"], ["pins", "set", "--issued", "now", "--json", "-o", "-"],
        ["trust-server", "show", "--customer", "acme", "--certificate"],
        publish + ["--certificate", "acme.crt", "--domains", "domains", "--key"],
        publish + ["--key", "acme.key", "--domains", "domains", "--certificate"],
        publish + ["--key", "acme.key", "--certificate", "acme.crt", "--domains"],
        publish + ["--key", "acme.key", "--certificate", "acme.crt", "--domains", "domains", "--backup"],
    ]

    /// Of a repository; those that ask for a password get one.
    private static let repositoryVerbs: [[String]] = [
        begin + ["--small", "--online-key", "online.pem", "--offline-key"],
        begin + ["--small", "--offline-key", "offline.pem", "--json", "--online-key"],
        begin + ["--targets-key", "offline.pem", "--online-key", "online.pem", "--root-key"],
        begin + ["--root-key", "offline.pem", "--online-key", "online.pem", "--targets-key"],
        ["repository", "init", "new", "--small", "--offline-key", "locked.pem", "--online-key", "online.pem"]
            + ["--password-file"],
        begin + ["--small", "--offline-key", "offline.pub", "--online-key", "online.pem"] + signer,
        ["repository", "pins", "site"], ["repository", "pins", "site", "--json"],
        ["repository", "pins", "site", "bank.pins.json", "--force", "offline"] + trusting + ["--password-file", "pw"]
            + ["--key"],
        ["repository", "pins", "site", "bank.pins.json", "--force", "offline"] + trusting + signer,
        sign + ["--password-file", "pw", "--key"], sign + signer, sign + ["--key", "locked.pem", "--password-file"],
        ["repository", "publish", "site", "--force", "offline"] + trusting + ["--password-file", "pw", "--key"],
        ["repository", "publish", "site", "--force", "offline"] + trusting + signer,
        ["repository", "publish", "site", "--key", "online.pem", "--connect-to", "127.0.0.1:1", "--ca"],
        publishNowhere + ["--client-cert"], publishNowhere + ["--client-cert", "leaf.pem", "--client-key"],
        renew + ["--password-file", "pw", "--key"], renew + signer,
        rotate + ["--add"], rotate + ["--json", "--remove"], rotate + ["--key"],
        ["repository", "rotate", "site", "--role", "root"] + signer,
        // Programs that print the secret as if it were a signature.
        sign + ["--signer-key", "offline.pub", "--signer-command"], renew + ["--json", "--signer-command"],
        ["repository", "status", "site", "--offline"] + trusting + ["--app-root"],
        ["repository", "status", "site", "--connect-to", "127.0.0.1:1", "--json"] + trusting + ["--app-root"],
        ["repository", "status", "--url", "https://127.0.0.1:1", "--app-root", "app.json", "--ca"],
        ["check", "--repository", "http://127.0.0.1:1"] + trusting + ["--app-root"],
        ["check", "--repository", "https://127.0.0.1:1", "--app-root", "app.json", "--ca"],
    ]
    // Most query no server: the names of their pins do not exist.
    private static let sign = ["repository", "sign", "site", "--force", "offline"] + trusting
    private static let renew = ["repository", "renew", "site", "--offline"] + trusting
    private static let publishNowhere =
        ["repository", "publish", "site", "--key", "online.pem", "--connect-to", "127.0.0.1:1"] + trusting
    private static let list = ["sign", "--key", "key.pem", "--force", "offline"]
    private static let begin = ["repository", "init", "new", "--password-file", "pw"]
    private static let rotate = ["repository", "rotate", "site", "--role", "root", "--password-file", "pw"]
    private static let signer = ["--signer-command", "cat", "--signer-key"]
    private static let publish = [
        "trust-server", "publish", "--customer", "acme", "--folder", "out", "--timeout", "1s", "--ca", "root.pem",
    ]
    private static let trusting = ["--ca", "root.pem"]

    /// The printed text and the exit code of a run inside this process. The same arguments are parsed once: in a debug
    /// build ArgumentParser takes a hundred times as long to check a verb's definition as a verb takes.
    private static func run(
        _ arguments: [String], parsed: inout [[String]: () async -> Int32]
    ) async -> (status: Int32, printed: String) {
        let printed = SaidLines()
        if parsed[arguments] == nil, let command = try? EntryPoint.command(arguments) {
            parsed[arguments] = { await EntryPoint.run(command, of: arguments) }
        }
        let parsed = parsed[arguments]
        let status = await Output.$listener.withValue({ printed.add($0, isForErrors: $1) }) {
            if let parsed { await parsed() } else { await EntryPoint.run(arguments) }
        }
        return (status, printed.text)
    }

    /// All pairs of copy and verb take a quarter of an hour and more: scripts/nightly asks for them.
    private static let runsAllPairs = ProcessInfo.processInfo.environment["HOLDFAST_SECRET_PAIRS"] == "all"

    /// Two halves, so that they run side by side.
    @Test(
        "No verb prints eight octets of a secret, however the file is damaged",
        .timeLimit(.minutes(runsAllPairs ? 120 : 45)), arguments: [false, true])
    func damagedCopies(areOfRepositories: Bool) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try site.list([("www.example.com", "a", 30)])
            try site.write("pw", SecretFile.password, mode: 0o600)
            try site.write("locked.pem", try site.key.pem(password: Array("other".utf8), rounds: 100), mode: 0o600)
            try site.write("signer.pub", site.publicKey)
            try site.write("domains", "127.0.0.1:1\n")
            let server = try TrustServerKey(customer: "acme", kind: .p256, at: Date())
            try site.write("acme.key", server.privateKeyPEM, mode: 0o600)
            try site.write("acme.crt", server.certificatePEM)
            let files = try SecretFile.all()
            let scanner = SecretScanner(files.flatMap(\.secrets))
            for file in files { #expect(scanner.finds(in: Self.samples(of: file.secrets[0]))) }
            var repository = try await PublishedRepository(in: site)
            try await repository.rotate()
            try site.write("offline.pem", try #require(repository.offline.pem), mode: 0o600)
            try site.write("offline.pub", try #require(repository.offline.publicKeyText))
            try site.write("online.pem", try #require(repository.online.pem), mode: 0o600)
            let app = repository.folder.published.appending(path: "metadata/1.root.json")
            try FileManager.default.copyItem(at: app, to: site.folder.appending(path: "app.json"))
            try site.write("bank.pins.json", String(decoding: repository.pins, as: UTF8.self))
            let names = try FileManager.default.contentsOfDirectory(atPath: site.folder.path)
            var runs = 0
            var parsed: [[String]: () async -> Int32] = [:]
            let new = site.folder.appending(path: "new")
            for (number, copy) in files.flatMap({ file in file.copies.map { (file, $0) } }).enumerated() {
                // One name, so that each verb is parsed once.
                let path = site.folder.appending(path: "given")
                try Data(copy.1).write(to: path)
                // Each kind of file meets each verb about twice.
                for (place, verb) in (areOfRepositories ? Self.repositoryVerbs : Self.verbs).enumerated()
                where Self.runsAllPairs || (number + place) % 48 == 0 {
                    let arguments: [String] = (verb + [path.path]).map { argument -> String in
                        switch argument {
                        case "out": return site.folder.appending(path: argument).path
                        // A folder that no run before has begun a repository in.
                        case "new": return new.path
                        case path.path where verb.last == "--signer-command": return "cat '\(argument)'"
                        default:
                            guard names.contains(argument) else { return argument }
                            return site.folder.appending(path: argument).path
                        }
                    }
                    try? FileManager.default.removeItem(at: new)
                    let run = await Self.run(arguments, parsed: &parsed)
                    runs += 1
                    // That is what it is for, where the copy is a key still.
                    if run.status == 0, verb[0] == "export-private" { continue }
                    #expect(
                        !scanner.finds(in: run.printed), "\(verb) of copy \(number), \(copy.0.name): \(run.printed)")
                }
            }
            #expect(runs > (Self.runsAllPairs ? 16 * 500 : 500))
        }
    }

    /// A text in which the scanner must find the secret.
    private static func samples(of secret: [UInt8]) -> String {
        "x\(Data(secret.prefix(20)).base64EncodedString())"
    }

    @Test("The scanner finds eight octets in any of their forms, and none of seven")
    func scanner() throws {
        let secret = (0..<40).map { _ in UInt8.random(in: 0...255) }
        let scanner = SecretScanner([secret])
        for start in [0, 1, 2, 5, 32] {
            for before in 0..<3 {
                let some = [UInt8](repeating: 7, count: before) + secret[start..<start + 8] + [1, 2, 3]
                #expect(scanner.finds(in: Data(some).base64EncodedString()))
                let hexadecimal = some.map { String(format: "%02x", $0) }.joined()
                #expect(scanner.finds(in: hexadecimal) && scanner.finds(in: hexadecimal.uppercased()))
                #expect(scanner.finds(in: some.map { String(format: "%02X", $0) }.joined(separator: ":")))
                let few = [UInt8](repeating: 7, count: before) + secret[start..<start + 6] + [1, 2, 3]
                #expect(!scanner.finds(in: Data(few).base64EncodedString()))
            }
        }
    }

    @Test("A key whose END is missing or mistyped is named with its line, and nothing of it is printed")
    func missingEnd() async throws {
        try await SigningSite.with { site in
            let pem = SigningKey().pem
            let scanner = SecretScanner([Array(pem.utf8.dropFirst(28).dropLast(27))])
            let cut = pem.replacing("-----END PRIVATE KEY-----\n", with: "")
            let typo = pem.replacing("-----END", with: "-----EDN")
            let other = pem.replacing("END PRIVATE KEY", with: "END CERTIFICATE")
            let line = pem.split(separator: "\n").count
            for (text, found, place) in [
                (cut, "the end of the file", line - 1), (typo, "other characters", line), (other, "another END", line),
            ] {
                try site.write("cut.pem", text, mode: 0o600)
                for verb in [["pin"], ["export", "--key"]] {
                    let run = try await site.run(verb + ["cut.pem"])
                    #expect(run.status == 3 && run.output.isEmpty)
                    #expect(
                        run.errors.contains("-----END PRIVATE KEY----- in line \(place), found \(found)"),
                        "\(run.errors)")
                    #expect(!scanner.finds(in: run.errors))
                }
            }
        }
    }
}
