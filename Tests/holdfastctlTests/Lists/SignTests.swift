import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl sign", .timeLimit(.minutes(15)))
struct SignTests {
    private struct Report: Decodable {
        struct Signed: Decodable {
            let change: String
            let name: String
            let fingerprint: String
            let expires: Int64
        }
        struct Removed: Decodable {
            let name: String
        }
        let list: String
        let created: Bool
        let signed: [Signed]
        let removed: [Removed]
        let entries: Int
        let namesWithoutBackup: [String]
    }

    @Test("With --depth an issuer is signed for, and its place is written beside the entry")
    func depth() async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            for depth in [1, 2] {
                let run = try await site.sign([
                    "leaf.pem", "--depth", "\(depth)", "--list", "pins.json", "--replace", "--force", "unreachable",
                ])
                #expect(run.status == 0, "\(run.errors)")
                let entry = try #require(try site.entries().first)
                let issuer = depth == 1 ? site.issuing.certificate : site.root.certificate
                #expect(entry.depth == depth && entry.pin == Pin.certificate(issuer.der))
                #expect(try site.text("pins.json").contains("\"depth\":\(depth)"))
            }
            let none = try await site.sign(["leaf.pem", "--depth", "3", "--list", "pins.json"])
            #expect(none.status == 1 && none.errors.contains("no certificate stands 3 above it"))
        }
    }

    @Test(
        "A server with an ECDSA and an RSA certificate has both signed, and clients with either get in",
        .needs(.openSSL))
    func bothKinds() async throws {
        try await SigningSite.with { site in
            let names: [TestGeneralName] = [.dns(SigningSite.name)]
            let rsa = try site.root.leaf(names: names, key: .sharedRSA(bits: 2048, index: 0))
            let ecdsa = try site.root.leaf(names: names)
            try site.write("rsa.pem", rsa.pem)
            try site.write("rsa.key", rsa.key.privateKeyPEM)
            let server = try await OpenSSLServer.start(
                serving: ecdsa,
                arguments: [
                    "-dcert", site.folder.appending(path: "rsa.pem").path, "-dkey",
                    site.folder.appending(path: "rsa.key").path,
                ])
            let place = ["--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s"]
            let builds = ["--no-shipped-pins"]
            let run = try await site.sign([SigningSite.name, "--list", "pins.json"] + place + builds)
            #expect(run.status == 0 && run.lines.filter { $0.hasPrefix("added") }.count == 2, "\(run.errors)")
            let pins = Set([ecdsa, rsa].map { Pin.certificate($0.der) })
            #expect(try Set(site.entries().map(\.pin)) == pins)
            let check = try await site.run(
                [
                    "check", "--list", "pins.json", "--public-key", site.publicKey, "--no-shipped-pins", "--ca",
                    "root.pem",
                    "--brief",
                ]
                    + place)
            #expect(check.status == 0 && check.lines.count == 2, "\(check.output)\(check.errors)")
            // Their issuer is one, and one entry.
            let issuer = try await site.sign(
                [SigningSite.name, "--depth", "1", "--list", "issuer.json"] + place + builds)
            #expect(try issuer.status == 0 && site.entries(of: "issuer.json").count == 1, "\(issuer.errors)")
            await server.stop()
        }
    }

    @Test("A certificate file is signed for its name until it ends; without --list the list is printed")
    func file() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem")
            let run = try await site.sign(["leaf.pem"])
            #expect(run.status == 0)
            let entries = try FingerprintList(verifying: Data(run.output.utf8), with: site.key.publicKey).entries
            #expect(entries.map(\.name) == [SigningSite.name] && entries.map(\.pin) == [Pin.certificate(leaf.der)])
            let end = try X509Certificate(der: leaf.der).notAfter
            #expect(entries.first?.expiryDate == end)
            try Data(leaf.der).write(to: site.folder.appending(path: "leaf.der"))
            let der = try await site.sign(["leaf.der", "--allow-untrusted", "--list", "pins.json"])
            #expect(der.status == 0 && der.errors.contains("does not validate (unknownIssuer)"))
            #expect(try site.entries() == entries)
        }
    }

    @Test("A list that a link leads to is made where the link leads, and nobody else may write to it")
    func danglingLink() async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            let link = site.folder.appending(path: "pins.json").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "web.json")
            for _ in 0..<2 {
                let run = try await site.sign(["leaf.pem", "--list", "pins.json"])
                #expect(run.status == 0, "\(run.errors)")
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "web.json")
                #expect(try site.entries(of: "web.json").count == 1)
                #expect(try site.mode("web.json") == 0o644)
            }
            try FileManager.default.createSymbolicLink(
                atPath: site.folder.appending(path: "loop.json").path, withDestinationPath: "loop.json")
            let circle = try await site.sign(["leaf.pem", "--list", "loop.json"])
            #expect(circle.status == 3 && circle.errors.contains("circle"))
        }
    }

    @Test("A link goes up from the folder in which it really stands")
    func linkInLinkedFolder() async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            let manager = FileManager.default
            for folder in ["releases/5", "releases/shared", "shared"] {
                try manager.createDirectory(
                    at: site.folder.appending(path: folder), withIntermediateDirectories: true)
            }
            for (link, target) in [("current", "releases/5"), ("releases/5/pins.json", "../shared/pins.json")] {
                try manager.createSymbolicLink(
                    atPath: site.folder.appending(path: link).path, withDestinationPath: target)
            }
            for _ in 0..<2 {
                let run = try await site.sign(["leaf.pem", "--list", "current/pins.json"])
                #expect(run.status == 0, "\(run.errors)")
                #expect(try site.entries(of: "releases/shared/pins.json").count == 1)
            }
            #expect(try manager.contentsOfDirectory(atPath: site.folder.appending(path: "shared").path).isEmpty)
        }
    }

    @Test("A list that is replaced stays its owner's and its group's", .needs(.root))
    func ownerOfList() async throws {
        try await SigningSite.with { site in
            try site.list([("api.example.com", "a", 30)])
            let file = site.folder.appending(path: "pins.json").path
            try FileManager.default.setAttributes(
                [.ownerAccountID: 65_534, .groupOwnerAccountID: 65_533, .posixPermissions: 0o640], ofItemAtPath: file)
            try site.leaf("leaf.pem")
            let run = try await site.sign(["leaf.pem", "--list", "pins.json"])
            #expect(run.status == 0, "\(run.errors)")
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect((attributes[.ownerAccountID] as? NSNumber)?.intValue == 65_534)
            #expect((attributes[.groupOwnerAccountID] as? NSNumber)?.intValue == 65_533)
            #expect(try site.entries().count == 2 && site.mode("pins.json") == 0o640)
        }
    }

    @Test(
        "A time that no calendar has is not taken for a later one",
        arguments: [
            "2099-02-30", "2099-13-01", "2099-2-3", "2099-02-30T12:00:00Z", "2099-02-19T25:00:00Z",
            "2099-02-19T12:61:00Z", "2099-02-19T12:00:00", "2099-02-19T", "2099-02-19T12:00:00Zulu",
            "2099-02-19T12:00:00ZX", "2099-02-19T12:00:00.5Z", "2099-02-19T12:00:00+05", "2099-02-19T12:00:00+05:30Z",
            "2099-02-19T12:00:00+99:99",
        ])
    func impossibleTime(_ time: String) {
        #expect(throws: CommandFailure.self) { try TimeArgument.seconds(time) }
    }

    @Test("A time is a date in UTC, or has its own zone")
    func time() throws {
        #expect(try TimeArgument.seconds("2099-02-19") == 4_075_142_400)
        #expect(try TimeArgument.seconds("2099-02-19T12:00:00Z") == 4_075_185_600)
        #expect(try TimeArgument.seconds("2099-02-19T12:00:00+05:30") == 4_075_165_800)
        #expect(try TimeArgument.seconds("2099-02-19T12:00:00-05:00") == 4_075_203_600)
    }

    @Test("A host that is named with a fingerprint goes into the list as clients look it up")
    func namesOfFingerprints() async throws {
        try await SigningSite.with { site in
            let names = [
                "b\u{FC}cher.example", "*.b\u{FC}cher.example", "api.example.com.", "WWW.Example.com", "My CA",
            ]
            let run = try await site.run(
                ["sign", "--key", "key.pem", "--fingerprint", SigningSite.hex(0xAB)]
                    + ["--expires", "2099-02-19", "--list", "pins.json", "--force", "offline"]
                    + names.flatMap { ["--name", $0] })
            #expect(run.status == 0, "\(run.errors)")
            let listed = Set(try site.entries().map(\.name))
            #expect(
                listed == [
                    "xn--bcher-kva.example", "*.xn--bcher-kva.example", "api.example.com", "WWW.Example.com", "My CA",
                ])
        }
    }

    @Test("A server's certificate is signed for the host that was dialed")
    func server() async throws {
        let site = try TestSite()
        let key = SigningKey()
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "key.pem")
            #expect(
                FileManager.default.createFile(
                    atPath: file.path, contents: Data(key.pem.utf8), attributes: [.posixPermissions: 0o600]))
            let (run, server) = try await site.run("sign", ["--key", file.path, "--no-shipped-pins"])
            #expect(run.status == 0 && server.plaintextBytesReceived == 0)
            let entries = try FingerprintList(verifying: Data(run.output.utf8), with: key.publicKey).entries
            #expect(entries.map(\.name) == [TestSite.name] && entries.map(\.pin) == [Pin.certificate(site.leaf.der)])

            let middle = try site.issuing.impersonate(site.leaf)
            let stranger = try TestAuthority.root(name: "Stranger").leaf(names: [.dns(TestSite.name)])
            let (untrusted, _) = try await site.run(
                "sign", ["--key", file.path], serving: stranger.chain, key: stranger.key)
            #expect(untrusted.status == 1 && untrusted.output.isEmpty && untrusted.errors.contains("unknownIssuer"))
            let (other, _) = try await site.run(
                "sign", ["--key", file.path, "--allow-untrusted"], host: "www.example.com")
            #expect(other.status == 1 && other.output.isEmpty && other.errors.contains("nameMismatch"))
            // No check can detect an impostor's valid certificate. It is what a backup pin is for.
            let (signed, _) = try await site.run(
                "sign", ["--key", file.path, "--no-shipped-pins"], serving: middle.chain, key: middle.key)
            #expect(signed.status == 0, "\(signed.errors)")
            let (nobody, _) = try await site.run("sign", ["--key", file.path, "nobody.invalid", "--connect-to", "::"])
            #expect(nobody.status == 3 && nobody.output.isEmpty)
        }
    }

    @Test("A fingerprint is taken in hexadecimal with and without colons, in Base64 and as pin prints it")
    func fingerprint() async throws {
        try await SigningSite.with { site in
            let octets = SigningSite.digest(7)
            let pin = try Pin(subject: .certificate, digest: octets)
            let hex = octets.map { String(format: "%02x", $0) }
            for text in [
                hex.joined(), hex.joined().uppercased(), hex.joined(separator: ":"), Data(octets).base64EncodedString(),
                pin.description,
            ] {
                for time in ["4070908800", "2099-01-01", "2099-01-01T00:00:00Z"] {
                    let run = try await site.run([
                        "sign", "--key", "key.pem", "-n", "*.example.com", "-f", text, "-t", time, "--force", "offline",
                    ])
                    #expect(run.status == 0, "\(run.errors)")
                    let list = try FingerprintList(verifying: Data(run.output.utf8), with: site.key.publicKey)
                    #expect(list.entries.map(\.pin) == [pin] && list.entries.map(\.expires) == [4_070_908_800])
                    #expect(list.entries.map(\.name) == ["*.example.com"])
                }
            }
            let past = try await site.run([
                "sign", "--key", "key.pem", "-n", "a", "-f", hex.joined(), "-t", "2020-01-01",
            ])
            #expect(past.status == 1 && past.output.isEmpty && past.errors.contains("2020-01-01T00:00:00Z"))
        }
    }

    @Test("A list grows, stays sorted, has no two entries alike, and what is unchanged keeps its signature")
    func appending() async throws {
        try await SigningSite.with { site in
            try site.leaf("www.pem")
            let next = try site.leaf("next.pem") { $0.notAfter = .days(200) }
            try site.leaf("api.pem", ["api.example.com"])
            let first = try await site.sign(["www.pem", "--list", "pins.json", "--json"])
            let report = try first.json(Report.self)
            #expect(report.created && report.entries == 1 && report.signed.map(\.change) == ["added"])
            #expect(report.namesWithoutBackup == [SigningSite.name])
            #expect(first.errors.contains("warning: \(SigningSite.name) has one fingerprint and no backup"))
            #expect(try site.mode("pins.json") == 0o644)
            let line = try #require(try site.text("pins.json").split(separator: "\n").dropFirst().first)

            let again = try await site.sign(["www.pem", "www.pem", "--list", "pins.json", "--json"])
            #expect(try again.json(Report.self).signed.map(\.change) == ["unchanged"])
            let text = try site.text("pins.json")
            #expect(text.contains(line))

            let more = try await site.sign(["next.pem", "api.pem", "--list", "pins.json"])
            #expect(more.status == 0 && more.lines.first == "pins.json: 3 entries")
            #expect(!more.errors.contains("\(SigningSite.name) has one") && more.errors.contains("api.example.com has"))
            #expect(try site.entries().map(\.name) == ["api.example.com", SigningSite.name, SigningSite.name])
            #expect(try site.entries()[1].pin == Pin.certificate(next.der))
            #expect(try site.text("pins.json").contains(line))
        }
    }

    @Test("An entry for the same name and certificate is replaced; --replace replaces all of the same names only")
    func replacing() async throws {
        try await SigningSite.with { site in
            try site.list([(SigningSite.name, "a", 10), (SigningSite.name, "b", 20), ("api.example.com", "c", 30)])
            let hex = SigningSite.hex(0x61)
            let longer = try await site.run([
                "sign", "--key", "key.pem", "-n", SigningSite.name, "-f", hex, "-t", "4070908800", "--list",
                "pins.json", "--json",
            ])
            #expect(try longer.json(Report.self).signed.map(\.change) == ["replaced"])
            #expect(try site.entries().count == 3 && site.entries()[1].expires == 4_070_908_800)
            let leaf = try site.leaf("www.pem")
            let run = try await site.sign([
                "www.pem", "--list", "pins.json", "--replace", "--force", "unreachable", "--json",
            ])
            let report = try run.json(Report.self)
            #expect(report.removed.map(\.name) == [SigningSite.name, SigningSite.name] && report.entries == 2)
            #expect(try site.entries().map(\.name) == ["api.example.com", SigningSite.name])
            #expect(try site.entries()[1].pin == Pin.certificate(leaf.der))
        }
    }

    @Test("On any error the list stays as it is: one bad certificate of several, another key, a list that is none")
    func errors() async throws {
        try await SigningSite.with { site in
            try site.leaf("good.pem")
            try site.leaf("expired.pem") {
                $0.notBefore = .days(-10)
                $0.notAfter = .days(-1)
            }
            try site.list([("api.example.com", "c", 30)])
            let before = try site.text("pins.json")
            let bad = try await site.sign(["good.pem", "expired.pem", "--list", "pins.json", "--allow-untrusted"])
            #expect(bad.status == 1 && bad.errors.contains("expired.pem: expired") && !bad.errors.contains("good.pem:"))
            try site.write("other.pem", SigningKey().pem, mode: 0o600)
            let other = try await site.run([
                "sign", "good.pem", "--ca", "root.pem", "--key", "other.pem", "--list", "pins.json",
            ])
            #expect(other.status == 1 && other.errors.contains("invalidSignature"))
            let gone = try await site.sign(["good.pem", "missing.pem", "--list", "pins.json"])
            #expect(gone.status == 3)
            #expect(try site.text("pins.json") == before)

            for text in ["", "junk", "{\"fingerprints\":[{}]}", before.replacing("}\n]", with: "},\n]")] {
                try site.write("broken.json", text)
                let run = try await site.sign(["good.pem", "--list", "broken.json"])
                #expect(run.status == 1 && run.errors.contains("broken.json is left as it is"), "\(run.errors)")
                #expect(try site.text("broken.json") == text)
            }
            let unknown = before.replacing("]}", with: "],\"comment\":\"mine\"}")
            try site.write("unknown.json", unknown)
            let run = try await site.sign(["good.pem", "--list", "unknown.json"])
            #expect(run.status == 1 && run.errors.contains("unknownField") && run.errors.contains("comment"))
            #expect(try site.text("unknown.json") == unknown)
            let nowhere = try await site.sign(["good.pem", "--list", "nowhere/pins.json"])
            #expect(nowhere.status == 3)
            let left = try FileManager.default.contentsOfDirectory(atPath: site.folder.path)
            #expect(!left.contains { $0.hasSuffix(".new") })
        }
    }

    @Test("What a list says beside its entries is kept, and so are its mode and the link that leads to it")
    func keeping() async throws {
        try await SigningSite.with { site in
            try site.leaf("good.pem")
            try site.list([("api.example.com", "c", 30)], to: "real.json")
            let domains =
                #""domainsConfig":{"sslPinningRequiredForUnlisted":false,"#
                + #""domains":[{"name":"a.example","sslPinningRequired":true}]}"#
            try site.write("real.json", try site.text("real.json").replacing("]}", with: "],\(domains)}"), mode: 0o664)
            try FileManager.default.createSymbolicLink(
                atPath: site.folder.appending(path: "pins.json").path, withDestinationPath: "real.json")
            let run = try await site.sign(["good.pem", "--list", "pins.json"])
            #expect(run.status == 0)
            #expect(try site.entries(of: "real.json").count == 2)
            #expect(try site.text("real.json").contains(domains))
            #expect(try site.mode("real.json") == 0o664)
            let link = try FileManager.default.destinationOfSymbolicLink(
                atPath: site.folder.appending(path: "pins.json").path)
            #expect(link == "real.json")
        }
    }

    @Test("Commands that change one list at the same time lose nothing")
    func sameTime() async throws {
        try await SigningSite.with { site in
            let numbers = 0..<8
            try await withThrowingTaskGroup(of: Int32.self) { group in
                for number in numbers {
                    group.addTask {
                        try await CommandRun.holdfastctl(
                            [
                                "sign", "--key", "key.pem", "--list", "pins.json", "-n", "host\(number).example.com",
                                "-f", SigningSite.hex(UInt8(number)), "-t", "4070908800", "--force",
                                "offline",
                            ], in: site.folder
                        ).status
                    }
                }
                for try await status in group { #expect(status == 0) }
            }
            #expect(try site.entries().map(\.name) == numbers.map { "host\($0).example.com" })
        }
    }

    @Test("A command that is killed at any moment leaves a list that verifies and has lost nothing")
    func killed() async throws {
        try await SigningSite.with { site in
            try site.list((0..<200).map { ("host\($0).example.com", "a", 30) })
            for round in 0..<30 {
                let digest = String(format: "%064x", round)
                let run = try await CommandRun.shell(
                    """
                    "$HOLDFASTCTL" sign --key key.pem --list pins.json -n new.example.com -f \(digest) -t 4070908800 &
                    sleep 0.\(String(format: "%03d", 10 + round * 4)); kill -9 $! 2>/dev/null; wait $!
                    """, in: site.folder)
                let names = try site.entries().map(\.name)
                #expect(names.count { $0.hasPrefix("host") } == 200)
                // If the command ended well, the entry is there.
                let pins = try site.entries().map { $0.pin.description }
                #expect(run.status != 0 || pins.contains { $0.hasSuffix(digest) })
            }
            // The remains of a killed command block no later one.
            let last = try await site.run(["list", "prune", "pins.json", "--public-key", site.publicKey])
            #expect(last.status == 0)
        }
    }

    @Test("The name is the common name if the certificate is for it, else its only DNS name, else it has to be said")
    func names() async throws {
        try await SigningSite.with { site in
            try site.leaf("common.pem", ["api.example.com", "www.example.com"]) {
                $0.subject = .commonName("WWW.example.com")
            }
            try site.leaf("nameless.pem") { $0.subject = .empty }
            try site.leaf("gateway.pem", ["api.example.com", "www.example.com"]) { $0.subject = .commonName("Gateway") }
            try site.leaf("wild.pem", ["*.example.com"])
            for (arguments, names) in [
                (["common.pem"], ["www.example.com"]), (["nameless.pem"], ["www.example.com"]),
                (["wild.pem"], ["*.example.com"]), (["wild.pem", "-n", "a.example.com"], ["a.example.com"]),
                (
                    ["gateway.pem", "-n", "api.example.com", "-n", "www.example.com"],
                    ["api.example.com", "www.example.com"]
                ),
            ] {
                let run = try await site.sign(arguments)
                #expect(run.status == 0, "\(run.errors)")
                let list = try FingerprintList(verifying: Data(run.output.utf8), with: site.key.publicKey)
                #expect(list.entries.map(\.name) == names)
            }
            let unsaid = try await site.sign(["gateway.pem"])
            #expect(unsaid.status == 2 && unsaid.errors.contains("--name") && unsaid.output.isEmpty)
            let wrong = try await site.sign(["common.pem", "-n", "other.example.com"])
            #expect(wrong.status == 1 && wrong.errors.contains("nameMismatch"))
        }
    }
}
