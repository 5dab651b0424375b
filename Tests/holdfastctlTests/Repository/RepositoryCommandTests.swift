import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("holdfastctl repository", .timeLimit(.minutes(15)))
struct RepositoryCommandTests {
    private struct Report: Decodable {
        struct Role: Decodable {
            let role: String
            let version: Int
            let daysLeft: Int
            let threshold: Int
            let keys: [String]
        }

        struct Draft: Decodable {
            let role: String
            let root: Int
            let threshold: Int
            let signed: [String]
            let missing: [String]
        }

        let verdict: String
        let isGood: Bool
        let roles: [Role]?
        let drafts: [Draft]?
        let changes: [String]?
        let written: [String]?
        let warnings: [String]
        let overridden: [String]

        var versions: [Int]? { roles?.map(\.version) }
    }

    /// Makes keys as an operator does.
    private static func keygen(_ site: SigningSite, _ names: String...) async throws {
        for name in names {
            let run = try await site.run(["keygen", "-o", "\(name).pem", "--no-password"])
            #expect(run.status == 0, "\(run.errors)")
            try site.write("\(name).pub", run.output)
        }
    }

    private static func run(
        _ site: SigningSite, _ arguments: String..., status: Int32 = 0, at line: SourceLocation = #_sourceLocation
    ) async throws -> Report {
        let run = try await site.run(
            ["repository"] + arguments + ["--json"] + SigningSite.offline(arguments.first))
        #expect(run.status == status, "\(run.output)\(run.errors)", sourceLocation: line)
        return try run.json(Report.self)
    }

    private static func refusal(
        _ site: SigningSite, _ arguments: [String], status: Int32 = 1, at line: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let run = try await site.run(["repository"] + arguments + SigningSite.offline(arguments.first))
        #expect(run.status == status && run.output.isEmpty, "\(run.output)\(run.errors)", sourceLocation: line)
        return run.errors
    }

    private static func pins(
        _ site: SigningSite, _ file: String, active: TestCertificate, backup: TestCertificate,
        more: [PinFile.KeyPin] = []
    ) throws {
        let host = try PinFile.Host(
            try HostPattern(SigningSite.name),
            pins: [
                try PinFile.KeyPin(Pin.publicKey(of: active.der)),
                try PinFile.KeyPin(Pin.publicKey(of: backup.der), state: .backup),
            ] + more)
        try site.write(file, String(decoding: try PinFile(hosts: [host]).json, as: UTF8.self))
    }

    private static func connection(_ server: LoopbackTLSServer) -> [String] {
        ["--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s"]
    }

    /// Whether an app that came with the first root takes the bundle and gets to a server.
    private static func isLetIn(_ site: SigningSite, _ certificate: TestCertificate) async throws -> Bool {
        try await RepositoryApp(site.folder.appending(path: "site/public"), name: SigningSite.name)
            .isLetIn(by: certificate, trusting: site.root)
    }

