import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import ServerFoundation
@testable import ServerStore

/// Rules for every verb that the program names in its own description, and messages about wrong values.
@Suite("Every verb of the command", .timeLimit(.minutes(10)))
struct VerbTests {
    private typealias Desk = CommandTests.Desk

    /// A server on a folder, with a change that waits.
    private func makeDesk(in folder: URL) async throws -> (desk: Desk, change: String) {
        let desk = try Desk(in: folder)
        try await desk.makeServer()
        try await desk.see()
        let proposed = try await desk.run(
            "change", "propose", "bank", "--data", desk.data, "--format", "list", "--include-seen", "--reason", "first",
            "--no-proposer")
        return (desk, String(proposed.split(separator: "\n")[0].dropFirst("change ".count)))
    }

    /// Two people approve a change, and it is published.
    private func publish(_ change: String, on desk: Desk) async throws {
        for name in ["alice", "bob"] {
            _ = try await desk.run("approve", change, "--data", desk.data, "--key", "\(name).pem", "--yes")
        }
        _ = try await desk.run("publish", change, "--data", desk.data)
    }

    /// The files in the folder of the server, without those that SQLite keeps for itself.
    private func content(of desk: Desk) throws -> [String: Data] {
        var content: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: desk.data)
        where !name.hasSuffix("-shm") && !name.hasSuffix("-wal") && name != "lock" {
            content[name] = try? Data(contentsOf: URL(filePath: desk.data).appending(path: name))
        }
        return content
    }

    @Test("Each has help; what is missing, too much or unknown is named, with exit code 2, and nothing is done")
    func usage() async throws {
        try await withFolder { folder in
            let (desk, _) = try await makeDesk(in: folder)
            let before = try content(of: desk)
            let verbs = try await ProgramDescription(desk).verbs
            #expect(verbs.count >= 30)
            // Options of which a verb needs one.
            let choices = [
                "init": ["--no-recovery-copy"], "reseal": ["--no-recovery-copy"], "propose": ["--no-proposer"],
                "revert": ["--no-proposer"], "gate": ["--digest", "x"], "restore": ["--check"], "resume": ["--clock"],
                "add": ["--every-app", "--scope", "read"], "health": ["live"],
            ]
            for verb in verbs {
                let help = try await desk.run(verb.path + ["--help"])
                #expect(help.contains("OVERVIEW: ") && help.contains("USAGE: "), "\(verb.path)")
                let needed = verb.arguments.indices.filter { !verb.arguments[$0].isOptional }
                for missing in needed {
                    let output = try await desk.run(desk.line(verb) { needed.contains($0) && $0 != missing }, status: 2)
                    // Arguments without a name take each other's places.
                    let argument = verb.arguments[missing]
                    let last = verb.arguments.last { !$0.isOptional && $0.option == nil }?.name ?? ""
                    let name = argument.option.map { "'--\($0) " } ?? "'<\(last)>"
                    #expect(output.contains(name), "\(verb.path) without \(argument.name): \(output)")
                }
                let isToken = verb.path == ["token", "add"]
                let hasNone = verb.path.last == "add" && !isToken || verb.path.contains("repository")
                let isTakeover = verb.path == ["import"]
                let choice =
                    verb.path == ["place", "add"]
                    ? ["--program", "/bin/true"]
                    : hasNone
                        ? []
                        : isTakeover
                            ? ["--pins", "x", "--app", "bank", "--anchors", "x", "--reason", "x", "--no-proposer"]
                            : choices[verb.path.last ?? ""] ?? []
                let isApprovers = verb.path.first == "approvers"
                let line = desk.line(verb) { needed.contains($0) } + (isApprovers ? [] : choice)
                let stranger = try await desk.run(line + ["--no-such-option"], status: 2)
                #expect(stranger.contains("'--no-such-option'"), "\(verb.path): \(stranger)")
                let more = try await desk.run(line + ["one", "too", "many"], status: 2)
                #expect(more.contains("'many'"), "\(verb.path): \(more)")
                for option in verb.arguments.compactMap(\.option) {
                    let last = try await desk.run(verb.path + ["--\(option)"], status: 2)
                    #expect(last.contains("--\(option)"), "\(verb.path) --\(option): \(last)")
                }
            }
            #expect(try content(of: desk) == before)
        }
    }

    @Test("A wrong value is named with what was expected, and nothing is done")
    func wrongValues() async throws {
        try await withFolder { folder in
            let (desk, change) = try await makeDesk(in: folder)
            try Data("hello\n".utf8).write(to: folder.appending(path: "hello.txt"))
            let before = try content(of: desk)
            let nobody = String(repeating: "0", count: 32)
            let propose = ["change", "propose", "bank", "--format", "list", "--reason", "x", "--no-proposer"]
            func refuses(
                _ arguments: [String], _ status: Int32, _ words: String...,
                sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                let output = try await desk.run(
                    arguments + ["--data", desk.data], status: status, sourceLocation: sourceLocation)
                for word in words {
                    #expect(output.contains(word), "\(arguments): \(output)", sourceLocation: sourceLocation)
                }
            }
            try await refuses(["app", "add", "!", "--anchors", "roots.pem"], 2, "of app", "letters, digits")
            try await refuses(["app", "add", "shop", "--anchors", "missing.pem"], 2, "missing.pem")
            try await refuses(["app", "add", "shop", "--anchors", "hello.txt"], 2, "hello.txt", "no certificate")
            // A truncated file is refused: a certificate would be missing without an error.
            let roots = try Data(contentsOf: folder.appending(path: "roots.pem"))
            try (roots + roots.prefix(roots.count / 2)).write(to: folder.appending(path: "half.pem"))
            try await refuses(["app", "add", "shop", "--anchors", "half.pem"], 2, "half.pem", "the end of the file")
            try await refuses(
                ["app", "add", "shop", "--anchors", "roots.pem", "--staleness", "367"], 2,
                "--staleness of at most 366 days")
            try await refuses(
                ["app", "add", "shop", "--anchors", "roots.pem", "--canary", "169"], 2, "--canary of at most 168 hours")
            try await refuses(["app", "add", "shop", "--anchors", "roots.pem", "--build", "x"], 2, "NAME=FILE")
            try await refuses(
                ["app", "add", "shop", "--anchors", "roots.pem", "--staleness", "many"], 2, "--staleness", "many")
            try await refuses(["app", "add", "bank", "--anchors", "roots.pem", "--no-shipped-pins"], 3, "constraint")
            try await refuses(
                ["app", "settings", "shop", "--anchors", "roots.pem", "--no-shipped-pins"], 3, "notFound")
            try await refuses(["app", "key", "shop"], 3, "notFound")
            try await refuses(["app", "key", "bank", "--purpose", "x"], 2, "--purpose fingerprints or trust-server")
            try await refuses(["app", "key", "bank", "--purpose", "trust-server"], 2, "--customer")
            try await refuses(["app", "key", "bank", "--file", "hello.txt"], 2, "key")
            try await refuses(["host", "add", "bank", "API.example.com"], 2, "lower case")
            try await refuses(["host", "add", "bank", World.host, "--port", "0"], 2, "1 to 65535")
            try await refuses(["host", "add", "bank", World.host, "--port", "65536"], 2, "1 to 65535")
            try await refuses(["host", "add", "bank", World.host, "--dial", "nowhere at all"], 2, "dial")
            try await refuses(
                ["host", "add", "bank", World.host, "--renewal", "x"], 2, "--renewal announced, same-key or issuer")
            try await refuses(["host", "add", "shop", World.host], 3, "notFound")
            try await refuses(["host", "list", "shop"], 3, "notFound")
            try await refuses(["host", "see", "shop"], 3, "notFound")
            try await refuses(
                ["next", "chain", "bank", "x.example.com", "--chain", "next.pem", "--from", "2026-12-24T12:00:00Z"], 2,
                "host list bank")
            // Neither does 29 February exist in that year, nor a 25th hour.
            for time in ["tomorrow", "2027-02-29T00:00:00Z", "2026-12-24T25:00:00Z"] {
                try await refuses(
                    ["next", "chain", "bank", World.host, "--chain", "next.pem", "--from", time], 2,
                    "--from is a time such as 2026-12-24T12:00:00Z")
            }
            try await refuses(
                ["next", "chain", "bank", World.host, "--chain", "hello.txt", "--from", "2026-12-24T12:00:00Z"], 2,
                "no certificate")
            try await refuses(
                ["next", "key", "bank", World.host, "--key", "hello.txt"], 2, "hello.txt", "no public key")
            try await refuses(["next", "withdraw", "bank", "\(World.host):444"], 2, "host list bank")
            try await refuses(propose + ["--format", "carrier-pigeon"], 2, "trust-server", "pin-file")
            try await refuses(
                propose + ["--force", "gravity"], 2, "no gate gravity to --force", "lint, replay, outlook")
            try await refuses(propose + ["--lifetime", "0"], 2, "--lifetime of 1 to 366 days")
            try await refuses(propose + ["--remove", "AB"], 2, "64 lower-case")
            try await refuses(propose + ["--refresh", "1"], 2, "refresh", "60")
            try await refuses(propose + ["--proposer", "alice"], 2, "--no-proposer")
            try await refuses(Array(propose.dropLast()) + ["--proposer", "zoe"], 2, "No approver is called zoe")
            try await refuses(["change", "list", "shop"], 3, "notFound")
            try await refuses(["change", "show", "x"], 2, "32 hexadecimal digits", "change list")
            try await refuses(["change", "show", nobody], 3, "notFound")
            try await refuses(["change", "show", change, "--content", "hello.txt"], 2, "nothing is overwritten")
            try await refuses(["approve", change, "--key", "hello.txt", "--yes"], 2, "key")
            try await refuses(
                ["approve", change, "--key", "alice.pem", "--yes", "--hours", "0"], 2, "1 to 336 hours", "as --hours")
            try await refuses(["approve", nobody, "--key", "alice.pem", "--yes"], 3, "notFound")
            try await refuses(["reject", nobody, "--key", "alice.pem", "--yes"], 3, "notFound")
            try await refuses(["approve", change, "--key", "alice.pem"], 1, "nothing was signed")
            try await refuses(["publish", change], 1, "notApproved")
            try await refuses(["publish", change, "--dry-run"], 1, "notApproved")
            try await refuses(["publish", nobody], 3, "notFound")
            try await refuses(["revert", "bank", "--to", "1", "--reason", "x", "--no-proposer"], 3, "notFound")
            try await refuses(["revert", "bank", "--to", "1", "--reason", "x"], 2, "--no-proposer")
            try await refuses(["token", "add", "t", "--app", "bank"], 2, "--scope", "--gate")
            try await refuses(["token", "add", "t", "--scope", "read"], 2, "--every-app")
            try await refuses(
                ["token", "add", "t", "--app", "bank", "--scope", "x"], 2, "a --scope: read, propose or administer")
            try await refuses(
                ["token", "add", "t", "--app", "bank", "--scope", "read", "--days", "0"], 2, "1 to 3660 days",
                "as --days")
            try await refuses(["token", "add", "t t", "--app", "bank", "--scope", "read"], 2, "of name")
            try await refuses(["token", "add", "t", "--app", "bank", "--gate", "x.example.com"], 3, "notFound")
            try await refuses(["token", "add", "t", "--app", "shop", "--scope", "read"], 3, "notFound")
            try await refuses(["token", "revoke", "t"], 3, "notFound")
            try await refuses(
                ["approvers", "propose", "--approver", "alice=alice.pub", "--number", "0", "--output", "n"], 2, "number"
            )
            try await refuses(["approvers", "replace", "hello.txt", "--signature", "alice.sig"], 3, "malformed")
            try await refuses(["backup", "--to", "b", "--recipient", "hello.txt"], 2, "holdfastctl keygen")
            try await refuses(["reseal"], 2, "--no-recovery-copy")
            #expect(try content(of: desk) == before)
            // Right values go through where the wrong ones were refused.
            try await publish(change, on: desk)
            // An ACME client makes links to what is newest.
            try FileManager.default.createSymbolicLink(
                at: folder.appending(path: "link.pem"), withDestinationURL: folder.appending(path: "next.pem"))
            let linked = try await desk.run(
                "gate", "bank", World.host, "--data", desk.data, "--certificate", "link.pem")
            #expect(linked.contains("ready: every client gets in"), "\(linked)")
            try await desk.everybodyFollows(isThorough: false)
        }
    }

    @Test("genesis refuses zero and more than there are, and says what one approval and few keys mean")
    func genesis() async throws {
        try await withFolder { folder in
            let (desk, _) = try await makeDesk(in: folder)
            let people = ["--approver", "alice=alice.pub", "--approver", "bob=bob.pub"]
            func genesis(_ number: String, status: Int32 = 0) async throws -> String {
                try await desk.run(
                    ["genesis"] + people + ["--number", number, "--output", "genesis-\(number).txt"], status: status)
            }
            for number in ["0", "-1", "3"] {
                #expect(try await genesis(number, status: 2).contains("number"), "\(number)")
                #expect(!FileManager.default.fileExists(atPath: desk.path("genesis-\(number).txt")))
            }
            let one = try await genesis("1")
            #expect(one.contains("Only one approval is required, so a single stolen key can publish any pins."))
            #expect(one.contains("With 2 approvers of whom 1 must agree, few keys may be lost."), "\(one)")
            let two = try await genesis("2")
            #expect(!two.contains("One approval is enough") && two.contains("few keys may be lost"), "\(two)")
        }
    }

    @Test("gate says whether what was announced may be installed, and from when on it may")
    func gate() async throws {
        try await withFolder { folder in
            let (desk, change) = try await makeDesk(in: folder)
            let gate = ["gate", "bank", World.host, "--data", desk.data]
            #expect(try await desk.run(gate, status: 2).contains("--certificate"))
            #expect(try await desk.run(gate + ["--digest", "x"], status: 2).contains("64 lower-case"))
            let unknown = try desk.authority.leaf(names: [.dns(World.host)])
            try Data(unknown.chainPEM.utf8).write(to: folder.appending(path: "unknown.pem"))
            let stranger = try await desk.run(gate + ["--certificate", "unknown.pem"], status: 3)
            #expect(stranger.contains("notFound of digest") && stranger.contains("Announce it first"), "\(stranger)")
            let early = try await desk.run(gate + ["--certificate", "next.pem"], status: 1)
            #expect(early.contains("not yet: nothing is published yet"), "\(early)")
            try await publish(change, on: desk)
            try await desk.everybodyFollows(isThorough: false)
            #expect(try await desk.run(gate + ["--certificate", "next.pem"]).contains("ready: every client gets in"))
            let digest = "\(Digest(of: desk.next.der))"
            #expect(try await desk.run(gate + ["--digest", digest]).contains("ready: every client gets in"))
            // A certificate that is announced after clients have fetched what is published.
            let later = try desk.authority.leaf(names: [.dns(World.host)])
            try Data(later.chainPEM.utf8).write(to: folder.appending(path: "later.pem"))
            let begins = desk.clock.now.addingTimeInterval(TimeInterval(World.month)).formatted(.iso8601)
            _ = try await desk.run(
                "next", "chain", "bank", World.host, "--data", desk.data, "--chain", "later.pem", "--from", begins)
            let closed = try await desk.run(gate + ["--certificate", "later.pem"], status: 1)
            #expect(closed.contains("not yet: clients would be locked out"), "\(closed)")
        }
    }

    @Test("On a folder with a damaged file each says which one and what to do, with exit code 3, and leaves it alone")
    func damaged() async throws {
        try await withFolder { folder in
            let (desk, change) = try await makeDesk(in: folder)
            try await publish(change, on: desk)
            let whole = try content(of: desk)
            let verbs = [
                ["status"], ["doctor"], ["app", "list"], ["host", "list", "bank"], ["change", "list", "bank"],
                ["change", "show", change], ["publish", change], ["renew"], ["token", "list"], ["approvers"],
                ["next", "withdraw", "bank", World.host], ["approve", change, "--key", "alice.pem", "--yes"],
                ["revert", "bank", "--to", "1", "--reason", "x", "--no-proposer"], ["app", "key", "bank"],
            ]
            // serve goes on, and DyingTests say what it serves.
            for (name, damage, words) in [
                ("configuration.json", Data("{}".utf8), ["malformed"]),
                ("configuration.json", nil, ["configuration.json", "init"]),
                ("head", Data("1\n".utf8), ["head"]),
                ("server.db", Data("no database".utf8), ["damagedDatabase", "backup"]),
            ] as [(String, Data?, [String])] {
                let file = URL(filePath: desk.data).appending(path: name)
                for other in ["server.db-wal", "server.db-shm"] {
                    try? FileManager.default.removeItem(at: URL(filePath: desk.data).appending(path: other))
                }
                if let damage { try damage.write(to: file) } else { try FileManager.default.removeItem(at: file) }
                let before = try content(of: desk)
                for verb in verbs {
                    let output = try await desk.run(verb + ["--data", desk.data], status: 3)
                    for word in words { #expect(output.contains(word), "\(name), \(verb): \(output)") }
                }
                #expect(try content(of: desk) == before, "\(name)")
                try (whole[name] ?? Data()).write(to: file)
            }
            #expect(try await desk.run("doctor", "--data", desk.data).contains("all that is published was approved"))
            try await desk.everybodyFollows(isThorough: false)
        }
    }

    @Test("A reader that goes away early ends the program, and nothing else happens")
    func closedPipe() async throws {
        try await withFolder { folder in
            let (desk, change) = try await makeDesk(in: folder)
            for verb in [
                ["--help"], ["status"], ["doctor"], ["app", "list"], ["change", "show", change],
                ["host", "list", "bank"],
            ] {
                let data = verb == ["--help"] ? "" : "--data \(desk.data)"
                let line =
                    "\(ServerProgram.url.path) \(verb.joined(separator: " ")) \(data) | true; echo ${PIPESTATUS[0]}"
                let (_, output) = try await ForeignProgram.run(
                    ForeignProgram.required("bash"), ["-c", line], in: folder, withErrors: true)
                let words = String(decoding: output, as: UTF8.self)
                // 141 is the end by SIGPIPE; it may also have written everything before.
                let status = words.split(separator: "\n").last.map(String.init) ?? ""
                #expect(["0", "1", "141"].contains(status), "\(verb): \(words)")
            }
            #expect(try await desk.run("doctor", "--data", desk.data).contains("entries of the audit verify"))
        }
    }

    @Test("Interrupted while it asks, it has signed nothing", arguments: [SIGINT, SIGTERM])
    func interrupted(_ signal: Int32) async throws {
        try await withFolder { folder in
            let (desk, change) = try await makeDesk(in: folder)
            // A pipe without a writer, so that the question stays open.
            let line =
                "mkfifo answers; exec 3<>answers; exec \(ServerProgram.url.path) approve \(change) --data \(desk.data) "
                + "--key alice.pem <&3 3<&-"
            let process = try ServingProcess(["/bin/bash", "-c", line], in: folder)
            try await process.says("gate canary: passed")
            process.signal(signal)
            #expect(await process.status() == signal)
            #expect(!process.text.contains("approve: alice"))
            #expect(try await !desk.run("change", "show", change, "--data", desk.data).contains("approve: alice"))
        }
    }
}
