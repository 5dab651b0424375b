import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("holdfastctl verify and list", .timeLimit(.minutes(15)))
struct ListTests {
    private struct Report: Decodable {
        struct Entry: Decodable {
            let state: String
            let name: String
            let fingerprint: String
            let expires: Int64
            let daysLeft: Int
        }
        struct Failure: Decodable {
            let code: String
            let entry: Int?
            let field: String?
        }
        let outcome: String?
        let verified: Bool?
        let entries: [Entry]?
        let namesWithoutBackup: [String]?
        let unsignedDomainsConfig: Bool?
        let error: Failure?
    }

    private struct Pruned: Decodable {
        struct Entry: Decodable {
            let name: String
        }
        let removed: [Entry]
        let remaining: Int
    }

    @Test("Of each entry verify says whether it is valid and when it expires; the exit code says whether all are")
    func verify() async throws {
        try await SigningSite.with { site in
            try site.list([
                ("api.example.com", "a", 30.5), ("api.example.com", "b", 3.5), ("www.example.com", "c", 90.5),
            ])
            let good = try await site.run(["verify", "pins.json", "--public-key", site.publicKey])
            #expect(good.status == 0)
            #expect(good.lines.map { $0.hasPrefix("valid ") } == [false, true, true, true])
            #expect(good.output.contains("30 days left") && good.output.contains("3 days left"))
            #expect(good.output.contains("3 entries, signed with the key; 0 expired"))
            #expect(good.errors.contains("www.example.com has one fingerprint") && !good.errors.contains("api."))
            #expect(!good.actsOnTerminal)

            let watched = try await site.run(["verify", "pins.json", "--public-key", site.publicKey, "--watch", "14d"])
            #expect(watched.status == 4 && watched.output.contains("1 within 14d"))
            let json = try await site.run([
                "verify", "pins.json", "--public-key", site.publicKey, "--watch", "14d", "--json",
            ])
            let report = try json.json(Report.self)
            #expect(json.status == 4 && report.outcome == "expiring" && report.entries?.map(\.daysLeft) == [30, 3, 90])
            #expect(report.namesWithoutBackup == ["www.example.com"] && report.verified == true)

            try site.list([("api.example.com", "a", 30.5), ("api.example.com", "b", -2.5)])
            let expired = try await site.run(["verify", "pins.json", "--public-key", site.publicKey])
            #expect(expired.status == 1 && expired.output.contains("ended 3 days ago"))
            #expect(expired.lines.map { $0.hasPrefix("expired ") } == [false, false, true])
        }
    }

    @Test("A list that does not verify names the entry and the field, and nothing else is said of it")
    func invalid() async throws {
        try await SigningSite.with { site in
            try site.list([("api.example.com", "a", 30), ("www.example.com", "c", 90)])
            let text = try site.text("pins.json")
            try site.write("changed.json", text.replacing("www.example.com", with: "www.example.net"))
            let run = try await site.run(["verify", "changed.json", "--public-key", site.publicKey])
            #expect(run.status == 1 && run.output.isEmpty)
            #expect(run.errors.contains("invalidSignature in entry 1, field \"signature\""))
            let json = try await site.run(["verify", "changed.json", "--public-key", site.publicKey, "--json"])
            let report = try json.json(Report.self)
            #expect(json.status == 1 && report.outcome == "invalid" && report.error?.code == "invalidSignature")
            #expect(report.error?.entry == 1 && report.error?.field == "signature" && report.entries == nil)

            let other = try await site.run(["verify", "pins.json", "--public-key", try SigningKey().publicKey.base64])
            #expect(other.status == 1 && other.errors.contains("invalidSignature"))
            try site.write("twice.json", text.replacing("\"expires\"", with: "\"name\":\"a\",\"expires\""))
            let twice = try await site.run(["verify", "twice.json", "--public-key", site.publicKey])
            #expect(twice.status == 1 && twice.errors.contains("duplicateKey"))
            let missing = try await site.run(["verify", "missing.json", "--public-key", site.publicKey])
            #expect(missing.status == 3 && missing.errors.contains("missing.json"))
        }
    }

