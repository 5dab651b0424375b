import Crypto
import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl show", .timeLimit(.minutes(15)))
struct ShowTests {
    struct Report: Decodable {
        struct Item: Decodable {
            struct Signature: Decodable {
                let state: String
                let text: String
            }
            struct Fact: Decodable {
                let name: String
                let value: String
            }
            struct Certificate: Decodable {
                let subject: String?
                let keyPin: String?
            }
            struct Entry: Decodable {
                let name: String
                let daysLeft: Int
            }
            let kind: String
            let signature: Signature?
            let facts: [Fact]
            let certificate: Certificate?
            let entries: [Entry]?

            func values(_ name: String) -> [String] { facts.filter { $0.name == name }.map(\.value) }
        }
        let file: String
        let items: [Item]
    }

    private static func items(
        _ site: SigningSite, _ arguments: [String], status: Int32 = 0
    ) async throws -> [Report.Item] {
        let text = try await site.run(["show"] + arguments)
        #expect(text.status == status && text.errors.isEmpty && !text.actsOnTerminal, "\(text.errors)")
        let run = try await site.run(["show", "--json"] + arguments)
        #expect(run.status == status, "\(run.errors)")
        return try run.json(Report.self).items
    }

    @Test("The report of a client shows its chain beside the pins that the client knew, and which match")
    func report() async throws {
        try await SigningSite.with { site in
            let (leaf, other) = (try site.leaf("leaf.pem"), try site.leaf("other.pem"))
            let pins = try [leaf, other].map { try Pin.publicKey(of: $0.der).description }
            func file(_ name: String, _ fields: [String: Any], inBody: Bool = false) throws {
                let report: Any =
                    inBody ? [["type": "network-error", "url": "https://api.example.com/", "body": fields]] : fields
                try JSONSerialization.data(withJSONObject: report).write(to: site.folder.appending(path: name))
            }
            let base64 = pins.map { $0.dropFirst("sha256/".count) }
            try file(
                "plain.json",
                [
                    "hostname": "api.example.com", "port": 443, "known-pins-expiration-date": NSNull(),
                    "validated-certificate-chain": [leaf.pem, other.pem],
                    "known-pins": ["pin-sha256=\"\(base64[1])\""],
                ])
            let plain = try await Self.items(site, ["--report", "plain.json"])
            #expect(plain.map(\.kind).first == "report of a client" && plain.count == 3)
            #expect(plain[0].signature?.state == "unsigned" && plain[0].values("hostname") == ["api.example.com"])
            #expect(plain[0].values("pin") == ["pin-sha256=\"\(base64[1])\", of certificate 1"])
            #expect(plain[1].values("pinned") == ["NO"] && plain[2].values("pinned") == ["yes"])
            #expect(plain.dropFirst().map { $0.certificate?.keyPin } == pins)
            // The served chain counts, and pins have their roles.
            try file(
                "nel.json",
                [
                    "served-certificate-chain": [leaf.pem], "validated-certificate-chain": [other.pem],
                    "sampling_fraction": 0.5, "document-version": "7",
                    "pins": [["pin": pins[1], "role": "leaf", "state": "backup"]],
                ], inBody: true)
            let nel = try await Self.items(site, ["--report", "nel.json"])
            #expect(nel.count == 2 && nel[0].values("document-version") == ["7"])
            #expect(nel[0].values("pin") == ["\(pins[1]), leaf, backup, of no certificate here"])
            #expect(nel[1].certificate?.keyPin == pins[0] && nel[1].values("pinned") == ["NO"])
        }
    }

