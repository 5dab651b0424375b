import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// Unintended publications and signatures.
@Suite("holdfastctl repository, mistakes and planted drafts", .timeLimit(.minutes(15)))
struct RepositoryMistakeTests {
    /// A repository with an offline and an online key, in which nothing is published.
    private static func with(_ body: (SigningSite) async throws -> Void) async throws {
        try await SigningSite.with { site in
            for name in ["offline", "online", "thief"] {
                let run = try await site.run(["keygen", "-o", "\(name).pem", "--no-password"])
                #expect(run.status == 0, "\(run.errors)")
                try site.write("\(name).pub", run.output)
            }
            _ = try await run(
                site, "init", "site", "--small", "--offline-key", "offline.pem", "--online-key", "online.pem")
            try await body(site)
        }
    }

    @discardableResult
    private static func run(
        _ site: SigningSite, _ arguments: String..., status: Int32 = 0, at line: SourceLocation = #_sourceLocation
    ) async throws -> CommandRun {
        let run = try await site.run(["repository"] + arguments + SigningSite.offline(arguments.first))
        #expect(run.status == status, "\(run.output)\(run.errors)", sourceLocation: line)
        return run
    }

    private static func host(_ site: SigningSite, _ pattern: String, ports: [Int] = []) throws -> PinFile.Host {
        let certificates = try [site.leaf("a.pem"), site.leaf("b.pem")]
        return try PinFile.Host(
            try HostPattern(pattern), ports: ports,
            pins: [
                try PinFile.KeyPin(Pin.publicKey(of: certificates[0].der)),
                try PinFile.KeyPin(Pin.publicKey(of: certificates[1].der), state: .backup),
            ])
    }

    private static func prepare(_ site: SigningSite, _ file: PinFile) async throws {
        try site.write("bank.pins.json", String(decoding: file.json, as: UTF8.self))
        try await run(site, "pins", "site", "bank.pins.json", "--key", "offline.pem")
    }

    private static let publish = ["repository", "publish", "site", "--key", "online.pem", "--force", "offline"]

    @Test("Whoever can write to the folder gets no signature by the routine of its keyholder")
    func plantedDrafts() async throws {
        try await Self.with { site in
            let www = try Self.host(site, "www.example.com")
            try await Self.prepare(site, PinFile(hosts: [www]))
            #expect(try await site.run(Self.publish).status == 0)
            let key = try await site.run(["keygen", "-o", "online-2.pem", "--no-password"])
            #expect(key.status == 0)
            let drafts = site.folder.appending(path: "site/draft")
            func signatures(_ name: String) throws -> Int {
                let file = try JSONSerialization.jsonObject(with: Data(contentsOf: drafts.appending(path: name)))
                return ((file as? [String: Any])?["signatures"] as? [Any])?.count ?? -1
            }

            // Pins, before the operator replaces the online key.
            let evil = try PinFile(hosts: [www, try Self.host(site, "evil.example.com")])
            try site.write("evil.pins.json", String(decoding: evil.json, as: UTF8.self))
            try await Self.run(site, "pins", "site", "evil.pins.json")
            let rotated = try await Self.run(
                site, "rotate", "site", "--role", "online", "--add", "online-2.pem", "--remove", "online.pem", "--key",
                "offline.pem")
            #expect(rotated.errors.contains("targets was not signed: it contains a draft"), "\(rotated.errors)")
            #expect(try signatures("root.json") == 1 && signatures("targets.json") == 0)
            let refused = try await site.run(Self.publish + ["--key", "online-2.pem"])
            #expect(refused.status == 1 && refused.errors.contains("notSigned of targets"), "\(refused.errors)")
            for name in ["root.json", "targets.json", "pins.json"] {
                try FileManager.default.removeItem(at: drafts.appending(path: name))
            }

            // A root, before the operator prepares pins, or makes root last longer.
            try await Self.run(site, "rotate", "site", "--role", "root", "--add", "thief.pub")
            let pins = try await Self.run(site, "pins", "site", "bank.pins.json", "--key", "offline.pem")
            #expect(pins.errors.contains("root was not signed: it contains a draft"), "\(pins.errors)")
            #expect(try signatures("root.json") == 0 && signatures("targets.json") == 1)
            let longer = try await Self.run(site, "rotate", "site", "--role", "root", "--key", "offline.pem")
            #expect(longer.errors.contains("root was not signed"), "\(longer.errors)")
            #expect(try signatures("root.json") == 0)
            try await Self.run(site, "sign", "site", "--key", "offline.pem")
            #expect(try signatures("root.json") == 1)
            try await Self.run(site, "status", "", status: 2)
            try await Self.run(site, "renew", "", "--key", "online.pem", status: 2)
        }
    }