    @Test("The public key is Base64, a file with that, or PEM; a private key is not taken for one")
    func publicKeys() async throws {
        try await SigningSite.with { site in
            try site.list([("www.example.com", "c", 90)])
            try site.write("key.pub", site.publicKey + "\n")
            #expect(try await site.run(["verify", "pins.json", "--public-key", "key.pub"]).status == 0)
            let secret = try await site.run(["verify", "pins.json", "--public-key", "key.pem"])
            #expect(secret.status == 2 && secret.errors.contains("private key"))
            #expect(!secret.errors.contains(try site.text("key.pem").split(separator: "\n")[1]))
        }
    }

    @Test("show prints a list with and without its signatures being looked at, and says which")
    func show() async throws {
        try await SigningSite.with { site in
            try site.list([("api.example.com", "a", -1), ("www.example.com", "c", 90)])
            let text = try site.text("pins.json").replacing("]}", with: "],\"domainsConfig\":{}}")
            try site.write("pins.json", text.replacing("\"signature\":\"M", with: "\"signature\":\"N"))
            let run = try await site.run(["list", "show", "pins.json"])
            #expect(run.status == 0 && run.lines.count == 3 && run.output.contains("Signatures were not verified"))
            let json = try await site.run(["list", "show", "pins.json", "--json"])
            let report = try json.json(Report.self)
            #expect(report.verified == false && report.entries?.map(\.state) == ["expired", "valid"])
            #expect(report.unsignedDomainsConfig == true)
            let checked = try await site.run(["list", "show", "pins.json", "--public-key", site.publicKey])
            #expect(checked.status == 1 && checked.output.isEmpty)
            try site.write("pins.json", text)
            let good = try await site.run(["list", "show", "pins.json", "--public-key", site.publicKey])
            #expect(good.status == 0 && !good.output.contains("not verified"))
            try site.write("other.json", "[]")
            #expect(try await site.run(["list", "show", "other.json"]).status == 1)
            #expect(try await site.run(["list", "show", "missing.json"]).status == 3)
        }
    }

    @Test("An empty list, which clients refuse, does not verify, and an expiry in milliseconds is warned of")
    func emptyAndMilliseconds() async throws {
        try await SigningSite.with { site in
            try site.list([])
            let empty = try await site.run(["verify", "pins.json", "--public-key", site.publicKey, "--json"])
            let report = try empty.json(Report.self)
            #expect(empty.status == 1 && report.outcome == "invalid" && report.error?.code == "emptyList")
            try site.list([("api.example.com", "a", 30), ("api.example.com", "b", 20_000_000)])
            let late = try await site.run(["verify", "pins.json", "--public-key", site.publicKey])
            #expect(late.status == 0 && late.errors.contains("api.example.com expires after the year 9999"))
        }
    }

    @Test("An entry for a name that no client looks up is not valid, and is not signed")
    func namesThatNoClientAsksFor() async throws {
        try await SigningSite.with { site in
            for name in ["api.example.com.", "b\u{FC}cher.example", "host:443", "[2001:db8::1]", "2001:db8:0::1"] {
                try site.list([("api.example.com", "a", 30), (name, "b", 30)])
                let run = try await site.run(["verify", "pins.json", "--public-key", site.publicKey, "--json"])
                #expect(run.status == 1 && run.errors.contains("no client asks for"), "\(name)")
                #expect(run.output.contains(#""state":"unusable""#) || run.output.contains(#""state" : "unusable""#))
            }
            try site.list([("api.example.com", "a", 30), ("My Device", "b", 30), ("*.example.com", "c", 30)])
            #expect(try await site.run(["verify", "pins.json", "--public-key", site.publicKey]).status == 0)
        }
    }