    @Test("A small repository is begun, published, renewed, and its keys are rotated; apps get in at every step")
    func small() async throws {
        try await SigningSite.with { site in
            let (leaf, backup, next) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"), try site.leaf("n.pem"))
            try await Self.keygen(site, "offline", "online", "online-2", "offline-2")
            let begun = try await Self.run(
                site, "init", "site", "--small", "--offline-key", "offline.pem", "--online-key", "online.pem")
            #expect(begun.drafts?.map(\.signed.count) == [1])
            #expect(try await Self.run(site, "status", "site", status: 1).verdict == "Nothing is published")
            try Self.pins(site, "bank.pins.json", active: leaf, backup: backup)
            let prepared = try await Self.run(site, "pins", "site", "bank.pins.json", "--key", "offline.pem")
            #expect(prepared.changes?.contains("www.example.com: new") == true)
            try await withLoopbackTLSServer(serving: leaf) { server in
                let published = try await site.run(
                    ["repository", "publish", "site", "--key", "online.pem", "--no-shipped-pins"]
                        + Self.connection(server))
                #expect(published.status == 0, "\(published.output)\(published.errors)")
                #expect(published.lines.first == "Published: root 1, targets 1, timestamp 1")
            }
            #expect(try await Self.isLetIn(site, leaf))
            #expect(!(try await Self.isLetIn(site, next)))
            let renewed = try await Self.run(site, "renew", "site", "--key", "online.pem")
            #expect(renewed.versions == [1, 1, 1, 2] && renewed.warnings.isEmpty)
            #expect(renewed.written?.last == "site/public/bundle.json")
            // The online key was stolen.
            let rotated = try await Self.run(
                site, "rotate", "site", "--role", "online", "--add", "online-2.pem", "--remove", "online.pub", "--key",
                "offline.pem")
            #expect(rotated.drafts?.map(\.root) == [1, 2] && rotated.drafts?.map(\.signed.count) == [1, 1])
            let gap = try await Self.refusal(site, ["publish", "site", "--key", "online-2.pem"])
            #expect(gap.contains("override gap"), "\(gap)")
            let replaced = try await Self.run(
                site, "publish", "site", "--key", "online-2.pem", "--key", "online.pem", "--force", "offline")
            #expect(replaced.versions == [2, 1, 2, 3])
            #expect(replaced.overridden == ["offline: no host was asked whether clients get in"])
            #expect(try await Self.refusal(site, ["renew", "site", "--key", "online.pem"]).contains("otherKey"))
            // Root and targets get another key, which the old one signs as well.
            for role in ["root", "targets"] {
                let id = try #require(rotated.drafts?.first?.signed.first)
                _ = try await Self.run(
                    site, "rotate", "site", "--role", role, "--add", "offline-2.pub", "--remove",
                    String(id.prefix(10)), "--key", "offline.pem", "--key", "offline-2.pem")
            }
            let last = try await Self.run(site, "publish", "site", "--key", "online-2.pem", "--force", "offline")
            #expect(last.versions == [3, 2, 3, 4])
            #expect(try await Self.isLetIn(site, leaf))
            let status = try await Self.run(site, "status", "site", status: 3)
            #expect(status.verdict.hasPrefix("Clients accept it;") && status.versions == [3, 2, 3, 4])
            let watched = try await Self.run(site, "status", "site", "--watch", "20d", status: 3)
            #expect(watched.verdict.hasPrefix("Ends too soon: timestamp 4"))
        }
    }