    @Test("What is no report, and a key for one, are refused")
    func noReport() async throws {
        try await SigningSite.with { site in
            _ = try site.leaf("leaf.pem")
            for (name, text) in [
                ("empty.json", "{}"), ("list.json", "[]"), ("text.json", "hello"), ("open.json", "{"),
                ("pem.json", #"{"served-certificate-chain": ["hello"]}"#),
                ("many.json", "{\"known-pins\": [\(Array(repeating: "\"x\"", count: 33).joined(separator: ","))]}"),
            ] {
                try Data(text.utf8).write(to: site.folder.appending(path: name))
                let run = try await site.run(["show", "--report", name])
                #expect(run.status == 1 && run.errors.contains(name), "\(name): \(run.errors)")
            }
            let run = try await site.run(["show", "--report", "empty.json", "--signer", "leaf.pem"])
            #expect(run.status == 2 && run.errors.contains("nobody signs"), "\(run.errors)")
        }
    }

    @Test("A pin file says hosts, pins and ends, and that nobody signs it")
    func pinFile() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem")
            let pin = try Pin.publicKey(of: leaf.der)
            let end = SystemWallClock().now.addingTimeInterval(30.5 * 86_400)
            let file = try PinFile(
                app: "com.example.bank", notAfter: end,
                hosts: [
                    PinFile.Host(HostPattern("www.example.com"), ports: [443], pins: [.init(pin)]),
                    .retired(HostPattern("old.example.com")),
                ])
            try site.write("bank.pins.json", String(decoding: file.json, as: UTF8.self))
            let items = try await Self.items(site, ["bank.pins.json"])
            #expect(items.map(\.kind) == ["pin file"] && items[0].signature?.state == "unsigned")
            #expect(items[0].values("until").first?.hasSuffix(", 30 days left") == true)
            #expect(items[0].values("host").count == 2 && items[0].values("host")[1].contains("retired"))
            #expect(items[0].values("host")[0].contains("NO BACKUP"))
            #expect(items[0].values("pin") == ["\(pin), leaf, active"])
            let wrong = try await site.run(["show", "bank.pins.json", "--public-key", site.publicKey])
            #expect(wrong.status == 2 && wrong.errors.contains("--public-key does not apply"))
            try site.write("broken.json", "{\"schema\":1,\"hosts\":[{\"host\":\"a b\"}]}")
            let broken = try await site.run(["show", "broken.json"])
            #expect(broken.status == 1 && broken.errors.contains("hosts[0]"), "\(broken.errors)")
        }
    }

    @Test("A list, an entry of it and an answer to a challenge are verified with the key, and unverified without")
    func lists() async throws {
        try await SigningSite.with { site in
            try site.list([("www.example.com", "a", 30.5), ("api.example.com", "b", -1.5)])
            let key = ["--public-key", site.publicKey]
            let other = ["--public-key", try SigningKey().publicKey.base64]
            let unverified = try await Self.items(site, ["pins.json"])
            #expect(unverified[0].signature?.state == "unverified" && unverified[0].kind == "signed list")
            #expect(unverified[0].entries?.map(\.daysLeft) == [-2, 30])
            #expect(try await Self.items(site, ["pins.json"] + key)[0].signature?.state == "verified")
            let invalid = try await Self.items(site, ["pins.json"] + other, status: 1)
            #expect(invalid[0].signature?.state == "invalid" && invalid[0].entries?.count == 2)

            let object = try JSONSerialization.jsonObject(with: Data(try site.text("pins.json").utf8))
            let entry = try #require(((object as? [String: Any])?["fingerprints"] as? [Any])?.first)
            try site.write(
                "entry.json", String(decoding: try JSONSerialization.data(withJSONObject: entry), as: UTF8.self))
            let one = try await Self.items(site, ["entry.json"] + key)
            #expect(one[0].kind == "entry of a list" && one[0].signature?.state == "verified")

            let challenge = Data(repeating: 7, count: 16).base64EncodedString()
            let answer = try ChallengeSigner(key: site.key).answer(
                to: challenge, entries: try site.entries(), at: SystemWallClock().now)
            try site.write("answer.json", String(decoding: answer.body, as: UTF8.self))
            let asked = ["--challenge", challenge, "--signature", answer.signature]
            #expect(try await Self.items(site, ["answer.json"] + key)[0].signature?.state == "unverified")
            let signed = try await Self.items(site, ["answer.json"] + key + asked)
            #expect(signed[0].signature?.state == "verified" && signed[0].values("made").count == 1)
            let forged = try await Self.items(site, ["answer.json"] + other + asked, status: 1)
            #expect(forged[0].signature?.state == "invalid")
        }
    }

    @Test("A trust server's document is verified with the certificate that clients have")
    func trustServer() async throws {
        try await TrustServerSite.with { site in
            try site.emptyDocument(at: site.second).write(to: site.file("acme.json.signed"))
            try site.write("other.crt", TestCertificate.pem(site.leaf.der))
            func item(_ arguments: [String], status: Int32) async throws -> Report.Item {
                let run = try await CommandRun.inProcess(
                    ["show", "acme.json.signed", "--json"] + arguments, in: site.folder)
                #expect(run.status == status, "\(run.errors)")
                return try #require(try run.json(Report.self).items.first)
            }
            let unverified = try await item([], status: 0)
            #expect(unverified.kind == "trust-server document" && unverified.signature?.state == "unverified")
            #expect(unverified.values("customer") == ["acme"])
            try site.certificate.write(to: site.file("signer.crt"))
            #expect(try await item(["--signer", "signer.crt"], status: 0).signature?.state == "verified")
            #expect(try await item(["--signer", "other.crt"], status: 1).signature?.state == "invalid")
        }
    }

    @Test("Certificates, requests, keys and revocation lists are shown with who signed them, in PEM and DER")
    func certificates() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem")
            let chain = try await Self.items(site, ["leaf.pem"])
            #expect(chain.map { $0.signature?.state } == ["verified", "unverified"])
            #expect(chain.first?.certificate?.keyPin == (try Pin.publicKey(of: leaf.der)).description)
            let rooted = try await Self.items(site, ["leaf.pem", "--signer", "root.pem"])
            #expect(rooted.map { $0.signature?.state } == ["verified", "verified"])
            #expect(try await Self.items(site, ["root.pem"]).map { $0.signature?.text } == ["by itself"])
            let twin = try TestAuthority.root()
            try site.write("twin.pem", twin.certificate.pem)
            let forged = try await Self.items(site, ["leaf.pem", "--signer", "twin.pem"], status: 1)
            #expect(forged.last?.signature?.state == "invalid")
            try Data(leaf.der).write(to: site.folder.appending(path: "leaf.der"))
            #expect(try await Self.items(site, ["leaf.der"]).first?.signature?.state == "unverified")

            let list = try site.issuing.revocationList { $0.serialNumbers = [[1, 2, 3]] }
            try Data(list).write(to: site.folder.appending(path: "issuing.crl"))
            let shown = try await Self.items(site, ["issuing.crl", "--signer", "leaf.pem"])
            #expect(shown[0].kind == "revocation list" && shown[0].values("revokes") == ["1 certificate"])
            #expect(shown[0].signature?.state == "verified")

            let pin = try SubjectPublicKeyInfo(
                der: [UInt8](P256.Signing.PublicKey(x963Representation: site.key.publicKey.x963).derRepresentation)
            ).sha256Pin.description
            let key = try await Self.items(site, ["key.pem"])
            #expect(key.map(\.kind) == ["private key"] && key[0].values("key pin") == [pin])
            try site.write("signer.pub", site.publicKey)
            let text = try await Self.items(site, ["signer.pub"])
            #expect(text.map(\.kind) == ["public key of a signer"] && text[0].values("key pin") == [pin])
            try site.write("locked.pem", try site.key.pem(password: Array("secret".utf8), rounds: 100), mode: 0o600)
            let locked = try await Self.items(site, ["locked.pem"])
            #expect(locked.map(\.kind) == ["encrypted private key"])
        }
    }

    @Test("A request is verified with its own key", .needs(.openSSL))
    func request() async throws {
        try await SigningSite.with { site in
            let made = try await CommandRun.shell(
                "openssl req -new -key key.pem -subj /CN=www.example.com -out new.csr 2>/dev/null", in: site.folder)
            #expect(made.status == 0)
            let items = try await Self.items(site, ["new.csr"])
            #expect(items.map(\.kind) == ["certificate request"] && items[0].signature?.state == "verified")
            #expect(items[0].values("subject") == ["CN=www.example.com"])
        }
    }

    @Test("What is none of these is an error, and what other programs write is told how to be converted")
    func unknown() async throws {
        try await SigningSite.with { site in
            for (content, hint) in [
                ("hello there", "one of Holdfast's documents"), ("", "is empty"), ("{", "pin file"),
                ("ssh-ed25519 AAAA me@example", "ssh-keygen"),
            ] {
                try site.write("it", content)
                let run = try await site.run(["show", "it"])
                #expect(
                    [1, 3].contains(run.status) && run.output.isEmpty && run.errors.contains(hint), "\(run.errors)")
            }
            let missing = try await site.run(["show", "missing.pem"])
            #expect(missing.status == 3 && missing.errors.contains("missing.pem"))
        }
    }

    @Test("Metadata says its role, version, end and signers, and verifies under the root that clients trust")
    func metadata() async throws {
        try await SigningSite.with { site in
            let leaf = try Pin.publicKey(of: site.leaf("leaf.pem").der)
            let pins = try PinFile(hosts: [PinFile.Host(HostPattern("www.example.com"), pins: [.init(leaf)])]).json
            let now = SystemWallClock().now
            let repository = try MetadataSite(pins: pins, expires: now.addingTimeInterval(30.5 * 86_400))
            func write(_ name: String, _ data: Data) throws {
                try data.write(to: site.folder.appending(path: name))
            }
            for role in ["root", "timestamp", "snapshot", "targets"] {
                try write("\(role).json", try repository.file(role))
            }
            try write("forged.json", try repository.file("targets", signedBy: "timestamp"))
            let other = try MetadataSite(pins: pins, expires: now.addingTimeInterval(86_400))
            try write("other.json", try other.file("root"))
            try write("unsigned.json", try repository.file("root", signedBy: "targets"))

            let root = try await Self.items(site, ["root.json"])[0]
            #expect(root.kind == "root, metadata of The Update Framework" && root.signature?.state == "verified")
            #expect(root.signature?.text.contains("its own keys") == true && root.values("role").count == 4)
            #expect(try await Self.items(site, ["unsigned.json"], status: 1)[0].signature?.state == "invalid")
            for role in ["root", "timestamp", "snapshot", "targets"] {
                let file = ["\(role).json"]
                let verified = try await Self.items(site, file + ["--root", "root.json"])[0]
                #expect(verified.signature?.state == "verified" && verified.kind.hasPrefix(role), "\(role)")
                #expect(verified.values("version") == ["1"] && verified.values("signed by") == ["key \"\(role)-key\""])
                #expect(verified.values("until").first?.hasSuffix(", 30 days left") == true)
                let foreign = try await Self.items(site, file + ["--root", "other.json"], status: 1)
                #expect(foreign[0].signature?.state == "invalid", "\(role)")
                guard role != "root" else { continue }
                let alone = try await Self.items(site, file)[0].signature
                #expect(alone?.state == "unverified" && alone?.text.contains("--root") == true)
            }
            #expect(try await Self.items(site, ["targets.json"])[0].values("target") == ["\"pins.json\""])
            let forged = try await Self.items(site, ["forged.json", "--root", "root.json"], status: 1)
            #expect(forged[0].signature?.state == "invalid")
            let useless = try await site.run(["show", "leaf.pem", "--root", "root.json"])
            #expect(useless.status == 2 && useless.errors.contains("--root does not apply"))
            let noRoot = try await site.run(["show", "targets.json", "--root", "targets.json"])
            #expect(noRoot.status == 1 && noRoot.output.isEmpty, "\(noRoot.errors)")
        }
    }

    @Test("A bundle says what is in it, file for file, and whether the trusted root proves its pin file")
    func bundle() async throws {
        try await SigningSite.with { site in
            let leaf = try Pin.publicKey(of: site.leaf("leaf.pem").der)
            let pins = try PinFile(hosts: [PinFile.Host(HostPattern("www.example.com"), pins: [.init(leaf)])]).json
            let now = SystemWallClock().now
            let first = try MetadataSite(pins: pins, expires: now.addingTimeInterval(30.5 * 86_400))
            let second = first.with(version: 2, expires: now.addingTimeInterval(10.5 * 86_400))
            func write(_ name: String, _ data: Data) throws {
                try data.write(to: site.folder.appending(path: name))
            }
            try write("1.root.json", try first.file("root"))
            try write("bundle.json", try second.bundle())
            try write("tampered.json", try second.bundle(pins: pins + Data(" ".utf8)))
            try write("late.json", try first.with(version: 2, expires: now.addingTimeInterval(-60)).bundle())
            try write("broken.json", Data("{\"schema\":1,\"firstRoot\":2,\"roots\":[\"%\"]}".utf8))

            let alone = try await Self.items(site, ["bundle.json"])
            #expect(
                alone.map(\.kind) == ["bundle of a repository of pins"]
                    + ["root", "timestamp", "snapshot", "targets"].map { "\($0), metadata of The Update Framework" }
                    + ["pin file"])
            #expect(alone[0].signature?.state == "unverified" && alone[0].values("roots") == ["versions 2 to 2"])
            let proved = try await Self.items(site, ["bundle.json", "--root", "1.root.json"])
            #expect(proved[0].signature?.state == "verified", "\(proved[0].signature?.text ?? "")")
            for (file, reason) in [("tampered.json", "mismatch"), ("late.json", "expired")] {
                let refused = try await Self.items(site, [file, "--root", "1.root.json"], status: 1)[0].signature
                #expect(refused?.state == "invalid" && refused?.text.contains(reason) == true, "\(refused?.text ?? "")")
            }
            let broken = try await site.run(["show", "broken.json"])
            #expect(broken.status == 1 && broken.output.isEmpty && broken.errors.contains("bundle"), "\(broken.errors)")
        }
    }

    @Test("A document comes from a URL as from a file")
    func url() async throws {
        try await SigningSite.with { site in
            try site.list([("www.example.com", "a", 30.5)])
            let leaf = try site.leaf("leaf.pem", [.address([127, 0, 0, 1])])
            let body = try site.text("pins.json")
            try await withLoopbackTLSServer(serving: leaf, options: .init(behavior: .http(body: body))) { server in
                let run = try await site.run([
                    "show", "https://127.0.0.1:\(server.port)/pins.json", "--ca", "root.pem", "--public-key",
                    site.publicKey,
                    "--timeout", "60s",
                ])
                #expect(run.status == 0 && run.output.contains("verified"), "\(run.errors)")
            }
        }
    }
}
