import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("holdfastctl pins", .timeLimit(.minutes(15)))
struct PinsCommandTests {
    private struct Answer: Decodable {
        let verdict: String
        let changes: [String]
        let warnings: [String]?
        let lockedOut: [String]?
        let overridden: [String]?
        let premises: [String]?
    }

    private static let host = SigningSite.name

    /// A site with a pin file of one host: a certificate in use, and a port.
    private static func with(_ body: (SigningSite, TestCertificate) async throws -> Void) async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem")
            let file = try PinFile(hosts: [
                PinFile.Host(
                    HostPattern(host), ports: [8_443], pins: [PinFile.KeyPin(.publicKey(of: leaf.der))])
            ])
            try site.write("bank.pins.json", String(decoding: file.json, as: UTF8.self), mode: 0o640)
            try await body(site, leaf)
        }
    }

    /// Where the host is found.
    private static func place(_ port: Int) -> [String] {
        ["--ca", "root.pem", "--connect-to", "127.0.0.1:\(port)", "--timeout", "60s"]
    }

    private static func file(_ site: SigningSite) throws -> PinFile {
        try PinFile(json: Data(site.text("bank.pins.json").utf8))
    }

    @Test("A key is replaced with add, promote and remove; the file keeps its mode, and its links stay")
    func replaced() async throws {
        try await Self.with { site, leaf in
            let next = try site.leaf("next.pem")
            try FileManager.default.createSymbolicLink(
                atPath: site.folder.appending(path: "link.json").path, withDestinationPath: "bank.pins.json")
            let added = try await site.run([
                "pins", "add", "link.json", Self.host, "next.pem", "--state", "backup", "--json",
            ])
            #expect(added.status == 0, "\(added.errors)")
            let answer = try added.json(Answer.self)
            #expect(answer.verdict == "Changed: link.json" && answer.changes.count == 1)
            let file = try Self.file(site)
            #expect(file.hosts[0].ports == [8_443] && file.hosts[0].pins.map(\.state) == [.active, .backup])
            #expect(try file.hosts[0].pins[1].pin == .publicKey(of: next.der))
            #expect(try site.mode("bank.pins.json") == 0o640)

            let remove = ["pins", "remove", "bank.pins.json", Self.host, "leaf.pem"]
            try await withLoopbackTLSServer(serving: leaf) { server in
                let early = try await site.run(remove + Self.place(server.port))
                #expect(early.status == 1 && early.errors.contains("is left as it is"), "\(early.errors)")
                #expect(early.errors.contains("would be locked out"), "\(early.errors)")
            }
            let unknown = try await site.run(remove + Self.place(1))
            #expect(unknown.status == 3 && unknown.errors.contains("could not be asked"), "\(unknown.errors)")
            #expect(try Self.file(site) == file)

            let promoted = try await site.run(["pins", "promote", "bank.pins.json", Self.host, "next.pem"])
            #expect(
                promoted.status == 0 && promoted.output.hasPrefix("Changed: bank.pins.json\n"), "\(promoted.errors)")
            #expect(promoted.errors.contains("no backup"))
            let offline = try await site.run(remove + ["--force", "offline", "-o", "unasked.json"])
            #expect(offline.status == 0 && offline.errors.contains("offline: no host was asked"), "\(offline.errors)")
            try await withLoopbackTLSServer(serving: next) { server in
                let removed = try await site.run(
                    ["pins", "remove", "bank.pins.json", Self.host, Pin.publicKey(of: leaf.der).description]
                        + Self.place(server.port))
                #expect(removed.status == 0, "\(removed.errors)")
                #expect(removed.output.contains("only clients with the pin file were judged"), "\(removed.output)")
            }
            #expect(try Self.file(site).hosts[0].pins.map(\.state) == [.active])
        }
    }

    @Test("Wrong and missing arguments are named with code 2, and nothing is written")
    func usage() async throws {
        try await Self.with { site, _ in
            let before = try site.text("bank.pins.json")
            for (arguments, words) in [
                (["add", "bank.pins.json", Self.host], "Name a pin"),
                (["add", "bank.pins.json"], "host"),
                (["add", "bank.pins.json", Self.host, "sha256/\(String(repeating: "A", count: 43))="], "--state"),
                (["add", "bank.pins.json", Self.host, "sha256/AAAA", "--state", "backup"], "sha256/AAAA"),
                (["add", "bank.pins.json", "not a host", "leaf.pem"], "HOST"),
                (["add", "bank.pins.json", Self.host, "leaf.pem", "--role", "root"], "--role"),
                (["remove", "bank.pins.json", Self.host], "--whole-host"),
                (["remove", "bank.pins.json", Self.host, "leaf.pem", "--whole-host"], "--whole-host"),
                (["retire", "bank.pins.json", Self.host], "--whole-host"),
                (["promote", "bank.pins.json", Self.host], "backup"),
                (["set", "bank.pins.json"], "what to set"),
                (["set", "bank.pins.json", "--mode", "report"], "go with a host"),
                (["set", "bank.pins.json", Self.host, "--mode", "off"], "enforce or report"),
                (["set", "bank.pins.json", Self.host, "--ports", "443,443"], "ports"),
                (["diff", "bank.pins.json"], "new pin file"),
                ([], "add, remove"),
            ] as [([String], String)] {
                let run = try await site.run(["pins"] + arguments)
                #expect(run.status == 2 && run.errors.contains(words), "\(arguments) \(run.status) \(run.errors)")
                #expect(try run.output.isEmpty && site.text("bank.pins.json") == before, "\(arguments)")
            }
        }
    }

    @Test("A damaged or missing file is named and left as it is, and so is a file that must not change")
    func damaged() async throws {
        try await Self.with { site, _ in
            let whole = try site.text("bank.pins.json")
            try site.write("half.pins.json", String(whole.prefix(whole.count / 2)))
            let half = try await site.run(["pins", "set", "half.pins.json", "--issued", "now"])
            #expect(half.status == 1 && half.errors.contains("half.pins.json: expected a pin file"), "\(half.errors)")
            #expect(try site.text("half.pins.json") == String(whole.prefix(whole.count / 2)))
            let missing = try await site.run(["pins", "set", "none.pins.json", "--issued", "now"])
            #expect(missing.status == 3 && missing.errors.contains("no such file"), "\(missing.errors)")
            let source = try await site.run(["pins", "add", "bank.pins.json", Self.host, "none.pem"])
            #expect(source.status == 3 && source.errors.contains("none.pem cannot be read: no such file"))
            let other = try await site.run(["pins", "retire", "bank.pins.json", "other.example.com", "--whole-host"])
            #expect(other.status == 1 && other.errors.contains(Self.host), "\(other.errors)")
            #expect(try site.text("bank.pins.json") == whole)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: site.folder.path).allSatisfy {
                    !$0.hasSuffix(".new")
                })
        }
    }

    @Test("The changed file goes where -o says, or through a pipe, and the other one stays")
    func elsewhere() async throws {
        try await Self.with { site, _ in
            let before = try site.text("bank.pins.json")
            let run = try await site.run([
                "pins", "retire", "bank.pins.json", Self.host, "--whole-host", "-o", "next.pins.json",
            ])
            #expect(run.status == 0 && run.errors.contains("retired"), "\(run.errors)")
            #expect(
                try site.text("bank.pins.json") == before && site.text("next.pins.json").contains("\"retired\": true"))
            let piped = try await CommandRun.shell(
                "\"$HOLDFASTCTL\" pins set - \(Self.host) --ports any < bank.pins.json", in: site.folder)
            #expect(try piped.status == 0 && PinFile(json: Data(piped.output.utf8)).hosts[0].ports.isEmpty)
            #expect(piped.errors.contains("Changed: -"))
            let nowhere = try await site.run(["pins", "set", "bank.pins.json", "--app", "x", "-o", "no/such/file"])
            #expect(nowhere.status == 3 && nowhere.errors.contains("there is no folder"), "\(nowhere.errors)")
        }
    }

    @Test("diff says what differs, and with code 1 that clients would be refused")
    func difference() async throws {
        try await Self.with { site, leaf in
            let equal = try await site.run(["pins", "diff", "bank.pins.json", "bank.pins.json"])
            #expect(equal.status == 0 && equal.output == "No difference\n")
            try site.leaf("backup.pem")
            let backup = try await site.run([
                "pins", "add", "bank.pins.json", Self.host, "backup.pem", "--state", "backup", "-o", "more.json",
            ])
            #expect(backup.status == 0)
            let more = try await site.run(["pins", "diff", "bank.pins.json", "more.json", "--json"])
            #expect(try more.status == 0 && more.json(Answer.self).changes.count == 1)
            let diff = ["pins", "diff", "bank.pins.json", "less.json"]
            try await withLoopbackTLSServer(serving: leaf) { server in
                let place = Self.place(server.port)
                let less = try await site.run(
                    ["pins", "remove", "more.json", Self.host, "leaf.pem", "--force", "refused", "-o", "less.json"]
                        + place + ["--json"])
                #expect(less.status == 0 && less.errors.contains("warning: refused: "), "\(less.errors)")
                #expect(try less.json(Answer.self).overridden?.count == 1)
                let lost = try await site.run(diff + place)
                #expect(lost.status == 1 && lost.output.hasPrefix("CLIENTS WOULD BE REFUSED\n"), "\(lost.output)")
                let answer = try await site.run(diff + place + ["--json"]).json(Answer.self)
                #expect(answer.lockedOut?.count == 1 && answer.premises?.isEmpty == false)
            }
            // Without asking, the effect is unknown, unless it is certain whatever the host serves.
            let unknown = try await site.run(diff + ["--offline"])
            #expect(unknown.status == 3 && unknown.output.hasPrefix("Nobody knows"), "\(unknown.output)")
            let gone = try await site.run(["pins", "retire", "more.json", Self.host, "--whole-host", "-o", "gone.json"])
            #expect(gone.status == 0, "\(gone.errors)")
            let certain = try await site.run(["pins", "diff", "more.json", "gone.json", "--offline", "--json"])
            #expect(try certain.status == 1 && certain.json(Answer.self).lockedOut?.count == 1, "\(certain.output)")
        }
    }
}