    @Test("show reads as strictly as clients do, signed or not")
    func strictShow() async throws {
        try await SigningSite.with { site in
            try site.list([("api.example.com", "a", 30)])
            let text = try site.text("pins.json")
            let twice = text.replacing("\"fingerprints\"", with: "\"fingerprints\":[],\"fingerprints\"")
            // A mark is no fault of the document, so the answer is how to remove it.
            try site.write("marked.json", "\u{FEFF}" + text)
            let marked = try await site.run(["list", "show", "marked.json"])
            #expect(marked.status == 3 && marked.output.isEmpty && marked.errors.contains("byte-order mark"))
            for (bad, word) in [
                (twice, "duplicateKey"),
                (text.replacing(",\"signature\"", with: ".0,\"signature\""), "notAnInteger"),
                ("{\"domainsConfig\":{}}", "fingerprints"),
            ] {
                try site.write("bad.json", bad)
                let run = try await site.run(["list", "show", "bad.json"])
                #expect(run.status == 1 && run.output.isEmpty && run.errors.contains(word), "\(word)")
            }
        }
    }

    @Test("A name in a list cannot act on the terminal")
    func hostileName() async throws {
        try await SigningSite.with { site in
            try site.list([("a\u{202E}b\u{2028}c", "a", 30)])
            for arguments in [
                ["list", "show", "pins.json"], ["list", "show", "pins.json", "--json"],
                ["verify", "pins.json", "--public-key", site.publicKey],
            ] {
                let run = try await site.run(arguments)
                #expect(run.status == 0 && !run.actsOnTerminal && !run.output.contains("\u{2028}"))
            }
        }
    }

