import Foundation
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("holdfastctl --quiet", .timeLimit(.minutes(5)))
struct QuietTests {
    @Test(
        "When all is well, --quiet says nothing, and what is asked for as a document is still written",
        arguments: [
            ("pin leaf.pem", true), ("pin leaf.pem --format json --host www.example.com -o new.json", false),
            ("export bank.json --format curl --force offline", true), ("show leaf.pem", false),
            ("list show pins.json", false),
            ("list prune pins.json --public-key signer.pub", false),
            ("verify pins.json --public-key signer.pub", false),
            ("sign leaf.pem --key key.pem --ca root.pem --force offline", true),
            ("sign leaf.pem --key key.pem --ca root.pem --list pins.json", false),
            ("keygen -o new.pem --no-password", false), ("pins add bank.json www.example.com leaf.pem", false),
            ("pins diff bank.json bank.json", false),
            ("repository init site --small --offline-key key.pem --online-key online.pem", false),
            ("tuf --metadata-dir trusted init site/draft/root.json", false),
        ])
    func well(line: String, makesDocument: Bool) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try site.list([("www.example.com", "a", 30)])
            try site.write("signer.pub", site.publicKey)
            try site.write("online.pem", SigningKey().pem, mode: 0o600)
            try site.leaf("served.pem")
            let made = try await site.run([
                "pin", "served.pem", "--format", "json", "--host", "www.example.com", "-o", "bank.json",
            ])
            try #require(made.status == 0 && made.errors.contains("no backup"), "\(made.errors)")
            if line.hasPrefix("tuf") {
                let begun = try await site.run(
                    "repository init site --small --offline-key key.pem --online-key online.pem".split(separator: " ")
                        .map(String.init))
                try #require(begun.status == 0 && !begun.output.isEmpty && begun.errors.contains("warning"))
            }
            let run = try await site.run(line.split(separator: " ").map(String.init) + ["--quiet"])
            #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
            #expect(run.output.isEmpty != makesDocument, "\(run.output)")
        }
    }

    @Test(
        "A failure is said in spite of --quiet",
        arguments: [
            ("pin missing.pem", 3), ("show damaged.json", 1), ("verify pins.json --public-key other.pub", 1),
            ("list remove pins.json nobody.example --public-key signer.pub", 1),
            ("pins set damaged.json --issued now", 1),
            ("export damaged.json --format android", 1), ("repository status nowhere", 3),
            ("trust-server show --customer acme", 3), ("tuf --metadata-dir trusted init missing.json", 1),
            ("rollover --pins bank.json --connect-to 127.0.0.1:1 --ca root.pem", 3),
            ("check --pins bank.json --connect-to 127.0.0.1:1 --ca root.pem", 3),
        ] as [(String, Int32)])
    func failing(line: String, status: Int32) async throws {
        try await SigningSite.with { site in
            try site.list([("www.example.com", "a", 30)])
            try site.write("signer.pub", site.publicKey)
            let other = try await site.run(["keygen", "-o", "other.pem", "--no-password"])
            try site.write("other.pub", other.output)
            try site.write("damaged.json", "{\"schema\": 1, \"hosts\": [")
            let made = try await site.run([
                "pin", "root.pem", "--format", "json", "--host", "www.example.com", "--certificates", "all", "-o",
                "bank.json",
            ])
            try #require(made.status == 0, "\(made.errors)")
            let run = try await site.run(line.split(separator: " ").map(String.init) + ["--quiet"])
            #expect(run.status == status && !(run.output + run.errors).isEmpty, "\(run.status) \(run.errors)")
        }
    }

    @Test("A field that docs/reference/output.md does not have is found, at any depth")
    func undocumented() throws {
        let documented = try DocumentedFields()
        let object: [String: Any] = ["outcome": "x", "chain": [["subject": "x", "color": 1]], "news": 1]
        let paths = DocumentedFields.paths(of: object)
        #expect(documented.undocumented(paths, of: "check") == ["chain.color", "news"])
        #expect(documented.undocumented(["keyNames.3f9a"], of: "repository status").isEmpty)
    }
}