    @Test("A key that was stolen has to leave every role, and says where it still is")
    func remainingRoles() async throws {
        try await Self.with { site in
            try await Self.prepare(site, PinFile(hosts: [try Self.host(site, "www.example.com")]))
            #expect(try await site.run(Self.publish).status == 0)
            let next = [
                "rotate", "site", "--add", "thief.pub", "--remove", "offline.pem", "--key", "offline.pem", "--key",
                "thief.pem",
            ]
            let root = try await site.run(["repository"] + next + ["--role", "root"])
            #expect(root.status == 0 && root.errors.contains("still signs targets"), "\(root.output)\(root.errors)")
            let both = try await site.run(["repository"] + next + ["--role", "targets"])
            #expect(both.status == 0 && !both.errors.contains("still signs"), "\(both.output)\(both.errors)")
            #expect(try await site.run(Self.publish).status == 0)
        }
    }

    @Test("Hosts that clients connect to now do not leave the pins, retire or lose a port unless --force says dropped")
    func lostHosts() async throws {
        try await Self.with { site in
            let www = try Self.host(site, "www.example.com", ports: [443, 8_443])
            let shops = try Self.host(site, "**.shop.example.com")
            try await Self.prepare(site, PinFile(hosts: [www, shops]))
            #expect(try await site.run(Self.publish).status == 0)
            let mistakes: [(hosts: [PinFile.Host], found: String)] = [
                (
                    [www],
                    "**.shop.example.com: clients connect to it now, and would refuse to: the new pins have no entry"
                ),
                (
                    [shops],
                    "www.example.com: clients connect to it now, and would refuse to: the new pins have no entry"
                ),
                ([www, try Self.host(site, "*.shop.example.com")], "dropped: shop.example.com: "),
                (
                    [www, try .retired(shops.pattern)],
                    "**.shop.example.com: clients connect to it now, and would refuse to: the new pins have it retired"
                ),
                ([www, shops, try .retired(HostPattern("de.shop.example.com"))], "dropped: de.shop.example.com: "),
                ([shops, try Self.host(site, "www.example.com", ports: [443])], "leave out port 8443"),
                ([www, try Self.host(site, "**.shop.example.com", ports: [443])], "for some ports only"),
            ]
            for (hosts, found) in mistakes {
                try await Self.prepare(site, PinFile(hosts: hosts))
                let run = try await site.run(Self.publish)
                #expect(
                    run.status == 1 && run.errors.contains("dropped: ") && run.errors.contains(found), "\(run.errors)")
                #expect(run.errors.contains("nothing was published"))
            }
            // A pattern that covers them as well drops none, nor do new hosts and hosts that were never served.
            let all = try Self.host(site, "**.example.com")
            try await Self.prepare(site, PinFile(hosts: [all, try .retired(HostPattern("old.example.org"))]))
            #expect(try await site.run(Self.publish).status == 0)
            // Retired on purpose.
            let old = try PinFile.Host.retired(HostPattern("old.example.com"))
            try await Self.prepare(site, PinFile(hosts: [all, old]))
            let meant = try await site.run(Self.publish + ["--force", "dropped"])
            #expect(
                meant.status == 0 && meant.output.contains("overridden: dropped: old.example.com: "),
                "\(meant.output)\(meant.errors)")
            // Retired already.
            try await Self.prepare(site, PinFile(hosts: [all, old]))
            #expect(try await site.run(Self.publish).status == 0)
        }
    }

    @Test("Pins that run out before the timestamp does are published only with --force expiry, which says so")
    func expiry() async throws {
        try await Self.with { site in
            let now = SystemWallClock().now
            try await Self.prepare(
                site,
                PinFile(
                    issuedAt: now.addingTimeInterval(-20 * 86_400), notAfter: now.addingTimeInterval(-10 * 86_400),
                    refresh: PinFile.Refresh(after: 21_600, grace: 14 * 86_400),
                    hosts: [Self.host(site, "www.example.com")]))
            let refused = try await site.run(Self.publish)
            #expect(
                refused.status == 1 && refused.errors.contains("tooShort of pins")
                    && refused.errors.contains("override expiry"), "\(refused.errors)")
            let forced = try await site.run(Self.publish + ["--force", "expiry"])
            #expect(forced.status == 0 && forced.output.contains("overridden: expiry: "), "\(forced.errors)")
            let renewed = try await site.run(["repository", "renew", "site", "--key", "online.pem", "--offline"])
            #expect(renewed.status == 4 && renewed.errors.contains("the pin file: ended "), "\(renewed.errors)")
            #expect(renewed.output.hasPrefix("The pins are over, and clients get in by grace until "))
        }
    }

    @Test("A bundle of other versions than the files is named, although clients take either")
    func outOfStep() async throws {
        try await Self.with { site in
            try await Self.prepare(site, PinFile(hosts: [Self.host(site, "www.example.com")]))
            #expect(try await site.run(Self.publish).status == 0)
            let bundle = try site.text("site/public/bundle.json")
            try await Self.prepare(site, PinFile(hosts: [Self.host(site, "www.example.com")]))
            #expect(try await site.run(Self.publish).status == 0)
            try await Self.run(site, "status", "site", status: 3)
            try site.write("site/public/bundle.json", bundle)
            let status = try await Self.run(site, "status", "site", status: 1)
            #expect(
                status.lines.first == "bundle.json is of targets 1, the files are of targets 2: publish again",
                "\(status.output)")
            try await Self.run(site, "renew", "site", "--key", "online.pem")
            try await Self.run(site, "status", "site", status: 3)
        }
    }

    @Test("Whatever the umask, a web server of another user may enter the folders that are served")
    func folders() async throws {
        try await Self.with { site in
            try await Self.prepare(site, PinFile(hosts: [Self.host(site, "www.example.com")]))
            let made = site.folder.appending(path: "site/public")
            #expect(!FileManager.default.fileExists(atPath: made.path))
            let shell = try await CommandRun.shell(
                "umask 077; exec \"$HOLDFASTCTL\" \(Self.publish.joined(separator: " "))", in: site.folder)
            #expect(shell.status == 0, "\(shell.errors)")
            for folder in ["site/public", "site/public/metadata", "site/public/targets"] {
                #expect(try site.mode(folder) == 0o755, "\(folder)")
            }
        }
    }

    @Test("A folder that begins with another root than the app's is neither signed, rotated nor published")
    func otherRoot() async throws {
        try await Self.with { site in
            let pins = try PinFile(hosts: [Self.host(site, "www.example.com")])
            try await Self.prepare(site, pins)
            let root = ["--app-root", "app.json"]
            try site.write("app.json", try site.text("site/draft/root.json"))
            let early = try await site.run(["repository", "sign", "site"] + root)
            #expect(early.status == 1 && early.errors.contains("nothing published"), "\(early.errors)")
            #expect(try await site.run(Self.publish).status == 0)
            try site.write("app.json", try site.text("site/public/metadata/1.root.json"))
            try await Self.prepare(site, pins)
            // Another repository of the same pins and keys, as an attacker makes it.
            try await Self.run(
                site, "init", "other", "--root-key", "offline.pem", "--targets-key", "offline.pem", "--online-key",
                "thief.pem")
            try await Self.run(site, "pins", "other", "bank.pins.json", "--key", "offline.pem")
            let thief = ["repository", "publish", "other", "--key", "thief.pem", "--force", "offline"]
            #expect(try await site.run(thief).status == 0)
            try await Self.run(site, "pins", "other", "bank.pins.json")
            for verb in [
                ["sign", "--key", "offline.pem"], ["rotate", "--role", "root"], ["publish", "--key", "online.pem"],
            ] {
                let refused = try await site.run(["repository", verb[0], "other"] + verb.dropFirst() + root)
                #expect(
                    refused.status == 1 && refused.errors.contains("other is not the repository of app.json"),
                    "\(verb) \(refused.errors)")
            }
            let signed = try await site.run(
                ["repository", "sign", "site", "--key", "offline.pem", "--force", "offline"] + root)
            #expect(
                signed.status == 0 && signed.output.contains("first root, SHA-256 "), "\(signed.output)\(signed.errors)"
            )
            #expect(try await site.run(Self.publish + root).status == 0)
        }
    }

    @Test("A draft root in which somebody put a key of theirs behind a published id is not signed, shown or rotated")
    func swappedKey() async throws {
        try await Self.with { site in
            try await Self.prepare(site, PinFile(hosts: [Self.host(site, "www.example.com")]))
            #expect(try await site.run(Self.publish).status == 0)
            try await Self.run(site, "rotate", "site", "--role", "root")
            typealias Members = [String: Any]
            var draft = try #require(
                JSONSerialization.jsonObject(with: Data(site.text("site/draft/root.json").utf8)) as? Members)
            var signed = try #require(draft["signed"] as? Members)
            let roles = try #require(signed["roles"] as? [String: Members])
            let id = try #require((roles["root"]?["keyids"] as? [String])?.first)
            var keys = try #require(signed["keys"] as? [String: Members])
            let thief = try TestKey(.p256).publicKeyPEM
            #expect(keys[id]?["keyval"] != nil)
            keys[id]?["keyval"] = ["public": thief]
            signed["keys"] = keys
            draft["signed"] = signed
            try site.write(
                "site/draft/root.json",
                String(decoding: try JSONSerialization.data(withJSONObject: draft), as: UTF8.self))
            for verb in [
                ["sign", "site", "--key", "offline.pem"], ["sign", "site"], ["rotate", "site", "--role", "root"],
            ] {
                let refused = try await site.run(["repository"] + verb)
                #expect(
                    refused.status == 1 && refused.errors.contains("another under its id"), "\(verb) \(refused.errors)")
                #expect(!refused.output.contains("the keys stay as they are"))
            }
        }
    }
}