    @Test("An organization: each keyholder reads what changes and adds a signature; too few publish nothing")
    func thresholds() async throws {
        try await SigningSite.with { site in
            let (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
            try await Self.keygen(site, "ann", "bob", "eve", "online")
            let begun = try await Self.run(
                site, "init", "site", "--root-key", "ann.pub", "--root-key", "bob.pub", "--root-key", "eve.pub",
                "--root-threshold", "2", "--targets-key", "ann.pub", "--targets-key", "bob.pub",
                "--targets-threshold", "2", "--online-key", "online.pub")
            #expect(begun.drafts?.map(\.missing.count) == [3])
            try Self.pins(site, "bank.pins.json", active: leaf, backup: backup)
            _ = try await Self.run(site, "pins", "site", "bank.pins.json", "--valid", "30d")
            let publish = ["publish", "site", "--key", "online.pem", "--force", "offline"]
            #expect(try await Self.refusal(site, publish).contains("notSigned"))
            let shown = try await site.run(["repository", "sign", "site"])
            #expect(shown.status == 0 && shown.output.contains("root: 2 of 3 keys must sign"), "\(shown.output)")
            #expect(shown.lines.first == "Not signed: no key was given")
            #expect(try await Self.refusal(site, ["sign", "site", "--key", "online.pem"]).contains("otherKey"))
            _ = try await Self.run(site, "sign", "site", "--key", "ann.pem")
            #expect(try await Self.refusal(site, publish).contains("found 1"))
            let signed = try await Self.run(site, "sign", "site", "--key", "eve.pem")
            #expect(signed.verdict == "Signed: root")
            #expect(try await Self.refusal(site, publish).contains("notSigned of targets"))
            let both = try await Self.run(site, "sign", "site", "--key", "bob.pem")
            #expect(both.verdict == "Signed: root and targets")
            let published = try await Self.run(site, "publish", "site", "--key", "online.pem", "--force", "offline")
            #expect(published.overridden.count == 1 && published.roles?.map(\.threshold) == [2, 2, 1, 1])
            #expect(try await Self.isLetIn(site, leaf))
            #expect(try await Self.refusal(site, ["sign", "site", "--key", "ann.pem"]).contains("nothing to sign"))
            // Changed behind the back of those who signed.
            _ = try await Self.run(site, "pins", "site", "bank.pins.json", "--key", "ann.pem")
            let pins = try site.text("site/draft/pins.json")
            try site.write("site/draft/pins.json", pins + "\n")
            #expect(try await Self.refusal(site, ["sign", "site", "--key", "bob.pem"]).contains("another, or none"))
        }
    }

    @Test("Pins that would lock somebody out are not published, unless --force names why")
    func checks() async throws {
        try await SigningSite.with { site in
            let (leaf, backup, other) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"), try site.leaf("o.pem"))
            try await Self.keygen(site, "offline", "online")
            _ = try await Self.run(
                site, "init", "site", "--small", "--offline-key", "offline.pem", "--online-key", "online.pem")
            try await withLoopbackTLSServer(serving: leaf) { server in
                func publish(
                    _ force: String..., status: Int32 = 0, at line: SourceLocation = #_sourceLocation
                ) async throws -> String {
                    let run = try await site.run(
                        ["repository", "publish", "site", "--key", "online.pem", "--no-shipped-pins"]
                            + Self.connection(server)
                            + force.flatMap { ["--force", $0] })
                    #expect(run.status == status, "\(run.output)\(run.errors)", sourceLocation: line)
                    return run.output + run.errors
                }
                func prepare(_ active: TestCertificate, _ backup: TestCertificate, _ more: PinFile.KeyPin...)
                    async throws
                {
                    try Self.pins(site, "bank.pins.json", active: active, backup: backup, more: more)
                    _ = try await Self.run(site, "pins", "site", "bank.pins.json", "--key", "offline.pem")
                }
                try await prepare(other, backup)
                let mismatch = try await publish(status: 1)
                #expect(mismatch.contains("refused: ") && mismatch.contains("locked out"), "\(mismatch)")
                #expect(mismatch.contains("nothing was published"))
                // A lock-out that was seen does not count as unknown.
                #expect(try await publish("unreachable", status: 1).contains("refused: "))
                #expect(!FileManager.default.fileExists(atPath: site.folder.appending(path: "site/public").path))
                try await prepare(other, leaf)
                #expect(try await publish("refused", status: 1).contains("backup: "))
                try await prepare(leaf, backup)
                #expect(try await publish().contains("Published: root 1, targets 1, timestamp 1"))
                // The issuer's key goes on to let clients in, and the server's own would no longer count.
                let issuer = try PinFile.KeyPin(Pin.publicKey(of: site.issuing.certificate.der), role: .issuer)
                try await prepare(other, backup, issuer)
                let dropped = try await publish(status: 1)
                #expect(dropped.contains("dropped: ") && !dropped.contains("refused: "), "\(dropped)")
                // A new active pin that was not tried.
                try await prepare(leaf, backup, try PinFile.KeyPin(Pin.publicKey(of: other.der)))
                #expect(try await publish().contains("was not a candidate or a backup for a week"))
                let short = try await site.run(
                    ["repository", "renew", "site", "--key", "online.pem", "--lifetime", "6d", "--offline"])
                #expect(short.status == 1 && short.errors.contains("tooShort"), "\(short.errors)")
                try await prepare(leaf, backup)
                let forced = try await site.run(
                    [
                        "repository", "publish", "site", "--key", "online.pem", "--lifetime", "1d", "--force",
                        "lifetime", "--force", "offline", "--json",
                    ])
                #expect(forced.status == 0, "\(forced.errors)")
                #expect(try forced.json(Report.self).overridden.count == 2)
            }
            // The server is away.
            try Self.pins(site, "bank.pins.json", active: leaf, backup: backup)
            _ = try await Self.run(site, "pins", "site", "bank.pins.json", "--key", "offline.pem")
            let away = try await site.run([
                "repository", "publish", "site", "--key", "online.pem", "--ca", "root.pem", "--connect-to",
                "127.0.0.1:1", "--timeout", "60s",
            ])
            #expect(away.status == 3 && away.errors.contains("unreachable: "), "\(away.errors)")
            let known = try await site.run([
                "repository", "publish", "site", "--key", "online.pem", "--ca", "root.pem", "--connect-to",
                "127.0.0.1:1", "--timeout", "60s", "--force", "refused",
            ])
            #expect(known.status == 3 && known.errors.contains("unreachable: "), "\(known.errors)")
            let unknown = try await site.run([
                "repository", "publish", "site", "--key", "online.pem", "--ca", "root.pem", "--connect-to",
                "127.0.0.1:1", "--timeout", "60s", "--force", "unreachable",
            ])
            #expect(
                unknown.status == 0 && unknown.output.contains("overridden: unreachable: "),
                "\(unknown.output)\(unknown.errors)")
        }
    }

