import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("Names of the keys of a repository", .timeLimit(.minutes(10)))
struct RepositoryKeyNameTests {
    /// The pin of a P-256 key as `holdfastctl` prints the key.
    private static func pin(of text: String) throws -> Pin {
        let octets = try #require(Data(base64Encoded: text.trimmingCharacters(in: .whitespacesAndNewlines)))
        return try Pin.publicKey(spkiDER: Array(P256.Signing.PublicKey(x963Representation: octets).derRepresentation))
    }

    private struct Answer: Decodable {
        let keyNames: [String: String]?
    }

    @Test("Keyholders see names when they sign together, and a key goes by its name")
    func ceremony() async throws {
        try await SigningSite.with { site in
            for name in ["ann", "bob", "eve", "online"] {
                let key = TUFSigningKey()
                try site.write("\(name).pem", try #require(key.pem), mode: 0o600)
                try site.write("\(name).pub", try #require(key.publicKeyText) + "\n")
            }
            let begun = try await site.repository(
                "init", "site", "--root-key", "ann=ann.pub", "--root-key", "bob=bob.pub", "--root-threshold", "2",
                "--targets-key", "ann.pub", "--online-key", "server-1=online.pub", "--json")
            #expect(try Set((begun.json(Answer.self).keyNames ?? [:]).values) == ["ann", "bob", "server-1"])
            let first = try await site.repository("sign", "site", "--key", "ann.pem")
            #expect(first.output.contains("not yet bob ("), "\(first.output)")
            for name in ["ann", "bob"] {
                let line = try Regex("root: key \(name) \\([0-9a-f]{64}\\) signs from now on\n")
                #expect(first.output.contains(line), "\(first.output)")
            }
            // The root that all keyholders sign has the names, one for each key.
            #expect(first.output.contains("x-holdfast-name"), "\(first.output)")
            try await site.repository("sign", "site", "--key", "bob.pem")
            try await site.preparePinsForAnn()
            try await site.repository("publish", "site", "--force", "offline", "--key", "online.pem")
            let status = try await site.repository("status", "site", "--app-root", "site/public/metadata/1.root.json")
            #expect(status.output.contains("ann (") && status.output.contains("has signed"), "\(status.output)")

            // The root says who holds its keys, and who signed the other files once a root is trusted.
            let root = "site/public/metadata/1.root.json"
            let shown = try await site.run(["show", root])
            #expect(shown.status == 0, "\(shown.errors)")
            for (name, roles) in [("ann", "root, targets"), ("bob", "root"), ("server-1", "timestamp, snapshot")] {
                let text = try site.text(name == "server-1" ? "online.pub" : "\(name).pub")
                let digest = try Self.pin(of: text)
                let id = try TUFPublicKey(Data(text.utf8)).named(name).id
                #expect(
                    shown.output.contains("\(name): \(digest), signs \(roles), id \"\(id)\""), "\(shown.output)")
                #expect(
                    shown.output.contains("key \"\(id)\" of \(name)") == (name != "server-1"), "\(shown.output)")
            }
            let timestamp = "site/public/metadata/timestamp.json"
            let proved = try await site.run(["show", timestamp, "--root", root])
            #expect(proved.status == 0 && proved.output.contains("\" of server-1"), "\(proved.output)\(proved.errors)")
            let alone = try await site.run(["show", timestamp])
            #expect(!alone.output.contains("server-1"), "\(alone.output)")

            let rotated = try await site.repository(
                "rotate", "site", "--role", "root", "--add", "eve=eve.pub", "--remove", "bob", "--key", "ann.pem",
                "--key", "bob.pem", "--key", "eve.pem")
            for (name, becomes) in [("bob", "no longer signs"), ("eve", "signs from now on")] {
                let line = try Regex("root: key \(name) \\([0-9a-f]{64}\\) \(becomes)\n")
                #expect(rotated.output.contains(line), "\(rotated.output)")
            }
            try await site.repository("publish", "site", "--force", "offline", "--key", "online.pem")
            let after = try await site.repository("status", "site", "--json")
            #expect(try Set((after.json(Answer.self).keyNames ?? [:]).values) == ["ann", "eve", "server-1"])
        }
    }

    @Test(
        "Only short names of plain characters are names",
        arguments: ["", "a b", "ann;", "größe", String(repeating: "a", count: 65)])
    func refused(name: String) async throws {
        #expect(throws: SigningError.self) { _ = try TUFSigningKey().publicKey.named(name) }
        try await SigningSite.with { site in
            let key = try #require(TUFSigningKey().publicKeyText)
            try site.write("a.pub", key)
            let run = try await site.run([
                "repository", "init", "site", "--small", "--offline-key", "\(name)=a.pub", "--online-key", "key.pem",
            ])
            #expect(run.status == 2 && run.errors.contains("invalidName"), "\(run.errors)")
        }
    }

    @Test("A file with an equals sign in its name is that file, and a name changes the key's id, and nothing else")
    func files() async throws {
        try await SigningSite.with { site in
            let key = TUFSigningKey().publicKey
            let named = try key.named("ann")
            #expect(named.name == "ann" && key.name == nil && named.id != key.id && named.isSameKey(as: key))
            try site.write("a=b.pem", try #require(TUFSigningKey().pem), mode: 0o600)
            let run = try await site.repository(
                "init", "site", "--small", "--offline-key", "a=b.pem", "--online-key", "key.pem", "--json")
            #expect(try run.json(Answer.self).keyNames == nil)
        }
    }
}

extension SigningSite {
    /// Prepares pins that ann's key signs.
    fileprivate func preparePinsForAnn() async throws {
        let (active, backup) = (try leaf("active.pem"), try leaf("backup.pem"))
        let file = try PinFile(hosts: [
            PinFile.Host(
                HostPattern(Self.name),
                pins: [
                    PinFile.KeyPin(.publicKey(of: active.der)),
                    PinFile.KeyPin(.publicKey(of: backup.der), state: .backup),
                ])
        ])
        try write("bank.pins.json", String(decoding: file.json, as: UTF8.self))
        try await repository("pins", "site", "bank.pins.json", "--key", "ann.pem")
    }
}