    @Test("prune takes out what has expired and needs no private key: what stays keeps its signature")
    func prune() async throws {
        try await SigningSite.with { site in
            try site.list([("api.example.com", "a", -1), ("api.example.com", "b", 9), ("www.example.com", "c", -0.1)])
            let mark = Data(SigningSite.digest(UInt8(ascii: "b"))).base64EncodedString()
            let line = try #require(
                try site.text("pins.json").split(separator: "\n").first { line in
                    line.replacing("\\/", with: "/").contains(mark)
                })
            let run = try await site.run(["list", "prune", "pins.json", "--public-key", site.publicKey, "--json"])
            let report = try run.json(Pruned.self)
            #expect(run.status == 0 && report.remaining == 1)
            #expect(report.removed.map(\.name) == ["api.example.com", "www.example.com"])
            #expect(try site.entries().map(\.name) == ["api.example.com"])
            #expect(try site.text("pins.json").contains(line.dropLast()))
            let kept = try site.text("pins.json")
            let verb = ["list", "prune", "pins.json", "--public-key", site.publicKey]
            let copied = try await site.run(verb + ["-o", "copy.json", "--json"])
            #expect(try copied.status == 0 && site.text("copy.json") == kept && copied.output.contains("copy.json"))
            let nowhere = try await site.run(verb + ["-o", "no/such/file"])
            #expect(nowhere.status == 3 && nowhere.errors.contains("there is no folder"), "\(nowhere.errors)")
            let again = try await site.run(["list", "prune", "pins.json", "--public-key", site.publicKey])
            #expect(again.status == 0 && again.lines == ["pins.json: 0 removed, 1 left"])
        }
    }

    @Test("remove takes out a name or a certificate without a private key, and not the last live entry of a name")
    func remove() async throws {
        try await SigningSite.with { site in
            let key = ["--public-key", site.publicKey]
            try site.list([
                ("www.example.com", "a", 30), ("www.example.com", "b", 40), ("old.example.com", "c", 30),
                ("gone.example.com", "d", -1),
            ])
            let before = try site.text("pins.json")
            let one = SigningSite.hex(0x61)
            let run = try await site.run(
                ["list", "remove", "pins.json", one, "GONE.example.com", "--force", "unreachable"] + key)
            #expect(run.status == 0 && run.lines.first == "pins.json: 2 removed, 2 left", "\(run.errors)")
            let signatures = try site.text("pins.json").matches(of: /"signature":"[^"]+"/).map(\.output)
            #expect(signatures.allSatisfy { before.contains($0) } && signatures.count == 2)

            let changed = try site.text("pins.json")
            for subject in ["old.example.com", "www.example.com"] {
                let last = try await site.run(["list", "remove", "pins.json", subject] + key)
                #expect(last.status == 1 && last.errors.contains("\(subject) would have no live entry"))
                #expect(last.errors.contains("--retire") && last.output.isEmpty)
            }
            let none = try await site.run(["list", "remove", "pins.json", "nobody.example"] + key)
            #expect(none.status == 1 && none.errors.contains("no entry of nobody.example"))
            #expect(try site.text("pins.json") == changed)

            let retiring = ["list", "remove", "pins.json", "old.example.com", "--retire"] + key
            let elsewhere = try await site.run(retiring + ["-o", "next.json"])
            #expect(elsewhere.status == 0 && elsewhere.output.hasPrefix("next.json: 1 removed"), "\(elsewhere.output)")
            #expect(try site.text("pins.json") == changed && !site.text("next.json").contains("old.example.com"))
            let retired = try await site.run(
                ["list", "remove", "pins.json", "old.example.com", "--retire", "--json"] + key)
            #expect(retired.status == 0 && retired.errors.contains("warning: old.example.com has no live entry"))
            #expect(try site.entries().map(\.name) == ["www.example.com"])
            let empty = try await site.run(["list", "remove", "pins.json", "www.example.com", "--retire"] + key)
            #expect(empty.status == 1 && empty.errors.contains("without entries"))
        }
    }

    @Test("The entry of the certificate that is served stays: clients that get in now would be locked out")
    func served() async throws {
        try await SigningSite.with { site in
            let (leaf, next) = (try site.leaf("leaf.pem"), try site.leaf("next.pem"))
            try await withLoopbackTLSServer(serving: leaf) { server in
                let place = [
                    "--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s",
                    "--no-shipped-pins",
                ]
                for certificate in ["leaf.pem", "next.pem"] {
                    #expect(try await site.sign([certificate, "--list", "pins.json"]).status == 0)
                }
                let before = try site.text("pins.json")
                func remove(_ certificate: TestCertificate, _ more: [String] = []) async throws -> CommandRun {
                    let fingerprint = Pin.certificate(certificate.der).description
                    return try await site.run(
                        ["list", "remove", "pins.json", fingerprint, "--public-key", site.publicKey] + place + more)
                }
                let refused = try await remove(leaf)
                #expect(refused.status == 1 && refused.errors.contains("would be locked out"), "\(refused.errors)")
                #expect(try site.text("pins.json") == before)
                let replaced = try await site.sign(
                    ["next.pem", "--list", "pins.json", "--replace"] + place.dropFirst(2))
                #expect(replaced.status == 1 && replaced.errors.contains("would be locked out"), "\(replaced.errors)")
                #expect(try site.text("pins.json") == before)
                let spare = try await remove(next)
                #expect(spare.status == 0, "\(spare.errors)")
                #expect(try await site.sign(["next.pem", "--list", "pins.json"]).status == 0)
                let forced = try await remove(leaf, ["--force", "refused"])
                #expect(forced.status == 0 && forced.errors.contains("warning: refused: "), "\(forced.errors)")
                // Clients that are locked out lose nothing more: the list changes, and the answer is no good news.
                try site.leaf("third.pem")
                #expect(try await site.sign(["third.pem", "--list", "pins.json"]).status == 0)
                let out = try site.text("pins.json")
                let lost = try await remove(next)
                #expect(lost.status == 1 && lost.errors.contains("refused, as before: "), "\(lost.errors)")
                #expect(lost.lines.first?.hasPrefix("CLIENTS ARE LOCKED OUT: ") == true, "\(lost.output)")
                #expect(lost.lines[1] == "pins.json: 1 removed, 1 left")
                #expect(try site.text("pins.json") != out)
            }
        }
    }

    @Test(
        "The first entry of a name that a wildcard covered hides the wildcard, and is signed only if nobody is locked out"
    )
    func hiddenWildcard() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("wild.pem", [.dns("*.example.com")])
            try site.leaf("next.pem")
            try await withLoopbackTLSServer(serving: leaf) { server in
                let place = ["--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s"]
                #expect(try await site.sign(["wild.pem", "--list", "pins.json"]).status == 0)
                let before = try site.text("pins.json")
                let refused = try await site.sign(["next.pem", "--list", "pins.json"] + place)
                #expect(refused.status == 1 && refused.errors.contains("would be locked out"), "\(refused.errors)")
                #expect(try site.text("pins.json") == before)
                // Together with what is served for the name it hides nothing.
                let both = try await site.sign(
                    ["wild.pem", "--name", SigningSite.name, "--list", "pins.json"])
                #expect(both.status == 0, "\(both.errors)")
                #expect(try await site.sign(["next.pem", "--list", "pins.json"]).status == 0)
                // Another wildcard entry takes nothing away, so no host is asked.
                try site.leaf("wild-2.pem", [.dns("*.example.com")])
                let more = try await site.sign(["wild-2.pem", "--list", "pins.json"])
                #expect(more.status == 0 && !more.errors.contains("not asked"), "\(more.errors)")
                // Without a server the effect is unknown.
                #expect(try await site.sign(["wild.pem", "--list", "other.json"]).status == 0)
                await server.shutdown()
                let unknown = try await site.sign(["next.pem", "--list", "other.json"] + place)
                #expect(unknown.status == 3 && unknown.errors.contains("unreachable"), "\(unknown.errors)")
                let forced = try await site.sign(
                    ["next.pem", "--list", "other.json", "--force", "unreachable"] + place)
                #expect(forced.status == 0, "\(forced.errors)")
            }
        }
    }

    @Test("The entry of a wildcard stays unless somebody says that what nobody can ask does not matter")
    func wildcardEntry() async throws {
        try await SigningSite.with { site in
            let (leaf, _) = (
                try site.leaf("wild.pem", [.dns("*.example.com")]), try site.leaf("next.pem", [.dns("*.example.com")])
            )
            for file in ["wild.pem", "next.pem"] {
                #expect(try await site.sign([file, "--list", "pins.json"]).status == 0)
            }
            let before = try site.text("pins.json")
            let remove = [
                "list", "remove", "pins.json", Pin.certificate(leaf.der).description, "--public-key", site.publicKey,
                "--no-shipped-pins",
            ]
            let unknown = try await site.run(remove)
            #expect(unknown.status == 3 && unknown.errors.contains("pins.json is left as it is"), "\(unknown.errors)")
            #expect(unknown.errors.contains("no host can be asked") && unknown.errors.contains("*.example.com"))
            #expect(try site.text("pins.json") == before)
            let forced = try await site.run(remove + ["--force", "unreachable"])
            #expect(forced.status == 0, "\(forced.errors)")
            #expect(try site.entries().count == 1)
        }
    }

    @Test("A list that does not verify, or of which nothing would be left, is not pruned")
    func notPruned() async throws {
        try await SigningSite.with { site in
            try site.list([("api.example.com", "a", -1)])
            let before = try site.text("pins.json")
            let empty = try await site.run(["list", "prune", "pins.json", "--public-key", site.publicKey])
            #expect(empty.status == 1 && empty.errors.contains("without entries"))
            let other = try await site.run([
                "list", "prune", "pins.json", "--public-key", try SigningKey().publicKey.base64,
            ])
            #expect(other.status == 1)
            #expect(try site.text("pins.json") == before)
            #expect(try await site.run(["list", "prune", "missing.json", "--public-key", site.publicKey]).status == 3)
            #expect(!FileManager.default.fileExists(atPath: site.folder.appending(path: "missing.json").path))
        }
    }
}