    @Test("Wrong folders, keys and files say so, and change nothing")
    func wrong() async throws {
        try await SigningSite.with { site in
            try await Self.keygen(site, "offline", "online")
            #expect(try await Self.refusal(site, ["status", "nowhere"], status: 3).contains("wrongPlace"))
            let begin = ["init", "site", "--small", "--offline-key", "offline.pem", "--online-key", "online.pem"]
            #expect(
                try await Self.refusal(
                    site, ["init", "site", "--small", "--offline-key", "offline.pem", "--online-key", "offline.pub"]
                ).contains("invalidRoles"))
            _ = try await site.run(["repository"] + begin)
            #expect(try await Self.refusal(site, begin, status: 3).contains("already"))
            try site.write("other.json", "{}")
            #expect(
                try await Self.refusal(site, ["pins", "site", "other.json", "--key", "offline.pem"]).contains("schema"))
            #expect(
                try await Self.refusal(
                    site, ["rotate", "site", "--role", "root", "--remove", "00000000"], status: 2
                ).contains("names no key"))
            #expect(
                try await Self.refusal(site, ["renew", "site", "--key", "online.pem"]).contains("publish first"))
            #expect(
                try await Self.refusal(site, ["publish", "site", "--key", "online.pem"]).contains("Prepare the pins"))
        }
    }

    @Test("A file that is no pin file is named for what it is, before anything is prepared")
    func foreignFiles() async throws {
        try await SigningSite.with { site in
            let (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
            try await site.beginPublishedRepository(active: leaf, backup: backup)
            try site.list([(SigningSite.name, "a", 30)])
            for (file, text) in [
                ("pins.json", "found signed list. Make a pin file of the servers with holdfastctl pin"),
                ("site/public/bundle.json", "expected a pin file, found bundle of a repository of pins"),
                ("site/public/metadata/1.targets.json", "expected a pin file, found metadata of The Update Framework"),
                ("leaf.pem", "expected a pin file, found PEM"),
            ] {
                let run = try await site.run(["repository", "pins", "site", file])
                #expect(run.status == 1 && run.errors.contains(text), "\(file): \(run.errors)")
            }
            #expect(!FileManager.default.fileExists(atPath: site.folder.appending(path: "site/draft/pins.json").path))
        }
    }
}
